/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/validated.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/command/frame/written.h"
#include "client/records/read.h"
#include "common/macro.h"

static const char FOLDER[] = "/var/lib/uncored", PATH[] = "/var/lib/uncored/validated.json";

static int validated_write_file(const char *report)
{
	_cleanup_(written_done) struct written file = { .out = NULL };
	int r = written_open(PATH, WRITTEN_WHOLE, &file);

	if (r < 0)
		return r;
	fprintf(file.out, "%s\n", report);
	if (fchmod(fileno(file.out), 0644) < 0)
		return -errno;
	return written_end(&file);
}

int validated_keep(const char *report)
{
	int r = 0;

	/* Users may read it, whatever the umask. */
	if ((mkdir(FOLDER, 0755) < 0 && errno != EEXIST) || chmod(FOLDER, 0755) < 0)
		r = -errno;
	if (r == 0)
		r = validated_write_file(report);
	if (r < 0)
		fprintf(stderr, "uncore validate: cannot write %s: %s.%s\n", PATH, strerror(-r),
			r == -EACCES ? " Only root may keep a report." : "");
	return r;
}

bool validated_read(struct validated *ret, const char *platform)
{
	char *text = NULL;

	record_read_text(PATH, &text);
	ret->report = json_document_take(&ret->document, text);
	/* A disk may have moved from one machine to another. */
	if (ret->report && strcmp(json_text(ret->report, "platform", ""), platform) != 0)
		ret->report = NULL;
	return ret->report;
}

void validated_done(struct validated *validated)
{
	json_document_done(&validated->document);
}

void validated_boot(char ret[VALIDATED_BOOT_MAX])
{
	_cleanup_file_ FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(ret, VALIDATED_BOOT_MAX, file))
		*ret = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

bool validated_is_of_this_boot(const struct validated *validated)
{
	char boot[VALIDATED_BOOT_MAX];

	validated_boot(boot);
	return strcmp(json_text(validated->report, "boot", ""), boot) == 0;
}

static void print_metric(const struct json_value *metric)
{
	printf("; %s shows %.3f of the reads and %.3f of the writes",
		json_text(metric, "metric", "?"), json_real(metric, "reads"),
		json_real(metric, "writes"));
}

static void validated_print_node(const struct json_value *node)
{
	const struct json_value *findings = json_list(node, "findings");
	const struct json_value *metrics = json_list(node, "metrics");

	printf("  node %s: %s", json_text(node, "node", "?"), json_text(node, "outcome", "?"));
	JSON_EACH (metrics, metric)
		print_metric(metric);
	if (json_has(node, "peak_bytes_per_ns"))
		printf("; fastest kernel %.1f GB/s", json_real(node, "peak_bytes_per_ns"));
	printf("\n");
	JSON_EACH (findings, finding)
		printf("    %s\n", json_scalar(finding, "?"));
}

void validated_print(const char *platform)
{
	_cleanup_(validated_done) struct validated validated;
	const struct json_value *nodes;

	if (!validated_read(&validated, platform))
		return;
	printf("\nValidated on %s, under Linux %s\n", json_text(validated.report, "date", "?"),
		json_text(validated.report, "kernel", "?"));
	nodes = json_list(validated.report, "nodes");
	JSON_EACH (nodes, node)
		validated_print_node(node);
}

/* Did the report look for the node's bytes in metrics of @tier, such as "dram"? */
static bool validated_is_of_tier(const struct json_value *node, const char *tier)
{
	const struct json_value *metrics = json_list(node, "metrics");
	const char *metric = json_text(json_next(metrics, NULL), "metric", "");
	const size_t n = strlen(tier);

	return strncmp(metric, tier, n) == 0 && metric[n] == '.';
}

/* @socket negative: of all sockets. */
static double sum_peaks(const struct validated *validated, int64_t socket, const char *tier)
{
	const struct json_value *nodes = json_list(validated->report, "nodes");
	double peak = 0;

	JSON_EACH (nodes, node) {
		if (!json_has(node, "socket") || !validated_is_of_tier(node, tier) ||
			(socket >= 0 && (int64_t)json_number(node, "socket") != socket))
			continue;
		if (!json_has(node, "peak_bytes_per_ns"))
			return 0;
		peak += json_real(node, "peak_bytes_per_ns");
	}
	return peak;
}

double validated_peak_of(const struct validated *validated, uint32_t socket, const char *tier)
{
	return sum_peaks(validated, socket, tier);
}

double validated_peak_of_all(const struct validated *validated)
{
	return sum_peaks(validated, -1, "dram");
}
