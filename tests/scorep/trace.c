/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/scorep/trace.h"

#include <err.h>
#include <string.h>
#include <time.h>

#include <otf2/otf2.h>

enum { THREADS = 2, REGIONS_MAX = 32, STRINGS_MAX = 1024 };

static OTF2_Archive *archive;
static OTF2_GlobalDefWriter *definitions;
static uint64_t opened_ns, n_events[THREADS + SCOREP_METRICS_MAX];
static const char *regions[REGIONS_MAX];
static uint32_t n_regions, n_strings, n_metrics;
static bool has_strict;

static void must(OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS)
		errx(1, "OTF2: %s", OTF2_Error_GetDescription(code));
}

uint64_t trace_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static OTF2_FlushType before_flush(
	void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
	(void)data, (void)type, (void)location, (void)caller, (void) final;
	return OTF2_FLUSH;
}

static uint32_t string_of(const char *text)
{
	must(OTF2_GlobalDefWriter_WriteString(definitions, n_strings, text));
	return n_strings++;
}

static OTF2_EvtWriter *writer_of(uint64_t location)
{
	n_events[location]++;
	return OTF2_Archive_GetEvtWriter(archive, location);
}

void trace_open(const char *folder)
{
	static const OTF2_FlushCallbacks flush = { .otf2_pre_flush = before_flush };

	archive = OTF2_Archive_Open(folder, "trace", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
		OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!archive)
		errx(1, "OTF2 cannot make %s", folder);
	must(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
	must(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
	must(OTF2_Archive_OpenEvtFiles(archive));
	definitions = OTF2_Archive_GetGlobalDefWriter(archive);
	opened_ns = trace_clock();
	string_of("");
	must(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, string_of("node"),
		string_of("node"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	must(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, 0, string_of("process"),
		OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP));
}

static void define_metric(const struct scorep_metric *metric, uint32_t number, bool is_strict)
{
	must(OTF2_GlobalDefWriter_WriteMetricMember(definitions, number, string_of(metric->name),
		string_of(metric->description), OTF2_METRIC_TYPE_OTHER,
		(OTF2_MetricMode)metric->mode,
		metric->type == SCOREP_UINT64 ? OTF2_TYPE_UINT64 : OTF2_TYPE_NONE,
		(OTF2_Base)metric->base, metric->exponent, string_of(metric->unit)));
	if (is_strict)
		return;
	must(OTF2_GlobalDefWriter_WriteMetricClass(definitions, 2 * number, 1, &number,
		OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_ABSTRACT));
	must(OTF2_GlobalDefWriter_WriteMetricInstance(definitions, 2 * number + 1, 2 * number,
		THREADS + number, OTF2_SCOPE_SYSTEM_TREE_NODE, 0));
}

void trace_define(const struct scorep_metric metrics[], uint32_t n, bool is_strict)
{
	uint32_t numbers[SCOREP_METRICS_MAX];

	for (uint32_t i = 0; i < n; i++) {
		numbers[i] = i;
		define_metric(&metrics[i], i, is_strict);
	}
	if (is_strict && n > 0)
		must(OTF2_GlobalDefWriter_WriteMetricClass(definitions, 0, (uint8_t)n, numbers,
			OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU));
	n_metrics = n;
	has_strict = is_strict && n > 0;
}

static uint32_t region_of(const char *name)
{
	uint32_t i = 0;

	while (i < n_regions && strcmp(regions[i], name) != 0)
		i++;
	if (i < n_regions)
		return i;
	regions[n_regions] = name;
	must(OTF2_GlobalDefWriter_WriteRegion(definitions, i, string_of(name), 0, 0,
		OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, 0, 0));
	return n_regions++;
}

void trace_event(uint32_t thread, bool enters, const char *region, const uint64_t values[])
{
	OTF2_MetricValue written[SCOREP_METRICS_MAX];
	OTF2_Type types[SCOREP_METRICS_MAX];
	const uint64_t now = trace_clock();

	for (uint32_t i = 0; i < n_metrics; i++) {
		types[i] = OTF2_TYPE_UINT64;
		written[i].unsigned_int = values[i];
	}
	if (has_strict)
		must(OTF2_EvtWriter_Metric(
			writer_of(thread), NULL, now, 0, (uint8_t)n_metrics, types, written));
	if (enters)
		must(OTF2_EvtWriter_Enter(writer_of(thread), NULL, now, region_of(region)));
	else
		must(OTF2_EvtWriter_Leave(writer_of(thread), NULL, now, region_of(region)));
}

void trace_value(uint32_t metric, struct scorep_pair pair)
{
	const OTF2_Type type = OTF2_TYPE_UINT64;
	const OTF2_MetricValue value = { .unsigned_int = pair.value };

	must(OTF2_EvtWriter_Metric(
		writer_of(THREADS + metric), NULL, pair.time, 2 * metric + 1, 1, &type, &value));
}

static void close_location(uint64_t location)
{
	OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, location);

	must(OTF2_GlobalDefWriter_WriteLocation(definitions, location, 0,
		location < THREADS ? OTF2_LOCATION_TYPE_CPU_THREAD : OTF2_LOCATION_TYPE_METRIC,
		n_events[location], 0));
	must(OTF2_Archive_CloseDefWriter(archive, local));
}

void trace_close(void)
{
	const uint64_t n = THREADS + n_metrics;

	must(OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000000, opened_ns,
		trace_clock() - opened_ns, OTF2_UNDEFINED_TIMESTAMP));
	for (uint64_t location = 0; location < n; location++)
		must(OTF2_Archive_CloseEvtWriter(
			archive, OTF2_Archive_GetEvtWriter(archive, location)));
	must(OTF2_Archive_CloseEvtFiles(archive));
	must(OTF2_Archive_OpenDefFiles(archive));
	for (uint64_t location = 0; location < n; location++)
		close_location(location);
	must(OTF2_Archive_CloseDefFiles(archive));
	must(OTF2_Archive_Close(archive));
}
