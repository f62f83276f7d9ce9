/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/records/job-record.h"
#include "client/report/format.h"
#include "client/report/json.h"
#include "client/report/record-time.h"
#include "common/bounds.h"
#include "common/clock.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"

static const uint64_t LEAST_NS = 1000000; /* an attempt takes at least this long */

/* About the time until a replaced daemon is back. */
static const struct timespec COMES_BACK = { .tv_nsec = 5000000 };

/* --- a reading --- */

void job_reading_done(struct job_reading *reading)
{
	reader_close(&reading->reader);
	readout_done(&reading->readout);
}

static int job_view_take(const struct reader_wish *wish, struct job_reading *reading)
{
	int r = reader_open(&reading->reader, clock_left_ns(wish->deadline_ns, LEAST_NS));

	if (r < 0)
		return r;
	reading->is_reached = true;
	uncore_describe_daemon(reading->reader.handle, &reading->daemon);
	return reader_take(&reading->reader, wish, &reading->readout);
}

static void say_failure(struct job_reading *reading, int error, uint64_t within_ns)
{
	if (error == -ETIMEDOUT && reading->daemon.min_interval_ns > within_ns)
		snprintf(reading->why, sizeof reading->why,
			"The site lets uncored read a socket every %.3g s at most (min_interval_ms "
			"of uncored.conf), and no reading was due within %.3g s.",
			(double)reading->daemon.min_interval_ns / 1e9, (double)within_ns / 1e9);
	else
		snprintf(reading->why, sizeof reading->why, "%s", reader_failure(error));
}

/* The next attempt may succeed. -ESTALE: counters that begin anew give a reading, too. */
static bool may_retry(int error)
{
	return error == -ENOTCONN || error == -EACCES || error == -ECONNRESET || error == -ESTALE;
}

/* Tries again, since the owner may change or a daemon may end during the reading. */
void job_reading_take(
	const char *socket_path, enum reader_use use, uint64_t deadline_ns, struct job_reading *ret)
{
	const struct reader_wish wish = { .use = use, .deadline_ns = deadline_ns };

	for (;;) {
		const uint64_t within_ns = clock_left_ns(deadline_ns, LEAST_NS);
		int r;

		*ret = (struct job_reading){
			.reader.socket_path = socket_path,
			.daemon = UNCORE_DAEMON_INIT,
		};
		r = job_view_take(&wish, ret);
		if (r == 0)
			return;
		say_failure(ret, r, within_ns);
		job_reading_done(ret);
		if (!may_retry(r) || clock_now_ns() + LEAST_NS > deadline_ns)
			return;
		nanosleep(&COMES_BACK, NULL);
	}
}

/* --- what is known of a run --- */

static void job_view_say(struct job_view *view, const char *why)
{
	snprintf(view->why, sizeof view->why, "%s", why);
}

/* Why the begin has no reading; NULL: the begin has a reading. */
static const char *why_not_begun(const struct run_head *head)
{
	switch (head->state) {
	case RUN_BEGINNING:
		return "`uncore job begin` was killed, or found no room, before it had kept a "
		       "reading.";
	case RUN_FAILED:
		return head->why;
	default:
		return NULL;
	}
}

static void subtract(struct job_view *view)
{
	const uint32_t n = view->run->head.n_sockets;
	int r;

	if (!view->run->samples) {
		job_view_say(view,
			"The reading of the begin cannot be read back: another release of uncore "
			"kept it.");
		return;
	}
	r = n == view->reading->reader.machine.n_sockets ? total_init(&view->total, n, NULL)
							 : -ESTALE;
	if (r == 0)
		r = total_add(&view->total, view->run->samples, view->reading->readout.samples);
	if (r == -ESTALE)
		job_view_say(view,
			"uncored began to count anew during the job: it was stopped, or came "
			"back without a descriptor store or with other counters.");
	else if (r < 0)
		job_view_say(view, r == -ENOMEM ? "There was no memory for the difference."
						: uncore_error_text());
}

void job_view_init(struct job_view *ret, const struct run *run, const struct job_reading *reading,
	const struct folder_runs *runs)
{
	const char *why = why_not_begun(&run->head);

	*ret = (struct job_view){ .run = run, .reading = reading, .runs = runs };
	if (why)
		job_view_say(ret, why);
	else if (!reading->reader.handle)
		job_view_say(ret, reading->why);
	else
		subtract(ret);
}

void job_view_done(struct job_view *view)
{
	total_done(&view->total);
}

/* --- as JSON --- */

void job_host(char ret_host[LAUNCH_HOST_MAX])
{
	const char *name = secure_getenv("SLURMD_NODENAME");

	if (name && *name && strlen(name) < LAUNCH_HOST_MAX && text_is_plain(name))
		strcpy(ret_host, name);
	else
		launch_host(ret_host);
}

void job_json_head(struct jsonwriter *json, const struct run_head *head)
{
	jsonwriter_text(json, "job", head->id);
	jsonwriter_text_or_null(json, "run", head->key);
	jsonwriter_known(json, "uid", head->uid != UNCORE_UNKNOWN_USER, head->uid);
}

static void origin_json(struct jsonwriter *json, const struct job_view *view)
{
	const struct run_head *head = &view->run->head;
	char host[LAUNCH_HOST_MAX];

	job_host(host);
	jsonwriter_number(json, "record", JOB_SCHEMA);
	job_json_head(json, head);
	jsonwriter_text(json, "host", host);
	record_json_time(json, "begin", head->begun_ns ? head->begun_real_ns : 0);
	record_json_time(json, "end", view->end.real_ns);
	jsonwriter_real(json, "seconds",
		head->begun_ns && view->end.ns ? (double)(view->end.ns - head->begun_ns) / 1e9
					       : NAN);
	jsonwriter_text_or_null(json, "exit", view->end.exit);
	/* Two runs may be equal in all else. This tells which run an existing file is of. */
	jsonwriter_number(json, "monotonic_ns", head->begun_ns ? head->begun_ns : view->end.ns);
}

/* When the counts of a sample were taken: the middle of its sweep. */
static uint64_t taken_ns(const struct uncore_sample *sample)
{
	return sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void job_view_socket_json(struct jsonwriter *json, const struct job_view *view, uint32_t i)
{
	const struct run_head *head = &view->run->head;
	const struct uncore *handle = view->reading->reader.handle;
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct format_socket shown;
	int64_t others;

	uncore_describe_socket(handle, i, &socket);
	total_show(&view->total, handle, i, &shown);
	others = folder_others(view->runs, view->run, socket.package);
	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "socket", i);
	jsonwriter_number(json, "package", socket.package);
	jsonwriter_flag(json, "used", packages_have(&head->packages, socket.package));
	jsonwriter_known(json, "others", others >= 0, others);
	jsonwriter_number(json, "window_ns", shown.window_ns);
	jsonwriter_number(
		json, "early_ns", above(head->begun_ns, taken_ns(&view->run->samples[i])));
	jsonwriter_number(
		json, "late_ns", above(taken_ns(&view->reading->readout.samples[i]), view->end.ns));
	if (!view->end.real_ns) /* the run goes on */
		jsonwriter_number(json, "age_ns",
			above(view->end.ns, taken_ns(&view->reading->readout.samples[i])));
	jsonwriter_number(json, "skew_ns", shown.skew_ns);
	format_json_metrics(json, "metrics", &shown);
	jsonwriter_close(json);
}

static void figures_json(struct jsonwriter *json, const struct job_view *view)
{
	const struct run_head *head = &view->run->head;
	const struct uncore_daemon *daemon = &view->reading->daemon;

	jsonwriter_flag(json, "complete", true);
	jsonwriter_known(json, "quantum", head->quantum && daemon->quantum,
		(int64_t)most_of(head->quantum, daemon->quantum));
	jsonwriter_number(json, "restarts", daemon->started_ns != head->daemon_started_ns);
	jsonwriter_array(json, "sockets");
	for (uint32_t i = 0; i < head->n_sockets; i++)
		job_view_socket_json(json, view, i);
	jsonwriter_close(json);
}

int job_json(const struct job_view *view, char **ret_text)
{
	const struct run_head *head = &view->run->head;
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	origin_json(&json, view);
	format_json_origin(&json, *head->platform ? head->platform : NULL, head->generation);
	if (*view->why) {
		jsonwriter_flag(&json, "complete", false);
		jsonwriter_text(&json, "why", view->why);
	} else {
		figures_json(&json, view);
	}
	jsonwriter_close(&json);
	return jsonwriter_finish(&json, ret_text);
}

int job_json_incomplete(
	const struct run *run, const char *why, const struct job_end *end, char **ret_text)
{
	struct job_view view = { .run = run };

	if (end)
		view.end = *end;
	snprintf(view.why, sizeof view.why, "%s", why);
	return job_json(&view, ret_text);
}
