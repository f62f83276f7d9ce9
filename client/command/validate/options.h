/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore validate`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/option.h"

struct validate_options {
	const char *socket_path;
	const char *output_path;
	const char *html;   /* a page, or NULL */
	const char *report; /* a text to send in, or NULL */
	const char *kernel; /* NULL: the usual ones, and a verdict */
	struct option_numbers nodes, threads, sizes, halos;
	uint64_t cache_bytes; /* 0: as the machine reports */
	double error;         /* a share */
	uint64_t time_s;
	bool quick, json, csv, keep, host_name;
};

/* Returns -1 to go on, or the exit status. */
int validate_options_parse(int argc, char **argv, struct validate_options *ret);

enum { VALIDATE_COMMAND_MAX = 256 };

/* The command with those options that matter for what is found: no path is among them. */
void validate_options_text(
	const struct validate_options *options, char ret[static VALIDATE_COMMAND_MAX]);
