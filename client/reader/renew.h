/* SPDX-License-Identifier: BSD-3-Clause */
/* When regions, `uncore stat` and `uncore validate` open their connection anew, and how long they
 * wait. */
#pragma once

#include <errno.h>
#include <stdbool.h>

/*
 * Their figures are lost if there is no connection, and uncored may have just been started on a
 * busy machine, where many ranks come at once; see team_join().
 */
#define RENEW_WITHIN_NS 10000000000U

/*
 * Is there perhaps a new daemon (-ENOTCONN: the old one is gone), or a new page (-EACCES: the old
 * one was withdrawn)? Where the generation is the same afterwards, no count was lost.
 */
static inline bool renew_may_help(int error)
{
	return error == -ENOTCONN || error == -EACCES;
}
