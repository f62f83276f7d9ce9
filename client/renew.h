/* SPDX-License-Identifier: BSD-3-Clause */
/* When a reader opens its connection anew: the one condition, for regions and for `uncore stat`. */
#pragma once

#include <errno.h>
#include <stdbool.h>

/*
 * Is there perhaps a new daemon (-ENOTCONN: the old one is gone), or a new page (-EACCES: the old
 * one was withdrawn)? Where the generation is the same afterwards, no count was lost.
 */
static inline bool renew_may_help(int error)
{
	return error == -ENOTCONN || error == -EACCES;
}
