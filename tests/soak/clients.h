/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that come, read, count regions of code and go, as two users, for as long as they live. */
#pragma once

#include <stdint.h>

#include "tests/harness/daemon-process.h"

enum { N_CLIENTS = 6 };

/* Results of all clients since clients_init(). */
struct clients_tally {
	uint64_t connections, reads, regions;
	uint64_t refused; /* EACCES, EDQUOT: the policy of the moment */
	uint64_t gone;    /* the daemon went away, or its page was withdrawn */
	uint64_t late;    /* ETIMEDOUT */
	uint64_t wrong;   /* a value went back, another generation, an error that should not be */
};

struct clients {
	const struct daemon_process *daemon;
	struct clients_tally *tally; /* shared with the clients */
	pid_t pids[N_CLIENTS];
};

void clients_init(struct clients *clients, const struct daemon_process *daemon);

void clients_start(struct clients *clients);
void clients_stop(struct clients *clients);

/* The first wrong result, in words. */
const char *clients_complaint(void);
