/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of `./dev bench`. All come from one machine tree, standin-wide. */
#pragma once

#include "tests/bench/frame.h"

struct latency_figures {
	double serial_us;    /* one privileged process reads all groups of both sockets */
	double local_us;     /* ... the groups of the socket that the process runs on */
	double fresh_all_us; /* one unprivileged client, both sockets */
	double fresh_own_us; /* ... the socket that the client runs on, from the reader's own CPU */
	double fresh_beside_us; /* ... one socket, from another CPU than its reader's */
};

/* What is measured with each method: [sweep] of uncored.conf. */
struct method_figures {
	struct latency_figures paused, without_pause;
	double cached_ns;
	double ready_ms;
	double hwm_kib, hwm_worst_kib; /* VmHWM at READY, median and worst of all starts */
	double default_budget_us; /* mean of fresh_all without pause, in the budget as shipped */
};

/* Against a running daemon. */
void measure_latency(const struct daemon_process *daemon, struct method_figures *ret);

/* Against a running daemon; these add their figures. */
void measure_batches(const struct daemon_process *daemon);
void measure_footprint(const struct daemon_process *daemon);

/* These start daemons of their own, with @config. */
void measure_default_budget(const char *config, struct method_figures *ret);
void measure_start(const char *config, struct method_figures *ret);
