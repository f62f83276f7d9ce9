/* SPDX-License-Identifier: BSD-3-Clause */
/* When regions, `uncore stat` and `uncore validate` renew their connection, within which time. */
#pragma once

#include <errno.h>
#include <stdbool.h>

/*
 * Without a connection their figures are lost. uncored may have just been started on a busy
 * machine, where many ranks connect at once; see team_join().
 */
#define RENEW_WITHIN_NS 10000000000U

/*
 * May a new connection help? The daemon may have been restarted (-ENOTCONN: the old one is gone),
 * or the page replaced (-EACCES: the old one was withdrawn). If the generation is the same
 * afterwards, no count was lost.
 */
static inline bool renew_may_help(int error)
{
	return error == -ENOTCONN || error == -EACCES;
}
