/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ClusterCockpit's specification of its line protocol gives mem_bw in MByte/s, as the sum of reads
 * and writes. Its collector takes nanoseconds as the time of a line, drops the domain from a host's
 * name, and numbers sockets as the kernel does. It knows the tag "unit"; its store ignores tags
 * that it does not know.
 */
#include "client/command/export/export-clustercockpit.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "client/command/export/export-reading.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"

enum { HOST_MAX = 256 };

static const struct bandwidth {
	const char *name;
	const char *metrics[2]; /* added up ... */
	const char *both;       /* ... or this metric, if the machine counts both together */
} bandwidths[] = {
	{ "mem_bw", { "dram.read", "dram.write" }, "dram.total" },
	{ "hbm_bw", { "hbm.read", "hbm.write" }, NULL },
};

struct bandwidth_sum {
	uint64_t bytes;
	uint32_t quality;
	const char *why; /* NULL: there is a sum */
};

/* The traffic between two samples of a socket. */
struct between {
	const struct export_reading *now;
	uint32_t socket;
	struct uncore_delta delta;
};

static void comment(FILE *out, const char *text)
{
	fputs("# ", out);
	text_print_plain(out, text);
	fputc('\n', out);
}

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
static const char *why_unknown(
	const struct between *between, const struct uncore_delta_value *value)
{
	if (value->quality & UNCORE_ABSENT)
		return uncore_why(between->now->reader.handle, value->why);
	for (size_t i = 0; i < ARRAY_SIZE(unknowns); i++)
		if (value->quality & unknowns[i].flag)
			return unknowns[i].why;
	return NULL;
}

/* False: the platform has no such metric, or the metric has no known value. */
static bool add(const struct between *between, const char *metric, struct bandwidth_sum *sum)
{
	const struct uncore_delta_value *value;
	const char *why;
	int m = metric ? uncore_find_metric(between->now->reader.handle, metric) : -1;

	if (m < 0)
		return false;
	value = &between->delta.values[m];
	why = why_unknown(between, value);
	if (why) {
		sum->why = why;
		return false;
	}
	sum->bytes += value->count;
	sum->quality |= value->quality;
	return true;
}

static struct bandwidth_sum add_up(const struct between *between, const struct bandwidth *bandwidth)
{
	struct bandwidth_sum both = { .why = NULL };
	struct bandwidth_sum sum = { .why = "This platform has no such counter." };

	if (add(between, bandwidth->both, &both))
		return both;
	if (add(between, bandwidth->metrics[0], &sum) && add(between, bandwidth->metrics[1], &sum))
		sum.why = NULL;
	return sum;
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

static void write_line(
	FILE *out, const struct between *between, const char *name, const struct bandwidth_sum *sum)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	char quality[FORMAT_QUALITY_MAX];

	uncore_describe_socket(between->now->reader.handle, between->socket, &socket);
	uncore_quality_words(sum->quality, quality, sizeof quality);
	fputs(name, out);
	write_host(out);
	fprintf(out, ",type=socket,type-id=%" PRIu32 ",unit=MB/s", socket.package);
	if (*quality)
		write_tag(out, "quality", quality);
	fprintf(out, " value=%.3f %" PRIu64 "\n",
		1e3 * format_rate(sum->bytes, between->delta.window_ns),
		between->now->epoch_ns + between->now->readout.samples[between->socket].end_ns);
}

static void write_bandwidth(
	FILE *out, const struct between *between, const struct bandwidth *bandwidth)
{
	struct bandwidth_sum sum = add_up(between, bandwidth);
	char text[2 * UNCORE_TEXT_MAX];

	if (!sum.why) {
		write_line(out, between, bandwidth->name, &sum);
		return;
	}
	snprintf(text, sizeof text, "%s of socket %" PRIu32 " is absent: %s", bandwidth->name,
		between->socket, sum.why);
	comment(out, text);
}

static void write_socket(FILE *out, const struct export_reading *before,
	const struct export_reading *now, uint32_t socket)
{
	struct between between = { .now = now, .socket = socket, .delta = UNCORE_DELTA_INIT };

	if (uncore_delta(&before->readout.samples[socket], &now->readout.samples[socket],
		    &between.delta) < 0) {
		comment(out, uncore_error_text());
		return;
	}
	if (!between.delta.window_ns) {
		comment(out, "Both readings are the same sweep, so there is no bandwidth.");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(bandwidths); i++)
		write_bandwidth(out, &between, &bandwidths[i]);
}

void export_clustercockpit(
	FILE *out, const struct export_reading *before, const struct export_reading *now)
{
	const struct export_reading *failed = before->error ? before : now;

	if (failed->error) {
		comment(out, failed->failure);
		return;
	}
	if (format_warning(now->reader.machine.platform))
		comment(out, format_warning(now->reader.machine.platform));
	for (uint32_t i = 0;
		i < now->reader.machine.n_sockets && i < before->reader.machine.n_sockets; i++)
		write_socket(out, before, now, i);
}
