/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore run: runs a job, and reports its regions in any case. The processes of the job on this
 * node form one team, with a name that only they know. If the last of them reports, nothing is left
 * to do. If all are killed, we report in their place.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/report/kept.h"
#include "client/launcher/job-step.h"
#include "client/launcher/launch.h"
#include "client/libuncore/uncore.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "client/report/report-head.h"
#include "client/report/report-place.h"
#include "common/clock.h"
#include "common/macro.h"

/* After a launcher was killed, its ranks end a moment later. */
static const uint64_t RANKS_END_WITHIN_NS = 2000000000;

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv)
{
	const char *output = NULL;
	int status = option_parse(&run_table, argc, argv, &output, NULL);

	if (status < 0 && optind == argc)
		return option_complain(&run_table, "missing command; say `uncore run -- COMMAND`");
	if (status < 0 && output)
		setenv("UNCORE_REPORT", output, 1); /* the processes of the job read it, too */
	return status;
}

/* --- the report in place of the job's own --- */

static int print_table(const struct record *record)
{
	fprintf(stderr, "uncore run: no process of the job has reported.\n");
	record_print(stderr, record);
	return ferror(stderr) ? -EIO : 0;
}

static int write_file(const struct record *record, const char *template, uint64_t since_ns)
{
	_cleanup_free_ char *path = NULL, *text = NULL, *elsewhere = NULL;
	int r = launch_expand(template, &path);

	if (r == 0)
		r = record_json(record, &text);
	if (r == 0)
		r = report_place(path, text, since_ns, &elsewhere);
	if (r == 0)
		report_say_where(path, elsewhere);
	return r;
}

static int report(const struct kept *kept, uint64_t since_ns)
{
	const char *template = getenv("UNCORE_REPORT");
	int r;

	if (kept->n_living) {
		fprintf(stderr,
			"uncore run: %u %s of the job still %s; `uncore report` shows what the "
			"job did.\n",
			kept->n_living, kept->n_living == 1 ? "process" : "processes",
			kept->n_living == 1 ? "runs" : "run");
		return 0;
	}
	if (!template || !*template)
		return print_table(&kept->record);
	r = write_file(&kept->record, template, since_ns);
	if (r == 0)
		return 0;
	fprintf(stderr, "uncore run: cannot write the report to %s: %s. The report follows.\n",
		template, strerror(-r));
	return print_table(&kept->record);
}

static bool one_lives(const struct kept_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->teams[i].n_living)
			return true;
	return false;
}

static int await_end(const struct kept_choice *choice, struct kept_list *ret)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const uint64_t deadline_ns = clock_deadline_ns(RANKS_END_WITHIN_NS);
	int r = kept_get(choice, ret);

	while (r == 0 && one_lives(ret) && clock_now_ns() < deadline_ns) {
		nanosleep(&pause, NULL);
		kept_done(ret);
		r = kept_get(choice, ret);
	}
	return r;
}

static void report_rest(const char *name, uint64_t since_ns)
{
	const struct kept_choice choice = { .uid = UNCORE_UNKNOWN_USER, .name = name };
	struct kept_list list;
	int r = await_end(&choice, &list);

	for (uint32_t i = 0; i < list.n && r == 0; i++)
		r = report(&list.teams[i], since_ns);
	if (r == 0)
		r = kept_forget(&choice, &list);
	/* Without uncored, or with an older release of it, each process has reported for itself. */
	if (r < 0 && r != -ENOENT && r != -ECONNREFUSED && r != -EOPNOTSUPP)
		fprintf(stderr, "uncore run: %s\n", uncore_error_text());
	kept_done(&list);
}

/* --- running --- */

/* Unless the user gave a name, makes one that no other job has. */
static void name_team(char ret_name[TEAM_NAME_BYTES])
{
	const char *own = getenv("UNCORE_TEAM");
	char value[64];

	snprintf(value, sizeof value, REPORT_HEAD_UNNAMED "%d-%lld", (int)getpid(),
		(long long)time(NULL));
	if (!own || !*own)
		setenv("UNCORE_TEAM", value, 1);
	job_step_name(ret_name);
}

static int cannot_run(const char *command, int error)
{
	fprintf(stderr, "uncore run: cannot run %s: %s.\n", command, strerror(-error));
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(char **command, int *ret_status)
{
	struct child_signals signals;
	struct child child;
	int r;

	child_take_signals(&signals);
	r = child_new(command, &signals, &child);
	if (r == 0)
		r = child_go(&child);
	if (r < 0)
		return r;
	do
		r = child_wait(&child, &signals, UINT64_MAX, ret_status);
	while (r == 0);
	return r < 0 ? r : 0;
}

int command_run(int argc, char **argv)
{
	const uint64_t since_ns = clock_wall_ns();
	char name[TEAM_NAME_BYTES];
	int status = parse_options(argc, argv), r;

	if (status >= 0)
		return status;
	name_team(name);
	r = run(argv + optind, &status);
	if (r < 0)
		return cannot_run(argv[optind], r);
	report_rest(name, since_ns);
	return status_of(status);
}
