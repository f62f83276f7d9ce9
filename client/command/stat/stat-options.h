/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore stat`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum stat_form { STAT_TABLE, STAT_JSON, STAT_CSV };

struct stat_options {
	const char *socket_path;
	const char *output;   /* as it was given; NULL: stderr */
	char *output_path;    /* ... expanded and owned */
	uint64_t interval_ms; /* 0: none */
	uint64_t repeat;      /* with .until, at most */
	double until; /* repeat until all standard errors are below, in percent; 0: do not */
	enum stat_form form;
	bool json, csv;
	bool first_of_node;
	bool anyway;
	char **command;
};

/* Returns -1 to go on, or the exit status. */
int stat_options_parse(int argc, char **argv, struct stat_options *ret);
void stat_options_done(struct stat_options *options);
