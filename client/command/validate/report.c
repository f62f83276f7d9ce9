/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "client/command/frame/validated.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"
#include "common/wire.h"

enum { FORMAT = 1 }; /* counts changes of this document that break its readers */

/* Seven digits: no figure here is more precise. */
static void write_real(struct jsonwriter *json, const char *key, double number)
{
	jsonwriter_rounded(json, key, number, 7);
}

/* --- the machine --- */

/* What tells one kind of the first CPU from another, by its own keys: x86's, POWER's, Arm's. */
static void write_processor(struct jsonwriter *json)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "model name",
		"stepping", "microcode", "cpu", "revision", "CPU implementer", "CPU part" };
	_cleanup_file_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof line, file) && *line != '\n') {
		char key[64], value[sizeof line] = "";

		if (sscanf(line, "%63[^\t]%*[\t]: %255[^\n]", key, value) < 1)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (strcmp(key, keys[i]) == 0)
				jsonwriter_text(json, key, value);
	}
}

static unsigned count_paths(const char *pattern)
{
	glob_t found = { .gl_pathc = 0 };
	unsigned n = glob(pattern, 0, NULL, &found) == 0 ? (unsigned)found.gl_pathc : 0;

	globfree(&found);
	return n;
}

/* How many DIMMs and memory controllers the kernel shows (EDAC). */
static void write_memory(struct jsonwriter *json)
{
	const unsigned n_dimms = count_paths("/sys/devices/system/edac/mc/mc*/dimm*");

	if (!n_dimms)
		return;
	jsonwriter_signed(json, "dimms", n_dimms);
	jsonwriter_signed(
		json, "memory_controllers", count_paths("/sys/devices/system/edac/mc/mc*"));
}

static void write_date(struct jsonwriter *json)
{
	time_t now = time(NULL);
	struct tm utc;
	char text[32];

	if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%d", &utc))
		jsonwriter_text(json, "date", text);
}

static void write_machine(struct jsonwriter *json, const struct session *session)
{
	struct utsname system;
	char boot[VALIDATED_BOOT_MAX], command[VALIDATE_COMMAND_MAX];

	uname(&system);
	validate_options_text(&session->options, command);
	validated_boot(boot);
	jsonwriter_text(json, "platform", session->probe.reader.machine.platform);
	jsonwriter_flag(json, "simulated", session_is_simulated(session));
	jsonwriter_signed(json, "sockets", session->probe.reader.machine.n_sockets);
	jsonwriter_object(json, "processor");
	write_processor(json);
	jsonwriter_close(json);
	write_memory(json);
	jsonwriter_text(json, "kernel", system.release);
	jsonwriter_text(json, "architecture", system.machine);
	jsonwriter_text(json, "uncore", UNCORE_VERSION);
	jsonwriter_text(json, "command", command);
	write_date(json);
	jsonwriter_text(json, "boot", boot);
	if (session->options.host_name)
		jsonwriter_text(json, "host", system.nodename);
}

/* --- a node --- */

static void write_shown(
	struct jsonwriter *json, const struct session *session, const struct measured *measured)
{
	const struct probe *probe = &session->probe;

	jsonwriter_array(json, "shown");
	for (uint32_t socket = 0; socket < probe->reader.machine.n_sockets; socket++) {
		jsonwriter_object(json, NULL);
		for (uint32_t i = 0; i < probe->n_series && !probe->series[i].is_channel; i++)
			if (probe->series[i].socket == socket && probe_has(probe, i))
				write_real(json, probe->series[i].name, measured->bytes[i]);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void write_kernel(
	struct jsonwriter *json, const struct judged_node *node, const struct measured *measured)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "kernel", measured->kernel->name);
	jsonwriter_signed(json, "threads", measured->n_threads);
	jsonwriter_object(json, "predicted");
	write_real(json, "read", measured->predicted.read);
	write_real(json, "allocated", measured->predicted.allocated);
	write_real(json, "written", measured->predicted.written);
	jsonwriter_close(json);
	write_shown(json, node->session, measured);
	write_real(json, "error", measured->error);
	write_real(json, "background", measured->background);
	jsonwriter_signed(json, "repetitions", measured->n);
	jsonwriter_signed(json, "dropped", measured->n_dropped);
	if (!isnan(judge_evaded(node, measured)))
		write_real(json, "evaded", judge_evaded(node, measured));
	if (!session_is_simulated(node->session))
		write_real(json, "ns", measured->best_ns);
	jsonwriter_close(json);
}

static void write_metrics(struct jsonwriter *json, const struct judged_node *node)
{
	jsonwriter_array(json, "metrics");
	for (unsigned i = 0; i < node->views.n; i++) {
		const struct metric_view *view = &node->views.view[i];

		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "metric", view->metric);
		write_real(json, "reads", view->shown.fit.reads);
		write_real(json, "writes", view->shown.fit.writes);
		write_real(json, "error", view->shown.fit.error);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void write_channels(struct jsonwriter *json, const struct judged_node *node)
{
	jsonwriter_object(json, "channels");
	for (uint32_t i = 0; i < node->session->probe.n_series; i++)
		if (probe_is_channel_of(&node->session->probe, i, node->views.view[0].series))
			write_real(json, node->session->probe.series[i].name,
				node->measured[0].bytes[i] / measured_total(&node->measured[0]));
	jsonwriter_close(json);
}

static void write_own_channels(struct jsonwriter *json, const struct judged_node *node)
{
	const struct channels *channels = &node->channels[0];
	char names[CHANNELS_MAX * 16] = "";

	for (unsigned i = 0; i < channels->n; i++)
		if (channels->channel[i].is_active)
			text_append(names, sizeof names, "%s%s", *names ? " " : "",
				channels->channel[i].name);
	jsonwriter_text(json, "own_channels", names);
	if (channels->n_active)
		write_real(json, "expected_of_channel", 1.0 / channels->n_expected);
}

static void write_calibration(struct jsonwriter *json, const struct judged_node *node)
{
	struct calibration found[TIER_METRICS_MAX];
	unsigned n = calibrate(node, found);

	if (!n)
		return;
	jsonwriter_array(json, "calibration");
	for (unsigned i = 0; i < n; i++) {
		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "metric", found[i].metric);
		write_real(json, "factor", found[i].factor);
		write_real(json, "error", found[i].error);
		if (found[i].bytes)
			jsonwriter_signed(json, "bytes", found[i].bytes);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void write_remote(struct jsonwriter *json, const struct judged_node *node)
{
	jsonwriter_object(json, "remote");
	jsonwriter_signed(json, "memory_of_node", node->neighbour->node);
	write_real(json, "predicted", measured_total(&node->remote));
	write_shown(json, node->session, &node->remote);
	jsonwriter_close(json);
}

static void write_measurements(struct jsonwriter *json, const struct judged_node *node)
{
	jsonwriter_array(json, "kernels");
	for (unsigned i = 0; i < node->n; i++)
		write_kernel(json, node, &node->measured[i]);
	jsonwriter_close(json);
	write_metrics(json, node);
	write_channels(json, node);
	write_own_channels(json, node);
	if (node->neighbour)
		write_remote(json, node);
	write_calibration(json, node);
	if (judge_no_peak(node))
		jsonwriter_text(json, "peak_absent", judge_no_peak(node));
	else
		write_real(json, "peak_bytes_per_ns", judge_peak(node));
}

static void write_node(struct jsonwriter *json, const struct judged_node *node)
{
	jsonwriter_object(json, NULL);
	jsonwriter_signed(json, "node", node->place->node);
	if (node->socket != UINT32_MAX)
		jsonwriter_signed(json, "socket", node->socket);
	jsonwriter_signed(json, "nodes_of_package", node->place->n_nodes_of_package);
	jsonwriter_flag(json, "memory_only", node->place->memory_only);
	jsonwriter_signed(json, "cores", node->place->n_cpus);
	jsonwriter_signed(json, "cache_bytes", (int64_t)session_cache(node->session, node->place));
	jsonwriter_text(json, "outcome", outcome_word(node->findings.outcome));
	jsonwriter_array(json, "findings");
	for (unsigned i = 0; i < node->findings.n; i++)
		jsonwriter_text(json, NULL, node->findings.finding[i].text);
	jsonwriter_close(json);
	if (node->n)
		write_measurements(json, node);
	jsonwriter_close(json);
}

char *report_json(const struct session *session)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char *text = NULL;

	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	jsonwriter_signed(&json, "format", FORMAT);
	write_machine(&json, session);
	jsonwriter_text(&json, "outcome", outcome_word(judge_outcome(session)));
	jsonwriter_signed(&json, "nodes_left_out", session->places.n_left_out);
	jsonwriter_array(&json, "nodes");
	for (unsigned i = 0; i < session->n_nodes; i++)
		write_node(&json, &session->nodes[i]);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	jsonwriter_finish(&json, &text);
	return text;
}

/* --- what a site sends in --- */

int report_text(FILE *out, const struct session *session, const char *json)
{
	_cleanup_free_ char *text = NULL;
	char command[VALIDATE_COMMAND_MAX];
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return -ENOMEM;
	validate_options_text(&session->options, command);
	fprintf(memory,
		"What the counters of a machine show, for the tracker of uncored. It names no\n"
		"host and no user. Please send all of it as it is.\n\n$ %s\n",
		command);
	print_all(memory, session);
	fprintf(memory, "\n%s\n", json);
	if (fclose(memory) == EOF)
		return -ENOMEM;
	fprintf(out, "%sfnv1a %016" PRIx64 "\n", text, wire_hash(text, size));
	return 0;
}
