/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of `./dev bench`. All come from one run on one machine tree, standin-wide. */
#pragma once

#include <stdint.h>

#include "tests/harness/daemon-process.h"

enum { BATCH_SIZES = 3 };

struct batch_figures {
	unsigned n; /* clients at once */
	double idle_median_us, idle_p99_us, busy_median_us, busy_p99_us;
};

struct latency_figures {
	double serial_us;    /* one privileged process reads all groups of both sockets */
	double local_us;     /* ... the groups of the socket that the process runs on */
	double fresh_all_us; /* one unprivileged client, both sockets */
	double fresh_own_us; /* ... the socket that the client runs on, from the reader's own CPU */
	double fresh_beside_us; /* ... one socket, from another CPU than its reader's */
};

/* How uncored gets its counts: [sweep] of uncored.conf. */
enum { BY_READ, BY_BPF, METHODS };
extern const char *const methods[METHODS];

/* What is measured with each method. */
struct method_figures {
	struct latency_figures paused, without_pause;
	double cached_ns;
	double ready_ms;
	double hwm_kib, hwm_worst_kib; /* VmHWM at READY, median and worst of all starts */
	double default_budget_us; /* mean of fresh_all without pause, in the budget as shipped */
};

struct figures {
	struct method_figures by[METHODS]; /* medians of some runs, in turns */
	double sweeps_per_round_64;
	struct batch_figures batches[BATCH_SIZES];
	double idle_wakeups_per_min;
	double rss_kib;
	double stat_overhead_ms;
};

/* Each measures against a running daemon and fills in its figures. */
void measure_latency(const struct daemon_process *daemon, struct method_figures *ret);
void measure_batches(const struct daemon_process *daemon, struct figures *ret);
void measure_footprint(const struct daemon_process *daemon, struct figures *ret);

/* These start daemons of their own, with @config. */
void measure_default_budget(const char *config, struct method_figures *ret);
void measure_start(const char *config, struct method_figures *ret);

/* Sorts @values and returns the value below which @share (0..1) of them lie. */
double quantile(double values[], unsigned n, double share);

/* Memory that children fill in for their parent. */
void *shared_memory(uint64_t size_bytes);
