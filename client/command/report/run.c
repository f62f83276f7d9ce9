/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore run: runs a job, and reports its regions in any case. The processes of the job on this
 * node form one team, with a name that only they know. If the last of them reports, nothing is left
 * to do. If all are killed, we report in their place. So that there are figures then, we take a
 * reading when the job is told to end, when it has ended, and when there was none for long.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/markers/markers.h"
#include "client/command/markers/modules.h"
#include "client/command/report/kept.h"
#include "client/command/report/run-options.h"
#include "client/command/report/run-verdict.h"
#include "client/command/report/samples.h"
#include "client/launcher/launch.h"
#include "client/libuncore/uncore.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "client/report/report-head.h"
#include "client/report/report-place.h"
#include "common/clock.h"
#include "common/macro.h"

/* After a launcher was killed, its ranks end a moment later. */
static const uint64_t RANKS_END_WITHIN_NS = 10000000000;

/* If we are killed as well, no more than this is missing. */
static const uint64_t READ_AFTER_NS = 10000000000;

struct job {
	struct run_options options;
	char team[TEAM_NAME_BYTES];
	struct child_signals signals;
	struct samples samples;
};

static void job_done(struct job *job)
{
	samples_done(&job->samples);
}

/* Is there a file, or a folder for the report? A name of it may contain the job's, which only
 * uncored's library fills in. */
static bool run_has_place(const char *output)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(output, '/');

	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output + 1) : 1,
		slash ? output : ".");
	return strchr(folder, '%') || access(output, W_OK) == 0 || access(folder, W_OK) == 0;
}

/* A launcher may begin the processes in other folders than this one. */
static void keep_folder(void)
{
	static const char *const variables[] = { "UNCORE_REPORT", "UNCORE_TRACE", "UNCORE_HEAP" };

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *name = getenv(variables[i]);
		_cleanup_free_ char *from_root = name && *name ? launch_from_root(name) : NULL;

		if (from_root)
			setenv(variables[i], from_root, 1);
	}
}

/* Returns -1 to go on, or the exit status. */
static int run_parse_options(int argc, char **argv, struct run_options *options)
{
	int status = option_parse(&run_table, argc, argv, options, NULL);
	const char *output = options->output;

	if (output && strcmp(output, "-") == 0)
		output = options->output = "/dev/stdout";
	if (status < 0 && optind == argc)
		return option_complain(&run_table, "missing command; say `uncore run -- COMMAND`");
	if (status < 0 && output && !run_has_place(output)) {
		fprintf(stderr,
			"uncore run: cannot write the report to %s: %s. The job was not run.\n",
			output, strerror(errno));
		return EXIT_FAILED;
	}
	if (status < 0 && output)
		setenv("UNCORE_REPORT", output, 1); /* the processes of the job read it, too */
	if (status < 0)
		keep_folder();
	if (status < 0 && options->markers)
		status = markers_prepare(options->markers, argv + optind);
	if (status < 0 && options->heap)
		status = module_prepare_heap(argv + optind); /* in front of all modules */
	return status;
}

/* --- the report in place of the job's own --- */

static int run_print_table(const struct record *record)
{
	fprintf(stderr, "uncore run: no process of the job has reported.\n");
	record_print(stderr, record);
	return ferror(stderr) ? -EIO : 0;
}

static int run_write_file(const struct record *record, const char *template, uint64_t since_ns)
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

static int run_report(const struct kept *kept, uint64_t since_ns)
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
		return run_print_table(&kept->record);
	r = run_write_file(&kept->record, template, since_ns);
	if (r == 0)
		return 0;
	fprintf(stderr, "uncore run: cannot write the report to %s: %s. The report follows.\n",
		template, strerror(-r));
	return run_print_table(&kept->record);
}

static bool one_lives(const struct kept_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->teams[i].n_living)
			return true;
	return false;
}

/* What is open was read when the command ended, and is again when all have ended. */
static int await_end(const struct kept_choice *choice, struct kept_list *ret)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const uint64_t deadline_ns = clock_deadline_ns(RANKS_END_WITHIN_NS);
	int r;

	r = kept_get(choice, ret);
	while (r == 0 && one_lives(ret) && clock_now_ns() < deadline_ns) {
		nanosleep(&pause, NULL);
		kept_done(ret);
		r = kept_get(choice, ret);
		if (r == 0 && !one_lives(ret) &&
			uncore_team_observe(NULL, choice->name, 0, NULL) > 0) {
			kept_done(ret);
			r = kept_get(choice, ret);
		}
	}
	return r;
}

static void report_rest(const char *name, uint64_t since_ns)
{
	const struct kept_choice choice = { .uid = UNCORE_UNKNOWN_USER, .name = name };
	struct kept_list list;
	int r = await_end(&choice, &list);

	for (uint32_t i = 0; i < list.n && r == 0; i++)
		r = run_report(&list.teams[i], since_ns);
	if (r == 0)
		r = kept_forget(&choice, &list);
	/* Without uncored, each process has reported for itself. */
	if (r < 0 && r != -ENOENT && r != -ECONNREFUSED)
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

static int run_say_cannot_run(const char *command, int error)
{
	fprintf(stderr, "uncore run: cannot run %s: %s.\n", command, strerror(-error));
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int run_status_of(int status)
{
	return WIFSIGNALED(status) ? EXIT_BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* What fails here shows in the record, or in the course: more is missing. */
static int wait_and_observe(struct job *job, const struct child *child, int *ret_status)
{
	uint64_t observe_ns = clock_deadline_ns(READ_AFTER_NS), left_ns;
	int r;

	job->signals.wakes = true;
	while ((r = child_wait(child, &job->signals,
			job->samples.next_ns < observe_ns ? job->samples.next_ns : observe_ns,
			ret_status)) == 0) {
		samples_take(&job->samples);
		if (!job->signals.stop && clock_now_ns() < observe_ns)
			continue;
		left_ns = READ_AFTER_NS;
		uncore_team_observe(
			NULL, job->team, job->signals.stop ? 0 : READ_AFTER_NS, &left_ns);
		observe_ns = clock_deadline_ns(left_ns);
		job->signals.stop = false;
	}
	return r;
}

static int run_job(struct job *job, char **command, int *ret_status)
{
	struct child child;
	int r;

	child_take_signals(&job->signals);
	r = child_new(command, &job->signals, &child);
	if (r < 0)
		return r;
	/* One of the ranks of a node is enough. */
	if (launch_local_rank() <= 0)
		samples_begin(&job->samples);
	r = child_go(&child);
	if (r == 0)
		r = wait_and_observe(job, &child, ret_status);
	if (r < 0)
		return r;
	uncore_team_observe(NULL, job->team, 0, NULL);
	samples_end(&job->samples);
	return 0;
}

/* Had the job a region? If that is not known, its report comes first. */
static bool has_regions(const char *team)
{
	_cleanup_free_ char *json = NULL;

	return uncore_team_record(NULL, UNCORE_UNKNOWN_USER, team, 0, &json) != -ENODATA;
}

/* A person is told why a job leaves nothing to show. */
static void tell_why_nothing(const struct job *job)
{
	if (!job->samples.total.runs)
		fprintf(stderr, "uncore run: there are no figures for a verdict: %s\n",
			job->samples.failure);
	else if (!job->options.verdict && !has_regions(job->team))
		fprintf(stderr, "uncore run: the job has no regions, and was over within a second; "
				"--verdict shows what moved.\n");
}

int command_run(int argc, char **argv)
{
	const uint64_t since_ns = clock_wall_ns();
	_cleanup_(job_done) struct job job = { .samples.next_ns = UINT64_MAX };
	int status = run_parse_options(argc, argv, &job.options), r;

	if (status >= 0)
		return status;
	name_team(job.team);
	r = run_job(&job, argv + optind, &status);
	if (r < 0)
		return run_say_cannot_run(argv[optind], r);
	if (job.options.verdict || (samples_have_course(&job.samples) && !has_regions(job.team)))
		run_verdict(argv + optind, &job.samples);
	if (job.options.verdict || (isatty(STDERR_FILENO) && launch_local_rank() <= 0 &&
					   !samples_have_course(&job.samples)))
		tell_why_nothing(&job);
	report_rest(job.team, since_ns);
	return run_status_of(status);
}
