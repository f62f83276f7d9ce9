/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ClusterCockpit's specification of its line protocol gives mem_bw in MByte/s, as the sum of reads
 * and writes. Its collector takes nanoseconds as the time of a line, drops the domain from a host's
 * name, and numbers sockets as the kernel does. It knows the tag "unit"; its store ignores tags
 * that it does not know, and metrics that it is not configured for.
 */
#include "client/command/export/export.h"
#include "client/command/export/exposition.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/total.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"
#include "common/unit.h"

enum { HOST_MAX = 256 };

static const struct bandwidth {
	const char *name, *tier;
} bandwidths[] = {
	{ "mem_bw", "dram" },
	{ "hbm_bw", "hbm" },
};

/* The traffic between two readings of a socket. */
struct between {
	const struct export_reading *now;
	struct format_socket socket;
};

/* Values with these flags are not written. A tag could say so, but the store drops it, and a graph
 * would show little or no traffic. */
static const struct {
	uint32_t flag;
	const char *why;
} unknowns[] = {
	{ UNCORE_RESET, "The hardware's count went back, and what it lost is not known." },
	{ UNCORE_FROZEN,
		"The counters stood still for some time, and what they missed is not known." },
};

/* NULL: the value is known. */
static const char *why_unknown(const struct format_value *value)
{
	if (!value)
		return "This platform has no such counter.";
	if (value->quality & UNCORE_ABSENT)
		return value->why;
	for (size_t i = 0; i < ARRAY_SIZE(unknowns); i++)
		if (value->quality & unknowns[i].flag)
			return unknowns[i].why;
	return NULL;
}

/* A comma, a blank or an equals sign within a tag has a backslash before it. */
static void write_tag(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",%s=", name);
	for (; *value; value++)
		fprintf(out, strchr(", =", *value) ? "\\%c" : "%c", *value);
}

static void write_host(FILE *out)
{
	char name[HOST_MAX] = "";

	gethostname(name, sizeof name - 1);
	text_make_plain(name);
	name[strcspn(name, ".")] = '\0';
	if (*name) /* a tag must not be empty; the collector also knows the host */
		write_tag(out, "hostname", name);
}

static void cockpit_write_line(FILE *out, const struct between *between, const char *name,
	const struct format_value *value)
{
	const struct format_socket *socket = &between->socket;
	const struct unit *unit = unit_of(value->unit);
	char quality[FORMAT_QUALITY_MAX];

	uncore_quality_words(value->quality, quality, sizeof quality);
	fputs(name, out);
	write_host(out);
	fprintf(out, ",type=socket,type-id=%" PRIi64 ",unit=%s", socket->package, unit->rate);
	if (*quality)
		write_tag(out, "quality", quality);
	fprintf(out, " value=%.3f %" PRIu64 "\n", unit->rate_factor * value->rate,
		between->now->epoch_ns + between->now->readout.samples[socket->socket].end_ns);
}

static void cockpit_write_figure(FILE *out, const struct between *between, const char *name,
	const struct format_value *value)
{
	const char *why = why_unknown(value);

	if (why)
		exposition_comment(out, "%s of socket %" PRIu32 " is absent: %s", name,
			between->socket.socket, why);
	else
		cockpit_write_line(out, between, name, value);
}

/* If neither reads nor writes have values, there is no total, and the reads say why. */
static void write_bandwidth(
	FILE *out, const struct between *between, const struct bandwidth *bandwidth)
{
	const struct format_value *total =
		format_find_of(&between->socket, bandwidth->tier, "total");

	cockpit_write_figure(out, between, bandwidth->name,
		total ? total : format_find_of(&between->socket, bandwidth->tier, "read"));
}

static bool is_in_bandwidth(const struct format_socket *socket, const struct format_value *value)
{
	static const char *const parts[] = { "read", "write", "total" };

	for (size_t i = 0; i < ARRAY_SIZE(bandwidths); i++)
		for (size_t k = 0; k < ARRAY_SIZE(parts); k++)
			if (format_find_of(socket, bandwidths[i].tier, parts[k]) == value)
				return true;
	return false;
}

/* A line of pmm.read is named uncore_pmm_read. */
static void cockpit_write_metric(FILE *out, const struct between *between, const char *metric)
{
	const struct format_value *value = format_find(&between->socket, metric);
	char name[sizeof "uncore_" + UNCORE_NAME_MAX];

	if (is_in_bandwidth(&between->socket, value) || format_is_check(metric))
		return;
	snprintf(name, sizeof name, "uncore_%s", metric);
	for (char *dot = name; (dot = strchr(dot, '.'));)
		*dot = '_';
	cockpit_write_figure(out, between, name, value);
}

static void cockpit_write_socket(FILE *out, const struct between *between)
{
	const struct uncore *handle = between->now->reader.handle;

	if (!between->socket.window_ns) {
		exposition_comment(
			out, "Both readings are the same sweep, so there is no bandwidth.");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(bandwidths); i++)
		write_bandwidth(out, between, &bandwidths[i]);
	for (uint32_t m = 0; m < between->now->reader.machine.n_metrics; m++)
		cockpit_write_metric(out, between, uncore_metric_name(handle, m));
}

static int write_sockets(
	FILE *out, const struct export_reading *before, const struct export_reading *now)
{
	_cleanup_(total_done) struct total total = {};
	struct between between = { .now = now };
	int r = total_init(&total, now->reader.machine.n_sockets, NULL);

	if (r < 0)
		return r;
	total_add_tiers(&total, now->reader.handle);
	r = total_add_interval(&total, &before->readout, &now->readout);
	for (uint32_t i = 0; r == 0 && i < total.n_sockets; i++) {
		total_show(&total, now->reader.handle, i, &between.socket);
		cockpit_write_socket(out, &between);
	}
	return r;
}

void export_clustercockpit(
	FILE *out, const struct export_reading *before, const struct export_reading *now)
{
	const struct export_reading *failed = before->error ? before : now;
	int r;

	if (failed->error) {
		exposition_comment(out, "%s", failed->failure);
		return;
	}
	if (format_warning(now->reader.machine.platform))
		exposition_comment(out, "%s", format_warning(now->reader.machine.platform));
	r = write_sockets(out, before, now);
	if (r < 0)
		exposition_comment(out, "%s", reader_failure(r));
}
