/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of pmcd and of uncored, with one context for everything: the compared fetches differ
 * only in the agent that answers.
 */
#pragma once

#include <pcp/pmapi.h>

#include "client/libuncore/uncore.h"

enum kind {
	FRESH,         /* no PCP: uncore_read_all() of this process */
	FRESH_AGAIN,   /* ... right after another, so that uncored has no time to go to sleep */
	FLOOR_PIPE,    /* an agent that reads nothing, as a daemon */
	FLOOR_DSO,     /* ... in pmcd */
	OURS_PIPE,     /* all per-socket counters of pmdauncore */
	OURS_DSO,      /* ... in pmcd */
	PERFEVENT,     /* the same counts by pmdaperfevent: every counter of every box and socket */
	PERFEVENT_ONE, /* ... one metric of pmdaperfevent, for which it also reads all counters */
	KINDS,
};

/* The domains of the agents in pmcd.conf. */
enum {
	DOMAIN_PERFEVENT = 127,
	DOMAIN_OURS_PIPE = 470,
	DOMAIN_OURS_DSO = 471,
	DOMAIN_FLOOR_PIPE = 472,
	DOMAIN_FLOOR_DSO = 473,
};

/* The machine: standin-wide, of which pmdaperfevent opens every event on every socket. */
enum { BOXES = 48, EVENTS = 3, SOCKETS = 2, COUNTERS = BOXES * EVENTS * SOCKETS };

struct request {
	unsigned n_metrics;
	unsigned n_values; /* that the answer has, of all metrics */
	pmID metrics[BOXES * EVENTS];
};

struct client {
	struct uncore *uncore;
	struct request requests[KINDS];
};

/*
 * Connects, waiting for a pmcd that is being started. Checks that each kind answers with the right
 * number of values, and that pmdauncore makes a sweep for each fetch. These functions end the
 * process if something fails.
 */
void client_open(struct client *client, const char *uncored_socket);
void client_close(struct client *client);

/* How long one read or fetch of this kind takes. */
double client_time_us(const struct client *client, enum kind kind);
