/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/report/json.h"
#include "common/bounds.h"
#include "common/clock.h"
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

/* --- why there are no figures --- */

/* NULL: the begin has a reading. */
static const char *why_not_begun(const struct run *run)
{
	switch (run->head.state) {
	case RUN_BEGINNING:
		return "`uncore job begin` was killed, or found no room, before it had kept a "
		       "reading.";
	case RUN_FAILED:
		return run->head.why;
	default:
		return run->samples ? NULL
				    : "The reading of the begin cannot be read back: another "
				      "release of uncore kept it.";
	}
}

/* NULL: the readings have a difference on each socket. */
static const char *why_no_difference(const struct job_view *view)
{
	const uint32_t n = view->run->head.n_sockets;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	int r = n == view->reading->reader.machine.n_sockets ? 0 : -ESTALE;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = uncore_delta(
			&view->run->samples[i], &view->reading->readout.samples[i], &delta);
	if (r == -ESTALE)
		return "uncored began to count anew during the job: it was stopped, or came "
		       "back without a descriptor store or with other counters.";
	return r < 0 ? uncore_error_text() : NULL;
}

static const char *why_no_figures(const struct job_view *view)
{
	const char *why = why_not_begun(view->run);

	if (!why && !view->reading->reader.handle)
		why = view->reading->why;
	return why ? why : why_no_difference(view);
}

/* --- figures --- */

/* When the counts of a sample were taken: the middle of its sweep. */
static uint64_t taken_ns(const struct uncore_sample *sample)
{
	return sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;
}

static int64_t above(uint64_t a, uint64_t b)
{
	return a > b ? (int64_t)(a - b) : 0;
}

static void take_metrics(const struct uncore *handle, struct record *record)
{
	const char *name;

	for (uint32_t i = 0; (name = uncore_metric_name(handle, i)); i++) {
		strcpy(record->metrics[i], name);
		strcpy(record->units[i], uncore_metric_unit(handle, i));
		record->n_metrics++;
	}
}

/* How far the window extends beyond the run or, while that goes on, ends before the present. */
static void take_ends(const struct job_view *view, uint32_t i, struct record_socket *ret)
{
	const uint64_t first_ns = taken_ns(&view->run->samples[i]);
	const uint64_t last_ns = taken_ns(&view->reading->readout.samples[i]);

	ret->early_ns = above(view->run->head.begun_ns, first_ns);
	ret->late_ns = above(last_ns, view->end.ns);
	ret->age_ns = view->end.real_ns ? -1 : above(view->end.ns, last_ns);
}

static void take_difference(const struct job_view *view, uint32_t i, struct record_socket *ret)
{
	const uint64_t quantum = most_of(view->run->head.quantum, view->reading->daemon.quantum);
	struct uncore_delta delta = UNCORE_DELTA_INIT;

	uncore_delta(&view->run->samples[i], &view->reading->readout.samples[i], &delta);
	ret->window_ns = delta.window_ns;
	ret->skew_ns = delta.skew_ns;
	ret->quantum_bytes = quantum > 1 ? quantum : 0;
	for (uint32_t k = 0; k < delta.n_values; k++) {
		const struct uncore_delta_value *value = &delta.values[k];

		ret->values[k].count = value->count;
		ret->values[k].quality = value->quality;
		if (value->quality & UNCORE_ABSENT)
			ret->values[k].why =
				strdup(uncore_why(view->reading->reader.handle, value->why));
	}
}

/* Those that the job could not use are outside of its region. */
static void take_socket(const struct job_view *view, uint32_t i, struct record *record)
{
	struct uncore_socket described = UNCORE_SOCKET_INIT;
	struct record_region *region;
	struct record_socket *socket;
	int64_t others;

	uncore_describe_socket(view->reading->reader.handle, i, &described);
	others = folder_others(view->runs, view->run, described.package);
	region = packages_have(&view->run->head.packages, described.package) ? record->regions
									     : record->outside;
	socket = &region->sockets[region->n_sockets++];
	socket->socket = i;
	socket->package = described.package;
	socket->n_others = others < 0 ? -1 : others;
	take_ends(view, i, socket);
	take_difference(view, i, socket);
}

static int take_figures(const struct job_view *view, struct record *record)
{
	const struct run_head *head = &view->run->head;
	const size_t room = head->n_sockets + 1U;

	strcpy(record->platform, head->platform);
	memcpy(record->generation, head->generation, sizeof record->generation);
	take_metrics(view->reading->reader.handle, record);
	record->outside = calloc(1, sizeof *record->outside);
	if (!record->outside)
		return -ENOMEM;
	record->regions->sockets = calloc(room, sizeof *record->regions->sockets);
	record->outside->sockets = calloc(room, sizeof *record->outside->sockets);
	if (!record->regions->sockets || !record->outside->sockets)
		return -ENOMEM;
	for (uint32_t i = 0; i < head->n_sockets; i++)
		take_socket(view, i, record);
	return 0;
}

/* --- the record --- */

void job_host(char ret_host[LAUNCH_HOST_MAX])
{
	const char *name = secure_getenv("SLURMD_NODENAME");

	if (name && *name && strlen(name) < LAUNCH_HOST_MAX && text_is_plain(name))
		strcpy(ret_host, name);
	else
		launch_host(ret_host);
}

static struct record_batch batch_of(const struct job_view *view)
{
	const struct run_head *head = &view->run->head;
	const struct job_end *end = &view->end;
	struct record_batch batch = {
		.uid = head->uid == UNCORE_UNKNOWN_USER ? -1 : (int64_t)head->uid,
		.seconds =
			head->begun_ns && end->ns ? (double)(end->ns - head->begun_ns) / 1e9 : NAN,
		.monotonic_ns = head->begun_ns ? head->begun_ns : end->ns,
	};

	snprintf(batch.exit, sizeof batch.exit, "%s", end->exit ? end->exit : "");
	return batch;
}

/* Without figures. @ret is for record_done(). */
static int record_begin(const struct job_view *view, struct record *ret)
{
	const struct run_head *head = &view->run->head;

	*ret = (struct record){
		.rows = "job",
		.version = UNCORE_VERSION,
		.begun_ns = head->begun_ns ? head->begun_real_ns : 0,
		.ended_ns = view->end.real_ns,
		.batch = batch_of(view),
		.regions = calloc(1, sizeof *ret->regions),
	};
	if (!ret->regions)
		return -ENOMEM;
	job_host(ret->host);
	strcpy(ret->job, head->id);
	strcpy(ret->step, head->key);
	snprintf(ret->regions[ret->n_regions++].name, RECORD_NAME_BYTES, "%.63s", head->id);
	return 0;
}

static int take_failure(struct record *record, const char *why)
{
	record->failure = strdup(why);
	return record->failure ? 0 : -ENOMEM;
}

int job_record(const struct job_view *view, struct record *ret)
{
	const char *why = why_no_figures(view);
	int r = record_begin(view, ret);

	if (r < 0)
		return r;
	return why ? take_failure(ret, why) : take_figures(view, ret);
}

int job_record_without(
	const struct run *run, const char *why, const struct job_end *end, char **ret_text)
{
	_cleanup_(record_done) struct record record;
	int r = record_begin(&(struct job_view){ .run = run, .end = *end }, &record);

	if (r == 0)
		r = take_failure(&record, why);
	return r < 0 ? r : record_json(&record, ret_text);
}
