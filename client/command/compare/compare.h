/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore compare: of two programs, does one move more bytes? uncore check: does a command move more
 * than a baseline that was kept? */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/command/frame/command.h"
#include "client/ratio/judge.h"

struct compare_options {
	double within, fail_above; /* percent; .fail_above 0: not given */
};

/* The exit status for what compare_limits() says. */
static inline int limit_status(int side)
{
	return side > 0 ? EXIT_FAILED : side < 0 ? 0 : EXIT_INCONCLUSIVE;
}

struct check_options {
	const char *against, *metrics, *markdown, *socket_path; /* NULL: not given */
	double max_growth;                                      /* percent */
	uint64_t time_ns;
	bool update;
	char **command;
};

struct check_result {
	const struct check_options *options;
	const char *platform;
	const struct compare *all;
	const char *left_out; /* names of metrics that are too small to judge; "": none */
	int side;             /* of compare_limits() */
};

/* The table, and a sentence; as a list of Markdown, too. */
void check_print(FILE *out, const struct check_result *result, bool markdown);
