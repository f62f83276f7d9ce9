/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore stat`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum stat_form { STAT_TABLE, STAT_LINE, STAT_JSON, STAT_CSV };

struct stat_options {
	const char *socket_path;
	const char *output;                                  /* as it was given; NULL: stderr */
	const char *html, *trace;                            /* NULL: none */
	char *output_path, *html_path, *trace_path;          /* ... expanded and owned */
	const char *metrics, *pids, *prepare, *separator;    /* NULL: not given */
	uint64_t interval_ns, baseline_ns, delay_ns, for_ns; /* 0: not given */
	uint64_t step_ns; /* between readings: .interval_ns, or as a page or trace needs; 0: both
			   * ends alone
			   */
	uint64_t warmup;
	uint64_t repeat; /* with .until, at most */
	double until;    /* repeat until all standard errors are below, in percent; 0: do not */
	enum stat_form form;
	bool json, csv, metric_only, append, subtract, all_cpus, channels, nodes;
	bool first_of_node;
	bool anyway;
	char **command; /* ends at once: none */
};

/* Returns -1 to go on, or the exit status. */
int stat_options_parse(int argc, char **argv, struct stat_options *ret);
void stat_options_done(struct stat_options *options);
