/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics for Prometheus. An absent value has no series, and a comment says why. The counters
 * of a new generation begin at zero, and rate() takes that for a reset. So no label names the
 * generation, and no series ends with it.
 */
#include "client/command/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "client/command/export/exposition.h"
#include "client/records/json.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/unit.h"

static const char GAUGE[] = "gauge", COUNTER[] = "counter";

static void family(
	struct exposition *exposition, const char *type, const char *name, const char *help)
{
	exposition_family(exposition, &(struct exposition_family){ name, type, help });
}

/* Begins a family of one series, which has no socket. */
static void single(
	struct exposition *exposition, const char *type, const char *name, const char *help)
{
	family(exposition, type, name, help);
	exposition_begin(exposition);
}

/* Begins a series of socket @i. */
static void begin_of_socket(
	struct exposition *exposition, const struct export_reading *reading, uint32_t i)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;

	exposition_begin(exposition);
	exposition_number(exposition, "socket", i);
	if (uncore_describe_socket(reading->reader.handle, i, &socket) == 0)
		exposition_number(exposition, "package", socket.package);
}

/* --- what the sockets moved --- */

static void prometheus_write_value(struct exposition *exposition, const char *unit, uint64_t count)
{
	if (unit_of(unit)->is_nano)
		exposition_nano(exposition, count);
	else
		exposition_count(exposition, count);
}

static void tell_absent(
	struct exposition *exposition, const struct export_reading *reading, uint32_t i, uint32_t m)
{
	exposition_comment(exposition->out, "%s of socket %" PRIu32 " is absent: %s",
		uncore_metric_name(reading->reader.handle, m), i,
		uncore_why(reading->reader.handle, reading->readout.samples[i].values[m].why));
}

static void prometheus_write_metric(
	struct exposition *exposition, const struct export_reading *reading, uint32_t m)
{
	const char *metric = uncore_metric_name(reading->reader.handle, m);
	const char *unit = uncore_metric_unit(reading->reader.handle, m);
	char name[EXPOSITION_NAME_MAX], help[UNCORE_TEXT_MAX];

	exposition_name(metric, unit_of(unit)->total, name);
	snprintf(help, sizeof help, "%s of everything that the socket did, for all users.", metric);
	family(exposition, COUNTER, name, help);
	for (uint32_t i = 0; i < reading->reader.machine.n_sockets; i++) {
		const struct uncore_value *value = &reading->readout.samples[i].values[m];

		if (value->quality & UNCORE_ABSENT) {
			tell_absent(exposition, reading, i, m);
			continue;
		}
		begin_of_socket(exposition, reading, i);
		prometheus_write_value(exposition, unit, value->count);
	}
}

static void prometheus_write_metrics(
	struct exposition *exposition, const struct export_reading *reading)
{
	for (uint32_t m = 0; m < reading->reader.machine.n_metrics; m++)
		if (!format_is_check(uncore_metric_name(reading->reader.handle, m)))
			prometheus_write_metric(exposition, reading, m);
}

/* --- what their channels moved --- */

/* Begins a series of this channel. False: its value is absent, and a comment says why. */
static bool prometheus_begin_channel(struct exposition *exposition,
	const struct export_reading *reading, const struct uncore_channel *channel,
	const struct uncore_channel_value *value)
{
	if (value->quality & UNCORE_ABSENT) {
		exposition_comment(exposition->out,
			"%s of channel %s of socket %" PRIu32 " is absent: %s",
			uncore_metric_name(reading->reader.handle, channel->metric), channel->name,
			channel->socket, uncore_why(reading->reader.handle, value->why));
		return false;
	}
	begin_of_socket(exposition, reading, channel->socket);
	exposition_label(exposition, "channel", channel->name);
	return true;
}

static void write_channels_of(
	struct exposition *exposition, const struct export_reading *reading, uint32_t m)
{
	const char *metric = uncore_metric_name(reading->reader.handle, m);
	const char *unit = uncore_metric_unit(reading->reader.handle, m);
	char name[EXPOSITION_NAME_MAX], help[UNCORE_TEXT_MAX];

	snprintf(help, sizeof help, "channel_%s", metric);
	exposition_name(help, unit_of(unit)->total, name);
	snprintf(help, sizeof help, "%s of everything that the memory channel did, for all users.",
		metric);
	family(exposition, COUNTER, name, help);
	for (uint32_t c = 0; c < reading->reader.machine.n_channels; c++) {
		struct uncore_channel channel = UNCORE_CHANNEL_INIT;

		if (uncore_describe_channel(reading->reader.handle, c, &channel) == 0 &&
			channel.metric == m &&
			prometheus_begin_channel(
				exposition, reading, &channel, &reading->readout.channels[c]))
			prometheus_write_value(
				exposition, unit, reading->readout.channels[c].count);
	}
}

static void prometheus_write_channels(
	struct exposition *exposition, const struct export_reading *reading)
{
	for (uint32_t m = 0; reading->readout.channels && m < reading->reader.machine.n_metrics;
		m++)
		if (!format_is_check(uncore_metric_name(reading->reader.handle, m)))
			write_channels_of(exposition, reading, m);
}

/* --- how good the values are --- */

/* Begins a series of the flag 1 << @bit of metric @m of socket @i. */
static void begin_flag(struct exposition *exposition, const struct export_reading *reading,
	uint32_t i, uint32_t m, unsigned bit)
{
	char word[FORMAT_QUALITY_MAX];

	uncore_quality_words(1U << bit, word, sizeof word);
	begin_of_socket(exposition, reading, i);
	exposition_label(exposition, "metric", uncore_metric_name(reading->reader.handle, m));
	exposition_label(exposition, "flag", word);
}

static void prometheus_write_flags(
	struct exposition *exposition, const struct export_reading *reading, uint32_t i, uint32_t m)
{
	const uint32_t quality = reading->readout.samples[i].values[m].quality;
	bool known = true;

	/* All flags that this release does not know share one word, and a series may come only
	 * once. */
	for (unsigned bit = 0; known && (1U << bit) < UNCORE_ABSENT; bit++) {
		if (!(quality & 1U << bit))
			continue;
		begin_flag(exposition, reading, i, m, bit);
		exposition_count(exposition, 1);
		known = (1U << bit) <= UNCORE_STANDIN;
	}
}

static void write_raised(
	struct exposition *exposition, const struct export_reading *reading, uint32_t i, uint32_t m)
{
	const struct uncore_value *value = &reading->readout.samples[i].values[m];

	for (unsigned bit = 0; bit < UNCORE_PASSING_MAX; bit++) {
		if (!value->raised[bit])
			continue;
		begin_flag(exposition, reading, i, m, bit);
		exposition_count(exposition, value->raised[bit]);
	}
}

static void write_of_each_value(struct exposition *exposition, const struct export_reading *reading,
	void (*write)(struct exposition *exposition, const struct export_reading *reading,
		uint32_t i, uint32_t m))
{
	for (uint32_t m = 0; m < reading->reader.machine.n_metrics; m++) {
		if (format_is_check(uncore_metric_name(reading->reader.handle, m)))
			continue;
		for (uint32_t i = 0; i < reading->reader.machine.n_sockets; i++)
			if (!(reading->readout.samples[i].values[m].quality & UNCORE_ABSENT))
				write(exposition, reading, i, m);
	}
}

static void prometheus_write_quality(
	struct exposition *exposition, const struct export_reading *reading)
{
	family(exposition, GAUGE, "uncore_quality",
		"1: this flag makes the value less than exact; there is no series where it does "
		"not.");
	write_of_each_value(exposition, reading, prometheus_write_flags);
	family(exposition, GAUGE, "uncore_quality_raised_sweep",
		"The last sweep that raised this flag, also if it is not raised any more.");
	write_of_each_value(exposition, reading, write_raised);
}

/* --- each socket --- */

static void prometheus_write_packages(
	struct exposition *exposition, const struct export_reading *reading)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;

	family(exposition, GAUGE, "uncore_socket_info",
		"1; the kernel's number of the CPU package, and the CPU on which it is read.");
	for (uint32_t i = 0; i < reading->reader.machine.n_sockets; i++) {
		if (uncore_describe_socket(reading->reader.handle, i, &socket) < 0)
			continue;
		begin_of_socket(exposition, reading, i);
		if (socket.cpu != UINT32_MAX)
			exposition_number(exposition, "cpu", socket.cpu);
		exposition_count(exposition, 1);
	}
}

static void prometheus_write_sweeps(
	struct exposition *exposition, const struct export_reading *reading)
{
	uint32_t n = reading->reader.machine.n_sockets;

	family(exposition, COUNTER, "uncore_sweeps_total",
		"How often the socket's counters were read.");
	for (uint32_t i = 0; i < n; i++) {
		begin_of_socket(exposition, reading, i);
		exposition_count(exposition, reading->readout.samples[i].sweep);
	}
	family(exposition, GAUGE, "uncore_sweep_time_seconds",
		"When the socket's counters were read last, since 1970.");
	for (uint32_t i = 0; i < n; i++) {
		begin_of_socket(exposition, reading, i);
		exposition_nano(exposition, reading->epoch_ns + reading->readout.samples[i].end_ns);
	}
}

/* --- the site's policy, and uncored itself --- */

static void prometheus_write_policy(
	struct exposition *exposition, const struct export_reading *reading)
{
	const struct uncore_daemon *daemon = &reading->daemon;

	if (daemon->quantum > 1)
		exposition_comment(exposition->out,
			"The site has uncored round values down to multiples of %" PRIu64 " bytes.",
			daemon->quantum);
	single(exposition, GAUGE, "uncore_quantum_bytes",
		"Values are rounded down to multiples of so many bytes; 1: they are exact.");
	exposition_count(exposition, daemon->quantum);
	single(exposition, GAUGE, "uncore_min_interval_seconds",
		"For so long the site may hold back a reading.");
	exposition_nano(exposition, daemon->min_interval_ns);
}

/* How often each rule has refused something. Rules that have refused nothing are written, too: a
 * first refusal is then an increase. */
static void prometheus_write_refusals(
	struct exposition *exposition, const struct export_reading *reading)
{
	_cleanup_(json_document_done) struct json_document document = { .text = NULL };
	const struct json_value *by_rule;

	if (!reading->report) {
		if (*reading->failure)
			exposition_comment(exposition->out, "%s", reading->failure);
		return;
	}
	by_rule = json_member(json_document_take(&document, strdup(reading->report)), "refusals");
	family(exposition, COUNTER, "uncore_refusals_total",
		"Requests and connections that uncored refused by this rule since it was started.");
	JSON_EACH (by_rule, rule) {
		exposition_begin(exposition);
		exposition_label(exposition, "rule", rule->at);
		exposition_count(exposition, json_count(rule + 1));
	}
}

static void write_daemon(struct exposition *exposition, const struct export_reading *reading)
{
	const struct uncore_daemon *daemon = &reading->daemon;

	single(exposition, GAUGE, "uncore_clients", "Connections of uncored, this one included.");
	exposition_count(exposition, daemon->n_clients);
	single(exposition, COUNTER, "uncore_refused_total",
		"Requests and connections that uncored refused.");
	exposition_count(exposition, daemon->refused);
	single(exposition, COUNTER, "uncore_throttled_total",
		"Readings that had to wait for the budget or an interval.");
	exposition_count(exposition, daemon->throttled);
	single(exposition, COUNTER, "uncore_reader_cpu_seconds_total",
		"CPU time of the threads that read the counters.");
	exposition_nano(exposition, daemon->cpu_ns);
	single(exposition, GAUGE, "uncore_start_time_seconds",
		"When uncored was started, since 1970.");
	exposition_nano(exposition, reading->epoch_ns + daemon->started_ns);
}

static void write_info(struct exposition *exposition, const struct export_reading *reading)
{
	const char *warning = format_warning(reading->reader.machine.platform);
	char generation[FORMAT_GENERATION_MAX];

	if (warning)
		exposition_comment(exposition->out, "%s", warning);
	format_generation(reading->reader.machine.generation, generation);
	single(exposition, GAUGE, "uncore_info",
		"1; what is counted. A new generation: all counters began at zero.");
	exposition_label(exposition, "platform", reading->reader.machine.platform);
	exposition_label(exposition, "generation", generation);
	exposition_count(exposition, 1);
}

/* --- up or down --- */

static const char *reason_of(int error)
{
	static const struct {
		int error;
		const char *reason;
	} reasons[] = {
		{ -EACCES, "refused" },
		{ -ENODEV, "nothing_to_count" },
		{ -EPERM, "counters_forbidden" },
		{ -EINVAL, "misconfigured" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].error == error)
			return reasons[i].reason;
	return "no_answer";
}

static void write_up(struct exposition *exposition, int error)
{
	single(exposition, GAUGE, "uncore_up", "1: uncored gave the values; 0: there are none.");
	exposition_count(exposition, error == 0);
	if (!error)
		return;
	single(exposition, GAUGE, "uncore_down_info", "1; why there are no values.");
	exposition_label(exposition, "reason", reason_of(error));
	exposition_count(exposition, 1);
}

void export_prometheus(FILE *out, const struct export_reading *reading)
{
	struct exposition exposition = { .out = out };

	if (reading->error)
		exposition_comment(out, "%s", reading->failure);
	write_up(&exposition, reading->error);
	if (reading->error)
		return;
	write_info(&exposition, reading);
	prometheus_write_metrics(&exposition, reading);
	prometheus_write_channels(&exposition, reading);
	prometheus_write_quality(&exposition, reading);
	prometheus_write_packages(&exposition, reading);
	prometheus_write_sweeps(&exposition, reading);
	prometheus_write_policy(&exposition, reading);
	write_daemon(&exposition, reading);
	prometheus_write_refusals(&exposition, reading);
}
