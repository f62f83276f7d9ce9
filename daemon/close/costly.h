/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an account's closes cost the thread that makes them. What they take beyond the usual adds
 * up, and cheaper ones make up for it. From 5 ms on they are costly, for a minute.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct costly {
	uint64_t ns, until_ns;
};

/* They are costly from now on. */
void costly_beware(struct costly *costly);

/* Shuts down and closes *@fd, a connection, and sets it to -1, if they are not costly and it takes
 * no longer than is usual. False: it is still open. */
bool costly_close(struct costly *costly, int *fd);

/* Shuts @fd down. Where they are costly, a client sees the end when its connection is closed. */
void costly_show_end(struct costly *costly, int fd);
