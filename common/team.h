/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What client and daemon must agree on about tables of teams. A team is the processes of one uid on
 * one node that belong to one job step. They share a table: a memfd that uncored makes, seals
 * against any change of its size, keeps and hands out, and never reads as data.
 *
 * A member of the team is alive while it holds a classic record lock (fcntl(2), F_SETLK, F_WRLCK)
 * on one byte of the table: the byte at the offset of its slot's number. uncored asks the kernel
 * which locks there are, and takes none itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	TEAM_NAME_BYTES = 120,      /* with the final NUL */
	TEAM_SLOTS_MAX = 1024,      /* members of a team; their locks are on bytes 0 to 1023 */
	TEAM_BYTES_MAX = 192 << 20, /* of a table */
	/* The last member gives the memory of a table that it has reported back, all but so many
	 * bytes, in whole pages, and perhaps another page. */
	TEAM_REPORTED_BYTES = 8192,
};

#define TEAM_OWN UINT32_MAX /* as a uid: the client's own */

/* Does @name hold 1 to 119 printable ASCII characters other than space and ":", and a NUL? */
static inline bool team_name_is_valid(const char name[TEAM_NAME_BYTES])
{
	size_t length = strnlen(name, TEAM_NAME_BYTES);

	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == ':')
			return false;
	return length && length < TEAM_NAME_BYTES;
}
