/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore stat`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stat_options {
	const char *socket_path;
	const char *output_path;
	uint64_t interval_ms; /* 0: none */
	uint64_t repeat;
	bool json;
	char **command;
};

/* Returns -1 to go on, or the exit status. */
int stat_options_parse(int argc, char **argv, struct stat_options *ret);
