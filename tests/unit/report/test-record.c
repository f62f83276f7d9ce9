/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as JSON, there and back; JSON that nobody should believe. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>

#include "client/records/parse.h"
#include "client/records/read.h"
#include "client/report/json.h"
#include "tests/unit/report/record-case.h"

static char *text_of(const struct record *record)
{
	char *text;

	assert_int_equal(record_json(record, &text), 0);
	return text;
}

static void parse(const char *text, struct record *ret)
{
	_cleanup_free_ char *copy = strdup(text);
	char why[JSON_READER_WHY_MAX] = "";

	if (record_parse(copy, ret, why) < 0)
		fail_msg("%s", why);
}

/* Takes @record. */
static void expect_the_same_back(struct record *record)
{
	_cleanup_free_ char *text = text_of(record), *again = NULL;
	struct record read;

	parse(text, &read);
	again = text_of(&read);
	assert_string_equal(text, again);
	record_done(&read);
	record_done(record);
}

/* Each member has a value that no other one has. */
static void fill_everything(struct record *record)
{
	struct record_region *region;

	record_case_init(record, 3);
	record_case_team(record);
	record->failure = strdup("uncored was restarted.");
	record->warning = strdup("Sampled.");
	region = record_case_region(record, "na\xc3\xafve \"x\\y\"/[0]", 4096);
	region->title = strdup("all that the \"name\" stands for");
	region->n_passages = 12;
	region->n_failed = 2;
	region->n_open = 3;
	region->n_died = 4;
	region->n_ranks = 5;
	region->time_ns = 6;
	region->lost_ns = 7;
	region->shared_ns = 8;
	region->member_ns = calloc(4, sizeof *region->member_ns);
	*region->member_ns = RECORD_NOT_KNOWN_NS;
	record->cost = (struct record_cost){ 3, 4000, 5, 600, 70, 8000 };
	region->misses = (struct record_misses){ .event = "page-faults", .count = 1011 };
	region->work[0] = (struct record_work){ "cell", 1e9 / 3 };
	region->work[1] = (struct record_work){ "bytes stored", 1e300 };
	region->sockets[1].values[0].quality = UNCORE_ESTIMATED | UNCORE_PARTIAL | 0x800000;
	record_case_share(record, region, 50);
	region->sockets[0].values[2].has_share = false;
	record->outside = calloc(1, sizeof *record->outside);
	assert_non_null(record->outside);
	record_case_sockets(record, record->outside, 555);
	record_case_share(record, record->outside, 100);
	region = record_case_region(record, "no figures", 1);
	for (uint32_t i = 0; i < 2; i++)
		free(region->sockets[i].values[4].why);
	free(take_ptr(region->sockets));
	region->n_sockets = 0;
	region->misses.absent = strdup("The kernel refuses.");
}

CASE("a record comes back the same from its JSON")
{
	struct record record;

	fill_everything(&record);
	expect_the_same_back(&record);
	record_case_init(&record, 0);
	expect_the_same_back(&record);
}

CASE("each member of the JSON is read back")
{
	_cleanup_free_ char *text = NULL;
	struct record record, read;
	const struct record_region *region;
	const struct record_value *value;

	fill_everything(&record);
	text = text_of(&record);
	record_done(&record);
	parse(text, &read);
	assert_string_equal(read.host, "n01");
	assert_string_equal(read.team, "4711.0");
	assert_string_equal(read.job, "4711");
	assert_string_equal(read.command, "lbm");
	assert_string_equal(read.version, "0.2.0");
	assert_string_equal(read.platform, "icelake-sp");
	assert_true(read.generation[0] == 0x0123456789abcdef && read.generation[1] == 1);
	assert_true(read.begun_ns == 1795408200123456789 && read.ended_ns == 1795408260000000001);
	assert_true(read.run == 2 && read.n_expected == 4 && read.n_members == 4);
	assert_true(read.members[3].died && read.members[3].rank == 3 &&
		    read.members[3].pid == 103 && !read.members[2].died);
	assert_string_equal(read.members[3].cpus, "0");
	assert_string_equal(read.failure, "uncored was restarted.");
	assert_string_equal(read.warning, "Sampled.");
	assert_true(read.cost.n_reading == 3 && read.cost.reading_ns == 4000 &&
		    read.cost.n_timed == 5 && read.cost.timed_ns == 600);
	assert_true(read.n_metrics == 6 && read.n_regions == 2);
	assert_string_equal(read.metrics[5], "clock");
	assert_string_equal(read.units[5], "ns");
	region = &read.regions[0];
	assert_string_equal(region->name, "na\xc3\xafve \"x\\y\"/[0]");
	assert_string_equal(region->title, "all that the \"name\" stands for");
	assert_null(read.regions[1].title);
	assert_true(region->n_passages == 12 && region->n_failed == 2 && region->n_open == 3 &&
		    region->n_died == 4 && region->n_ranks == 5 && region->time_ns == 6 &&
		    region->lost_ns == 7 && region->shared_ns == 8 &&
		    *region->member_ns == RECORD_NOT_KNOWN_NS);
	assert_true(read.cost.n_misses == 70 && read.cost.misses_ns == 8000);
	assert_string_equal(region->misses.event, "page-faults");
	assert_true(region->misses.count == 1011 && !region->misses.absent);
	assert_string_equal(read.regions[1].misses.event, "");
	assert_string_equal(read.regions[1].misses.absent, "The kernel refuses.");
	assert_string_equal(region->work[0].unit, "cell");
	assert_true(region->work[0].amount == 1e9 / 3 && region->work[1].amount == 1e300);
	assert_true(region->sockets[1].socket == 1 && region->sockets[1].window_ns == 2000000000 &&
		    region->sockets[1].skew_ns == 20000000 &&
		    region->sockets[1].quantum_bytes == 64 &&
		    region->sockets[1].values[0].count == 8192);
	assert_true(
		(region->sockets[1].values[0].quality & 3) == (UNCORE_ESTIMATED | UNCORE_PARTIAL));
	assert_true(region->sockets[0].values[4].quality == UNCORE_ABSENT);
	assert_string_equal(region->sockets[0].values[4].why, "this machine has no such memory");
	value = &region->sockets[0].values[0];
	assert_true(value->has_share && value->share == 4096 - 1000 && value->alone == 4096 - 2000);
	assert_false(region->sockets[0].values[2].has_share);
	value = &read.outside->sockets[1].values[1];
	assert_true(read.outside->n_sockets == 2 && value->count == 2220 && value->share == 1120 &&
		    value->alone == 20);
	assert_true(read.regions[1].n_sockets == 0 && !read.regions[1].sockets);
	record_done(&read);
}

CASE("the largest numbers come back the same")
{
	struct record_region *region;
	struct record record;

	record_case_init(&record, 1);
	region = record_case_region(&record, "large", 1);
	region->sockets[0].values[0].count = 1000000000000000000U;
	region->sockets[0].window_ns = 1000000000000000000U;
	region->n_passages = 1000000000000000000U;
	region->work[0] = (struct record_work){ "flop", DBL_MAX };
	region->sockets[1].window_ns = 0;
	expect_the_same_back(&record);
}

/* A team's job may have any name, and a command too; no terminal may be steered by it. */
CASE("texts from outside cannot do harm")
{
	_cleanup_free_ char *text = NULL;
	struct record record, read;

	record_case_init(&record, 0);
	strcpy(record.command, "\x1b[2Jx\n\xff");
	text = text_of(&record);
	record_done(&record);
	parse(text, &read);
	assert_string_equal(read.command, "?[2Jx?\xef\xbf\xbd");
	record_done(&read);
}

/* --- JSON from somebody else --- */

/* Replaces @from, which must be there, by @to. */
static char *replace(const char *text, const char *from, const char *to)
{
	char *replaced;
	size_t at;

	assert_non_null(strstr(text, from));
	at = (size_t)(strstr(text, from) - text);
	assert_true(
		asprintf(&replaced, "%.*s%s%s", (int)at, text, to, text + at + strlen(from)) > 0);
	return replaced;
}

static void expect_refusal(const char *text, int error, const char *why)
{
	_cleanup_free_ char *copy = strdup(text);
	char found[JSON_READER_WHY_MAX] = "";
	struct record record = { .host = "untouched" };
	int r = record_parse(copy, &record, found);

	if (r != error || !strstr(found, why))
		fail_msg("got %d, '%s'; expected %d, '%s'", r, found, error, why);
	assert_string_equal(record.host, "untouched");
}

CASE("wrong members are refused, and named")
{
	static const struct {
		const char *from, *to, *why;
	} wrong[] = {
		{ "\"count\":12", "\"count\":-1", "member regions[0].count is not a whole number" },
		{ "\"count\":12", "\"count\":1.5",
			"member regions[0].count is not a whole number" },
		{ "\"count\":12", "\"count\":99999999999999999999999", "regions[0].count" },
		{ "\"count\":12", "\"count\":\"12\"", "regions[0].count" },
		{ "\"count\":12", "\"c\":12", "regions[0].count" },
		{ "\"failed\":2", "\"failed\":13",
			"regions[0].failed is not a whole number from 0 to 12" },
		{ "\"no figures\"", "\"na\xc3\xafve \\\"x\\\\y\\\"/[0]\"",
			"regions[1].name is the name of another region" },
		{ "\"no figures\"", "\"\"", "regions[1].name is empty" },
		{ "\"no figures\"", "\"a\\u0007\"", "regions[1].name has characters" },
		{ "\"no figures\"", "\"a\\u0000b\"", "regions[1].name has a NUL" },
		{ "\"no figures\"",
			"\"0123456789012345678901234567890123456789012345678901234567890123\"",
			"regions[1].name has more than 63 bytes" },
		{ "\"no figures\"", "[]", "regions[1].name is not a text" },
		{ "\"socket\":1", "\"socket\":0", "regions[0].sockets[1].socket is not above" },
		{ "\"socket\":1", "\"socket\":99999",
			"regions[0].sockets[1].socket is not a whole" },
		{ "\"bytes\":8192", "\"bytes\":1e3",
			"member regions[0].sockets[0].metrics.dram.write.bytes is not a whole "
			"number" },
		{ "\"generation\":\"0", "\"generation\":\"x", "generation is not 32 hex" },
		{ "\"died\":true", "\"died\":1", "members[3].died is neither" },
		{ "\"regions\":[", "\"regions\":{}, \"r\":[", "member regions is not a list" },
		{ "\"clock\":\"ns\"", "\"clock\":7", "metrics.clock is not a text" },
		{ "\"clock\":\"ns\"", "\"other\":\"ns\"", "metrics.other is not an object" },
		{ "\"cell\":", "\"cell\":null,\"x\":", "work.cell is not a number" },
		{ "\"cell\":", "\"cell\":-1,\"x\":", "work.cell is not a number" },
		{ "\"cell\":", "\"a-unit-of-work-that-is-long\":", "work has a unit" },
		{ "\"cell\":", "\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":", "work has too many" },
		{ "\"event\":\"page-faults\"", "\"e\":0", "regions[0].misses.event is missing" },
		{ "\"count\":1011", "\"count\":-1",
			"regions[0].misses.count is not a whole number" },
		{ "\"misses_ns\":8000", "\"misses_ns\":true", "cost.misses_ns is not a whole" },
		{ "\"share\":3096", "\"share\":4097",
			"dram.read.share is not a whole number from 0 to 4096" },
		{ "\"alone\":2096", "\"alone\":3097",
			"dram.read.alone is not a whole number from 0 to 3096" },
		{ "\"alone\":2096", "\"a\":0", "dram.read.alone is not a whole number" },
		{ "\"outside\":[", "\"outside\":{}, \"o\":[", "member outside is not a list" },
	};
	_cleanup_free_ char *text = NULL;
	struct record record;

	fill_everything(&record);
	text = text_of(&record);
	record_done(&record);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *changed = replace(text, wrong[i].from, wrong[i].to);

		expect_refusal(changed, -EBADMSG, wrong[i].why);
	}
}

CASE("what is not a record is told apart from a broken one")
{
	_cleanup_free_ char *text = NULL, *newer = NULL, *longer = NULL, *old = NULL;
	struct record record;

	record_case_init(&record, 0);
	text = text_of(&record);
	record_done(&record);
	newer = replace(text, "\"schema\":1", "\"schema\":2");
	old = replace(text, "\"schema\":1", "\"scheme\":1");
	assert_true(asprintf(&longer, "%s x", text) > 0);
	expect_refusal(newer, -EPROTONOSUPPORT, "has another schema than 1");
	expect_refusal(old, -ENOMSG, "before 0.2");
	expect_refusal("{\"a\":1}", -ENOMSG, "is not a record of regions");
	expect_refusal("[1]", -ENOMSG, "is not a record of regions");
	expect_refusal("", -EBADMSG, "is not JSON");
	expect_refusal("5", -EBADMSG, "is not JSON");
	expect_refusal("{\"a\":", -EBADMSG, "is not JSON");
	expect_refusal(longer, -EBADMSG, "is not JSON");
	expect_refusal("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
		-EBADMSG, "is not JSON");
}

/* At each cut there is a sentence, and nothing leaks; the sanitizer's build looks. */
CASE("a record that was cut is refused")
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	fill_everything(&record);
	text = text_of(&record);
	record_done(&record);
	for (size_t n = strlen(text) - 1; n; n -= n > 17 ? 17 : n) {
		text[n] = '\0';
		expect_refusal(text, -EBADMSG, "is not JSON");
	}
}

/* --- arrays --- */

/* "[", the record of each host, "]"; the one without a name is @odd. */
static char *array_of(const char *const hosts[], size_t n, const char *odd)
{
	char *text;
	size_t size_bytes;
	FILE *out = open_memstream(&text, &size_bytes);

	assert_non_null(out);
	fputs("[", out);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *element = NULL;
		struct record record;

		fill_everything(&record);
		snprintf(record.host, sizeof record.host, "%s", hosts[i]);
		element = text_of(&record);
		record_done(&record);
		fprintf(out, "%s%s", i ? ", " : "", *hosts[i] ? element : odd);
	}
	fputs("]\n", out);
	fclose(out);
	return text;
}

CASE("an array adds all its records")
{
	static const char *const hosts[] = { "n01", "n02", "n03", "n04", "n05" };
	_cleanup_free_ char *text = array_of(hosts, 5, ""), *one = array_of(hosts, 1, "");
	struct record_list list = { .n = 0 };
	_cleanup_free_ char *alone = strdup(one + 1);
	char why[JSON_READER_WHY_MAX];

	assert_int_equal(record_list_parse(one, &list, why), 0);
	assert_int_equal(record_list_parse(text, &list, why), 0);
	assert_int_equal(list.n, 6);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(list.records[i + 1].host, hosts[i]);
		assert_int_equal(list.records[i + 1].n_regions, 2);
	}
	alone[strlen(alone) - 2] = '\0'; /* the record alone */
	assert_int_equal(record_list_parse(alone, &list, why), 0);
	assert_int_equal(list.n, 7);
	record_list_done(&list);
	assert_int_equal(list.n, 0);
}

CASE("an array with a wrong element adds nothing")
{
	static const char *const first[] = { "", "n02" }, *const third[] = { "n01", "n02", "" };
	static const struct {
		const char *odd;
		bool is_first;
		int error;
		const char *why;
	} wrong[] = {
		{ "{\"a\":1}", true, -ENOMSG, "whose element 0 is not a record of regions" },
		/* of what has records already, no part may be lost as if it were other JSON */
		{ "{\"a\":1}", false, -EBADMSG, "whose element 2 is not a record of regions" },
		{ "{\"regions\":[],\"schema\":2}", false, -EPROTONOSUPPORT,
			"whose element 2 has another schema than 1" },
		{ "{\"regions\":{},\"schema\":1}", false, -EBADMSG,
			"whose element 2 is not a record that can be read: member " },
		{ "[]", false, -EBADMSG, "whose element 2 is not a record of regions" },
	};
	struct record_list list = { .n = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *text = wrong[i].is_first ? array_of(first, 2, wrong[i].odd)
							      : array_of(third, 3, wrong[i].odd);
		char why[JSON_READER_WHY_MAX] = "";

		assert_int_equal(record_list_parse(text, &list, why), wrong[i].error);
		if (!strstr(why, wrong[i].why))
			fail_msg("%s", why);
		assert_int_equal(list.n, 0);
	}
	record_list_done(&list);
}

CASE("an array without records is other JSON")
{
	struct record_list list = { .n = 0 };
	char text[] = "[]", why[JSON_READER_WHY_MAX] = "";

	assert_int_equal(record_list_parse(text, &list, why), -ENOMSG);
	assert_string_equal(why, "is an array without records");
}

CASE("a file that cannot be read is an error")
{
	char *text;

	assert_int_equal(record_read_text("/nonexistent/r.json", &text), -ENOENT);
	assert_int_equal(record_read_text("/", &text), -EISDIR);
}
