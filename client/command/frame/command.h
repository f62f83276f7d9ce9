/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands behind `uncore NAME`; each gets the arguments from its own name on. */
#pragma once

#include "common/option.h"

/* How `uncore` itself failed; after stat has run a command, the status is the command's. */
enum {
	EXIT_FAILED = 1, /* info, owner: uncored cannot be reached; output cannot be written;
			    validate: a counter is wrong; report: a file cannot be read, a host is
			    missing, uncored cannot be reached; job: it cannot be kept, its record
			    cannot be written, a host has no complete one */
	/* EXIT_USAGE = 2, common/option.h */
	EXIT_INCONCLUSIVE = 3,   /* validate, check: too noisy to say */
	EXIT_SERVES_NOTHING = 3, /* info --quiet */
	EXIT_NOT_MEASURED =
		125, /* stat, validate: no figures; stat: CMD was not run, or ended with 0 */
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_BY_SIGNAL = 128, /* plus the signal's number */
};

int command_stat(int argc, char **argv);
int command_top(int argc, char **argv);
int command_list(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_check(int argc, char **argv);
int command_tiers(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_info(int argc, char **argv);
int command_report(int argc, char **argv);
int command_owner(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_run(int argc, char **argv);
int command_export(int argc, char **argv);
int command_job(int argc, char **argv);

/* The options of each command, in its NAME-table.c. */
extern const struct option_table uncore_table, check_table, compare_table, list_table, export_table,
	help_table, info_table, job_table, job_begin_table, job_end_table, job_list_table,
	job_show_table, job_report_table, owner_table, report_table, run_table, stat_table,
	tiers_table, top_table, trace_table, validate_table, version_table;

/* The row of each command that talks to uncored. */
#define COMMAND_SOCKET(type, member)                                                               \
	{                                                                                          \
		"socket", 0, OPTION_TEXT, "PATH",                                                  \
			"where uncored listens (default: $UNCORE_SOCKET, then "                    \
			"/run/uncored/socket)",                                                    \
			OPTION_AT(type, member)                                                    \
	}
