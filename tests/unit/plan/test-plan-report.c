/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncored --check --json` of a machine tree, key by key: these keys are promised. */
#include "daemon/plan/plan-report.h"
#include "tests/harness/test.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/read/counters.h"

/* The plan of a machine where the site enables metrics. */
static void plan_machine(const char *machine, const char *enabled, struct counters *counters)
{
	char root[512], platforms[512];
	const char *const directories[] = { platforms, NULL };
	const struct counters_origin origin = { .root = root, .platform_dirs = directories };
	struct config config = {};
	struct fault fault = {};

	snprintf(root, sizeof root, "%s/tests/machines/%s", getenv("UNCORE_BUILD_ROOT"), machine);
	snprintf(platforms, sizeof platforms, "%s/conf/platforms", getenv("UNCORE_SOURCE_ROOT"));
	strcpy(config.enabled_metrics, enabled);
	if (counters_plan(counters, &origin, &config, &fault) < 0)
		fail_msg("%s", fault.text);
}

static struct json_object *check_machine(const char *machine)
{
	struct counters counters = {};
	struct json_object *report;
	char *text;

	plan_machine(machine, "", &counters);
	plan_take_checks(&counters.plan);
	text = plan_report_json(&counters.plan, NULL, NULL);
	counters_done(&counters);
	assert_non_null(text);
	report = json_tokener_parse(text);
	assert_non_null(report);
	free(text);
	return report;
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	if (!value)
		fail_msg("no key %s in %s", key, json_object_to_json_string(object));
	return value;
}

static struct json_object *element(struct json_object *object, const char *key, size_t index)
{
	struct json_object *value = json_object_array_get_idx(member(object, key), index);

	if (!value)
		fail_msg("no element %zu in %s", index, key);
	return value;
}

static void assert_text(struct json_object *object, const char *key, const char *text)
{
	assert_string_equal(json_object_get_string(member(object, key)), text);
}

static void assert_number(struct json_object *object, const char *key, int number)
{
	assert_int_equal(json_object_get_int(member(object, key)), number);
}

CASE("Ice Lake is reported with the promised keys")
{
	struct json_object *report = check_machine("icelake-sp");
	struct json_object *socket = element(report, "sockets", 1), *box, *event;

	assert_text(report, "platform", "icelake-sp");
	assert_text(report, "title", "Intel Ice Lake-SP and Ice Lake-D");
	assert_non_null(strstr(json_object_get_string(member(report, "path")), "/icelake-sp.conf"));
	assert_non_null(strstr(
		json_object_get_string(member(report, "not_enabled")), "pcie.read pcie.write"));
	assert_number(socket, "socket", 1);
	assert_number(socket, "package", 1);
	box = element(socket, "boxes", 0);
	assert_text(box, "pmu", "uncore_imc_0");
	assert_number(box, "type", 4000);
	assert_number(box, "cpu", 4);
	event = element(box, "events", 0);
	assert_text(event, "metric", "dram.read");
	assert_text(event, "config", "0xf04");
	assert_text(event, "config1", "0x0");
	assert_number(event, "bytes", 64);
	assert_true(json_object_array_length(member(report, "absent")) > 0);
	json_object_put(report);
}

static unsigned count_texts(const char *text, const char *part)
{
	unsigned n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text += strlen(part);
	}
	return n;
}

/* Two sockets with 40 CHAs each, which have boxes of itom and specitom, too. */
CASE("a box of metrics that the site enables is told from the other one")
{
	_cleanup_free_ char *text = NULL, *json = NULL;
	struct counters counters = {};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	plan_machine("icelake-sp", "remote.in.read", &counters);
	json = plan_report_json(&counters.plan, NULL, NULL);
	plan_report_text(&counters.plan, out);
	fclose(out);
	counters_done(&counters);
	assert_int_equal(count_texts(json, "\"pmu\":\"uncore_cha_3\""), 4);
	assert_int_equal(count_texts(json, "\"extra\":true"), 80);
	assert_int_equal(
		count_texts(text, ", of metrics that the site enables: remote.in.read 0x"), 80);
	assert_int_equal(count_texts(text, ", of metrics that the site enables"), 80);
}

CASE("a PMU that several metrics look for in vain is named once to a person")
{
	_cleanup_free_ char *text = NULL;
	struct counters counters = {};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	plan_machine("zen4-kernel61", "", &counters);
	plan_report_text(&counters.plan, out);
	fclose(out);
	assert_true(counters.plan.n_missing > 1);
	counters_done(&counters);
	assert_int_equal(count_texts(text, "Not usable: amd_umc_[0-9]*: "), 1);
}

CASE("a metric that is absent everywhere is named once")
{
	struct json_object *report = check_machine("power9"), *absent = member(report, "absent");
	unsigned n_itom = 0;

	for (size_t i = 0; i < json_object_array_length(absent); i++) {
		struct json_object *entry = json_object_array_get_idx(absent, i);

		assert_true(strlen(json_object_get_string(member(entry, "why"))) > 10);
		n_itom += !strcmp(json_object_get_string(member(entry, "metric")), "itom");
	}
	assert_int_equal(n_itom, 1);
	json_object_put(report);
}

CASE("differences name the subtracted events")
{
	struct json_object *report = check_machine("knl-cache");
	struct json_object *boxes = member(element(report, "sockets", 0), "boxes");
	unsigned n_subtracted = 0;

	for (size_t i = 0; i < json_object_array_length(boxes); i++) {
		struct json_object *events = member(json_object_array_get_idx(boxes, i), "events");

		for (size_t k = 0; k < json_object_array_length(events); k++)
			n_subtracted += json_object_object_get(json_object_array_get_idx(events, k),
						"subtract") != NULL;
	}
	/* MISS_CLEAN and MISS_DIRTY of 8 EDCs, and the reads of 6 DDR channels. */
	assert_int_equal(n_subtracted, 2 * 8 + 6);
	json_object_put(report);
}

static struct json_object *served(struct json_object *report, const char *metric, int socket)
{
	struct json_object *list = member(report, "serves");

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);

		if (!strcmp(json_object_get_string(member(entry, "metric")), metric) &&
			json_object_get_int(member(entry, "socket")) == socket)
			return entry;
	}
	return NULL;
}

CASE("what is served says its quality and boxes")
{
	struct json_object *report = check_machine("cascade-lake-ap-die"), *entry;

	entry = served(report, "dram.read", 0);
	assert_non_null(entry);
	assert_string_equal(json_object_get_string(element(entry, "quality", 0)), "partial");
	assert_non_null(strstr(json_object_get_string(member(entry, "why")), "6 of 12 boxes"));
	assert_number(entry, "boxes", 6);
	assert_number(entry, "expected", 12);
	entry = served(report, "dram.read", 1);
	assert_non_null(entry);
	assert_int_equal(json_object_array_length(member(entry, "quality")), 0);
	assert_null(json_object_object_get(entry, "why"));
	assert_number(entry, "expected", 12);
	assert_null(served(report, "itom", 0));
	json_object_put(report);
}

CASE("a count in doubt is uncalibrated")
{
	struct json_object *report = check_machine("ampereone");
	struct json_object *entry = served(report, "dram.read", 0);

	assert_non_null(entry);
	assert_string_equal(json_object_get_string(element(entry, "quality", 0)), "uncalibrated");
	json_object_put(report);
}

CASE("a dispute between alias and file is told for the metric, the event and the log")
{
	static const char why[] =
		"this kernel's sysfs:cas_count_write is 0xc04, but raw:event=0x04,umask=0x30 is "
		"0x3004, which is counted";
	struct counters counters = {};
	struct json_object *report = check_machine("icelake-sp-kernel516"), *event, *entry;

	event = element(element(element(report, "sockets", 0), "boxes", 0), "events", 1);
	assert_text(event, "metric", "dram.write");
	assert_text(event, "config", "0x3004");
	assert_text(event, "via", "raw:event=0x04,umask=0x30");
	assert_text(event, "tried", why);
	assert_true(json_object_get_boolean(member(event, "disputed")));
	entry = served(report, "dram.write", 1);
	assert_text(entry, "why", why);
	assert_string_equal(json_object_get_string(element(entry, "quality", 0)), "uncalibrated");
	json_object_put(report);
	plan_machine("icelake-sp-kernel516", "", &counters);
	assert_string_equal(plan_find_dispute(&counters.plan, 1), why);
	assert_null(plan_find_dispute(&counters.plan, 6)); /* itom */
	counters.platform->metrics[1].calibrated = true;
	assert_null(plan_find_dispute(&counters.plan, 1));
	counters_done(&counters);
}

CASE("a metric that its check counts says so")
{
	struct json_object *report = check_machine("icelake-sp-fallback");

	assert_text(served(report, "dram.read", 0), "taken_from", "check.dram.read");
	assert_null(json_object_object_get(served(report, "pmm.read", 0), "taken_from"));
	json_object_put(report);
}
