/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instance domains. Sockets and channels are those of the last connection: they stay while
 * uncored is away. The CPUs of the perfevent names never change once they are known (perfevent.h).
 * Jobs come and go (jobs.h).
 *
 * Instance numbers mean the same on every run, so that archives can be merged: a socket's is its
 * logical number, a channel's is made of its socket, tier and the number in its name.
 */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include "pmda/view.h"

enum { SOCKETS_INDOM, CHANNELS_INDOM, CPUS_INDOM, JOBS_INDOM, N_INDOMS };

extern pmdaIndom instances_indoms[N_INDOMS];

enum direction { DIRECTION_READ, DIRECTION_WRITE, N_DIRECTIONS };

/* One memory channel: an instance, and which of uncored's channels hold its counts. */
struct channel {
	int id;
	char name[96];               /* "socket0/imc3" */
	char label[UNCORE_NAME_MAX]; /* "imc3" */
	const char *tier;            /* "dram" */
	unsigned socket;
	int counts[N_DIRECTIONS]; /* indices of view.channels; -1: it has no such counter */
};

/* Makes the instances of a new connection. */
void instances_make(const struct view *view);

/* The channel of instance @id; NULL: there is none. */
const struct channel *instances_channel(unsigned id);

/* The kernel's number of a socket's package. */
unsigned instances_package(unsigned socket);
