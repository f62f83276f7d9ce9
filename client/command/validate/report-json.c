/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/report-json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "client/command/validate/calibration.h"

static char SEVEN_DIGITS[] = "%.7g"; /* json-c takes no const */

enum { FORMAT = 1 }; /* counts changes of this document that break its readers */

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

/* Seven digits: nothing here is known better. */
static void add_number(struct json_object *object, const char *key, double number)
{
	struct json_object *member = isfinite(number) ? json_object_new_double(number) : NULL;

	if (member)
		json_object_set_serializer(
			member, json_object_double_to_json_string, SEVEN_DIGITS, NULL);
	json_object_object_add(object, key, member);
}

static void add_integer(struct json_object *object, const char *key, int64_t number)
{
	json_object_object_add(object, key, json_object_new_int64(number));
}

static struct json_object *add_object(struct json_object *object, const char *key)
{
	struct json_object *member = json_object_new_object();

	json_object_object_add(object, key, member);
	return member;
}

static struct json_object *add_list(struct json_object *object, const char *key)
{
	struct json_object *member = json_object_new_array();

	json_object_object_add(object, key, member);
	return member;
}

static struct json_object *append_object(struct json_object *list)
{
	struct json_object *member = json_object_new_object();

	json_object_array_add(list, member);
	return member;
}

/* --- the machine --- */

/* What /proc/cpuinfo says of the first CPU, by its own keys: x86's, POWER's, Arm's. */
static void add_processor(struct json_object *object)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "model name",
		"stepping", "microcode", "cpu", "revision", "CPU implementer", "CPU part" };
	_cleanup_file_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof line, file) && *line != '\n') {
		char *colon = strchr(line, ':'), *end;

		if (!colon)
			continue;
		for (end = colon; end > line && (end[-1] == '\t' || end[-1] == ' '); end--)
			;
		*end = '\0';
		colon[strcspn(colon, "\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (strcmp(line, keys[i]) == 0)
				add_text(object, keys[i], colon[1] ? colon + 2 : "");
	}
}

static void add_date(struct json_object *object)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[32];

	if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%d", &utc))
		add_text(object, "date", text);
}

static void add_machine(struct json_object *object, const struct session *session)
{
	struct utsname system;

	uname(&system);
	add_text(object, "platform", session->probe.machine.platform);
	json_object_object_add(
		object, "simulated", json_object_new_boolean(session_is_simulated(session)));
	add_integer(object, "sockets", session->probe.machine.n_sockets);
	add_processor(add_object(object, "processor"));
	add_text(object, "kernel", system.release);
	add_text(object, "architecture", system.machine);
	add_text(object, "uncore", UNCORE_VERSION);
	add_date(object);
	if (session->options.host_name)
		add_text(object, "host", system.nodename);
}

/* --- a node --- */

static void add_shown(struct json_object *object, const char *key, const struct session *session,
	const struct measured *measured)
{
	const struct probe *probe = &session->probe;
	struct json_object *sockets = add_list(object, key), *socket = NULL;

	for (uint32_t i = 0, last = UINT32_MAX; i < probe->n_series; i++) {
		const struct probe_series *series = &probe->series[i];

		if (series->is_channel)
			break;
		if (series->socket != last)
			socket = append_object(sockets);
		last = series->socket;
		if (!(series->quality & UNCORE_ABSENT))
			add_number(socket, series->name, measured->bytes[i]);
	}
}

static void add_kernel(struct json_object *list, const struct session *session,
	const struct judged_node *node, const struct measured *measured)
{
	struct json_object *object = append_object(list), *predicted;

	add_text(object, "kernel", measured->kernel->name);
	add_integer(object, "threads", measured->n_threads);
	predicted = add_object(object, "predicted");
	add_number(predicted, "read", measured->predicted.read);
	add_number(predicted, "allocated", measured->predicted.allocated);
	add_number(predicted, "written", measured->predicted.written);
	add_shown(object, "shown", session, measured);
	add_number(object, "error", measured->error);
	add_number(object, "background", measured->background);
	add_integer(object, "repetitions", measured->n);
	add_integer(object, "dropped", measured->n_dropped);
	if (!isnan(judge_evaded(node, measured)))
		add_number(object, "evaded", judge_evaded(node, measured));
	if (!session_is_simulated(session))
		add_number(object, "ns", measured->best_ns);
}

static void add_metrics(struct json_object *object, const struct judged_node *node)
{
	struct json_object *list = add_list(object, "metrics");

	for (unsigned i = 0; i < node->tier.n; i++) {
		const struct judged_metric *metric = &node->metric[i];
		struct json_object *member = append_object(list);

		add_text(member, "metric", metric->name);
		add_number(member, "reads", metric->fit.reads);
		add_number(member, "writes", metric->fit.writes);
		add_number(member, "error", metric->fit.error);
	}
}

static void add_channels(
	struct json_object *object, const struct session *session, const struct judged_node *node)
{
	struct json_object *channels = add_object(object, "channels");

	for (uint32_t i = 0; i < session->probe.n_series; i++)
		if (probe_is_channel_of(&session->probe, i, node->metric[0].series))
			add_number(channels, session->probe.series[i].name,
				node->measured[0].bytes[i] / measured_total(&node->measured[0]));
}

static void add_calibration(
	struct json_object *object, const struct session *session, const struct judged_node *node)
{
	struct calibration found[TIER_METRICS_MAX];
	unsigned n = calibrate(session, node, found);
	struct json_object *list = n ? add_list(object, "calibration") : NULL;

	for (unsigned i = 0; i < n; i++) {
		struct json_object *member = append_object(list);

		add_text(member, "metric", found[i].metric);
		add_number(member, "factor", found[i].factor);
		add_number(member, "error", found[i].error);
		if (found[i].bytes)
			add_integer(member, "bytes", found[i].bytes);
	}
}

static void add_measurements(
	struct json_object *object, const struct session *session, const struct judged_node *node)
{
	struct json_object *list = add_list(object, "kernels");

	for (unsigned i = 0; i < node->n; i++)
		add_kernel(list, session, node, &node->measured[i]);
	add_metrics(object, node);
	add_channels(object, session, node);
	if (node->neighbour) {
		struct json_object *remote = add_object(object, "remote");

		add_integer(remote, "memory_of_node", node->neighbour->node);
		add_number(remote, "predicted", measured_total(&node->remote));
		add_shown(remote, "shown", session, &node->remote);
	}
	add_calibration(object, session, node);
	if (session_is_simulated(session))
		add_text(object, "peak_absent", "A simulated machine has no time.");
	else
		add_number(object, "peak_bytes_per_ns", judge_peak(node));
}

static void add_node(
	struct json_object *nodes, const struct session *session, const struct judged_node *node)
{
	struct json_object *object = append_object(nodes), *findings;

	add_integer(object, "node", node->place->node);
	if (node->socket != UINT32_MAX)
		add_integer(object, "socket", node->socket);
	json_object_object_add(
		object, "memory_only", json_object_new_boolean(node->place->memory_only));
	add_integer(object, "cores", node->place->n_cpus);
	add_integer(object, "cache_bytes", (int64_t)session_cache(session, node->place));
	add_text(object, "outcome", outcome_word(node->findings.outcome));
	findings = add_list(object, "findings");
	for (unsigned i = 0; i < node->findings.n; i++)
		json_object_array_add(
			findings, json_object_new_string(node->findings.finding[i].text));
	if (node->n)
		add_measurements(object, session, node);
}

struct json_object *report_json(
	const struct session *session, const struct judged_node nodes[], unsigned n)
{
	struct json_object *root = json_object_new_object(), *list;

	add_integer(root, "format", FORMAT);
	add_machine(root, session);
	add_text(root, "outcome", outcome_word(judge_outcome(nodes, n)));
	add_integer(root, "nodes_left_out", session->places.n_left_out);
	list = add_list(root, "nodes");
	for (unsigned i = 0; i < n; i++)
		add_node(list, session, &nodes[i]);
	return root;
}
