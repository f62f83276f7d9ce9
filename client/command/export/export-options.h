/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore export`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/export/export-reading.h"

struct export_options {
	struct export_wish wish;
	const char *output_path; /* NULL: stdout */
	uint64_t every_s;        /* 0: once */
	bool http;
	bool clustercockpit;
};

/* Returns -1 to go on, or the exit status. */
int export_options_parse(int argc, char **argv, struct export_options *ret);
