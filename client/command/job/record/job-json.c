/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-json.h"

#include <stdlib.h>
#include <string.h>

#include "client/command/job/record/job-time.h"
#include "client/report/format.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"

void job_host(char ret_host[LAUNCH_HOST_MAX])
{
	const char *name = secure_getenv("SLURMD_NODENAME");

	if (name && *name && strlen(name) < LAUNCH_HOST_MAX && text_is_plain(name))
		strcpy(ret_host, name);
	else
		launch_host(ret_host);
}

static void time_json(struct jsonwriter *json, const char *key, int64_t real_ns)
{
	char text[JOB_TIME_MAX];

	job_time(real_ns, text);
	jsonwriter_text_or_null(json, key, text);
}

static void origin_json(struct jsonwriter *json, const struct job_view *view)
{
	const struct run_head *head = &view->run->head;
	char host[LAUNCH_HOST_MAX];

	job_host(host);
	jsonwriter_number(json, "record", JOB_SCHEMA);
	jsonwriter_text(json, "job", head->id);
	jsonwriter_text_or_null(json, "run", head->key);
	if (head->uid == UNCORE_UNKNOWN_USER)
		jsonwriter_text(json, "uid", NULL);
	else
		jsonwriter_number(json, "uid", head->uid);
	jsonwriter_text(json, "host", host);
	time_json(json, "begin", head->begun_ns ? head->begun_real_ns : 0);
	time_json(json, "end", view->end.real_ns);
	if (head->begun_ns && view->end.ns)
		jsonwriter_real(json, "seconds", (double)(view->end.ns - head->begun_ns) / 1e9);
	else
		jsonwriter_text(json, "seconds", NULL);
	jsonwriter_text_or_null(json, "exit", view->end.exit);
	/* Two runs may be equal in all else. This tells which run an existing file is of. */
	jsonwriter_number(json, "monotonic_ns", head->begun_ns ? head->begun_ns : view->end.ns);
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void socket_json(struct jsonwriter *json, const struct job_view *view, uint32_t i)
{
	const struct run_head *head = &view->run->head;
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct format_socket shown;
	int64_t others;

	uncore_describe_socket(view->reading->reader.handle, i, &socket);
	others = counts_others(view->counts, &head->base, socket.package);
	total_show(&view->total, view->reading->reader.handle, i, &shown);
	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "socket", i);
	jsonwriter_number(json, "package", socket.package);
	jsonwriter_flag(json, "used", packages_have(&head->packages, socket.package));
	if (others < 0)
		jsonwriter_text(json, "others", NULL);
	else
		jsonwriter_number(json, "others", (uint64_t)others);
	jsonwriter_number(json, "window_ns", shown.window_ns);
	jsonwriter_number(json, "early_ns", above(head->begun_ns, job_reading_ns(&view->begun[i])));
	jsonwriter_number(json, "late_ns",
		above(job_reading_ns(&view->reading->readout.samples[i]), view->end.ns));
	if (!view->end.real_ns) /* the run goes on */
		jsonwriter_number(json, "age_ns",
			above(view->end.ns, job_reading_ns(&view->reading->readout.samples[i])));
	jsonwriter_number(json, "skew_ns", shown.skew_ns);
	format_json_metrics(json, &shown);
	jsonwriter_close(json);
}

static void figures_json(struct jsonwriter *json, const struct job_view *view)
{
	const struct run_head *head = &view->run->head;
	const struct uncore_daemon *daemon = &view->reading->daemon;
	const uint64_t quantum = head->quantum > daemon->quantum ? head->quantum : daemon->quantum;

	jsonwriter_flag(json, "complete", true);
	if (head->quantum && daemon->quantum)
		jsonwriter_number(json, "quantum", quantum);
	else
		jsonwriter_text(json, "quantum", NULL);
	jsonwriter_number(json, "restarts", daemon->started_ns != head->daemon_started_ns);
	jsonwriter_array(json, "sockets");
	for (uint32_t i = 0; i < head->n_sockets; i++)
		socket_json(json, view, i);
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
