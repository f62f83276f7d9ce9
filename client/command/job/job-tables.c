/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/job/options.h"

/* --- rows of several commands --- */

#define RUN(help)                                                                                  \
	{                                                                                          \
		"run", 0, OPTION_TAKEN, "KEY", help                                                \
	}
#define QUIET                                                                                      \
	{                                                                                          \
		"quiet", 'q', OPTION_FLAG, NULL,                                                   \
			"do not say on stderr what makes the record incomplete",                   \
			OPTION_AT(job_options, quiet)                                              \
	}
#define JSON                                                                                       \
	{                                                                                          \
		"json", 'j', OPTION_FLAG, NULL, "print JSON, as uncore-report(5) describes it",    \
			OPTION_AT(job_options, json)                                               \
	}

/* --- the commands --- */

static const struct option_row begin_rows[] = {
	{ "uid", 0, OPTION_TAKEN, "USER", "whose job it is, a name or a number" },
	RUN("tells two runs of one ID apart: at most 64 bytes of text; an empty KEY is none"),
	{ "cpus", 0, OPTION_TAKEN, "LIST",
		"the CPUs that the job can use, for example 0-3,8; self: those that this command "
		"may run on (default: all)" },
	QUIET,
	COMMAND_SOCKET(job_options, wish.socket_path),
};

const struct option_table job_begin_table = {
	.command = "uncore job begin",
	.brief = "a job begins",
	.usage = "ID --uid USER [OPTION...]",
	.about = "Take the first reading of job ID. The batch system says so (root); see "
		 "uncored-jobs(7).",
	.exits = "0, also where uncored is away and the record will be incomplete; 1 if the job "
		 "cannot be kept; 2 for a wrong option.",
	OPTION_ROWS(begin_rows),
};

static const struct option_row end_rows[] = {
	{ "to", 0, OPTION_TAKEN, "DIR",
		"also write the record to DIR/ID@BEGIN.json; in DIR, %j is the ID and %% a %" },
	{ "exit", 0, OPTION_TAKEN, "TEXT", "how the job ended, for the record" },
	RUN("leave a run open that has another KEY"),
	QUIET,
	COMMAND_SOCKET(job_options, wish.socket_path),
};

const struct option_table job_end_table = {
	.command = "uncore job end",
	.brief = "a job has ended: print its record",
	.usage = "ID [--to DIR] [--exit TEXT] [OPTION...]",
	.about = "Take the last reading of job ID and print its record. The batch system says so "
		 "(root); see uncored-jobs(7).",
	.exits = "0, also where uncored is away and the record is incomplete; 1 if not all of the "
		 "output was written; 2 for a wrong option.",
	OPTION_ROWS(end_rows),
};

static const struct option_row list_rows[] = { JSON };

const struct option_table job_list_table = {
	.command = "uncore job list",
	.brief = "list the open jobs",
	.usage = "[--json]",
	.about = "List the open jobs of this node, and the records that wait.",
	.exits = "0; 1 if the jobs cannot be read; 2 for a wrong option.",
	OPTION_ROWS(list_rows),
};

static const struct option_row show_rows[] = {
	JSON,
	COMMAND_SOCKET(job_options, wish.socket_path),
};

const struct option_table job_show_table = {
	.command = "uncore job show",
	.brief = "show what an open job did so far",
	.usage = "ID [--json]",
	.about = "Show what the sockets did since job ID began.",
	.exits = "0; 1 if this node does not have the job; 2 for a wrong option.",
	OPTION_ROWS(show_rows),
};

static const struct option_table *const subcommands[] = {
	&job_begin_table,
	&job_end_table,
	&job_list_table,
	&job_show_table,
	&job_report_table,
	NULL,
};

const struct option_table job_table = {
	.command = "uncore job",
	.brief = "a record for each job of a batch system (root)",
	.usage = "COMMAND [ARGUMENT...]\n--help",
	.about = "A record for each job of a batch system: how many bytes each socket of its node "
		 "read and wrote. The batch system says when a job begins and ends (root); see "
		 "uncored-jobs(7).",
	.subcommands = subcommands,
	.runs_command = true, /* the command has options of its own */
};
