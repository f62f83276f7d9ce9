/* SPDX-License-Identifier: BSD-3-Clause */
/* The condition on which regions and `uncore stat` open their connection anew. */
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
