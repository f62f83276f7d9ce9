/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that come, read, count regions of code and go, as two users, for as long as they live. */
#pragma once

#include <stdint.h>

#include "tests/system/daemon-process.h"

enum { CROWD_CLIENTS = 6 };

/* What all clients have seen since crowd_init(). */
struct crowd_tally {
	uint64_t connections, reads, regions;
	uint64_t refused; /* EACCES, EDQUOT: the policy of the moment */
	uint64_t gone;    /* the daemon went away, or its page was withdrawn */
	uint64_t late;    /* ETIMEDOUT */
	uint64_t wrong;   /* a value went back, another generation, an error that should not be */
};

struct crowd {
	const struct daemon_process *daemon;
	struct crowd_tally *tally; /* shared with the clients */
	pid_t pids[CROWD_CLIENTS];
};

void crowd_init(struct crowd *crowd, const struct daemon_process *daemon);

void crowd_start(struct crowd *crowd);
void crowd_stop(struct crowd *crowd);

/* The first thing that was wrong, in words. */
const char *crowd_complaint(void);
