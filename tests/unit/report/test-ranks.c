/* SPDX-License-Identifier: BSD-3-Clause */
/* How long ranks were in a region: quartiles and outliers, whose truth is known. */
#include <errno.h>

#include "client/records/parse.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "client/report/ranks.h"
#include "tests/unit/report/record-case.h"

enum { MOST = 1024 };

/* A record with these times of its ranks, in one region. */
static void begin(struct record *ret, const uint64_t times[], uint32_t n)
{
	struct record_region *region;

	record_case_init(ret, 1);
	record_case_team(ret);
	free(ret->members);
	ret->n_expected = ret->n_members = n;
	ret->members = calloc(n + 1, sizeof *ret->members);
	region = record_case_region(ret, "solve", 4096);
	region->member_ns = calloc(n + 1, sizeof *region->member_ns);
	assert_true(ret->members && region->member_ns);
	for (uint32_t i = 0; i < n; i++) {
		ret->members[i] = (struct record_member){ .rank = i, .pid = 100 + (int32_t)i };
		region->member_ns[i] = times[i];
	}
}

/* Expects these quartiles of @n times, and as outliers the ranks in @outliers, which -1 ends. */
static void expect(const uint64_t times[], uint32_t n, const uint64_t quartiles[RANKS_QUARTILES],
	const int outliers[])
{
	struct ranks ranks = { .n = 0 };
	struct ranks_spread spread;
	struct record record;
	uint32_t k = 0;

	begin(&record, times, n);
	assert_int_equal(ranks_add(&ranks, &record, record.regions, 0), 0);
	assert_true(ranks_spread(&ranks, &spread));
	assert_int_equal(spread.n, n);
	assert_memory_equal(spread.quartiles, quartiles, sizeof spread.quartiles);
	for (; outliers[k] >= 0; k++) {
		assert_true(k < RANKS_NAMED && k < spread.outliers.n);
		assert_int_equal(spread.outliers.first[k]->rank, outliers[k]);
		assert_int_equal(spread.outliers.first[k]->pid, 100 + outliers[k]);
		assert_int_equal(spread.outliers.first[k]->time_ns, times[outliers[k]]);
	}
	assert_int_equal(spread.outliers.n, k);
	ranks_done(&ranks);
	record_done(&record);
}

#define EXPECT(times, quartiles, ...)                                                              \
	expect((const uint64_t[]){ EXPECT_LIST times },                                            \
		sizeof((const uint64_t[]){ EXPECT_LIST times }) / sizeof(uint64_t),                \
		(const uint64_t[]){ EXPECT_LIST quartiles }, (const int[]){ __VA_ARGS__ })
#define EXPECT_LIST(...) __VA_ARGS__

CASE("each quartile is the time of a rank")
{
	EXPECT((7), (7, 7, 7, 7, 7), -1);
	EXPECT((9, 2), (2, 2, 2, 9, 9), -1);
	EXPECT((30, 10, 20), (10, 10, 20, 30, 30), -1);
	EXPECT((40, 10, 30, 20), (10, 10, 20, 30, 40), -1);
	EXPECT((10, 50, 20, 40, 30), (10, 20, 30, 40, 50), -1);
}

CASE("of equal ranks none stands out")
{
	uint64_t times[128];

	for (int i = 0; i < 128; i++)
		times[i] = 1000000;
	expect(times, 128, (const uint64_t[]){ 1000000, 1000000, 1000000, 1000000, 1000000 },
		(const int[]){ -1 });
}

CASE("one slow rank among 4, 5, 8 or 128 is named")
{
	uint64_t times[128];

	EXPECT((100, 100, 1000, 100), (100, 100, 100, 100, 1000), 2, -1);
	EXPECT((100, 101, 102, 103, 1000), (100, 101, 102, 103, 1000), 4, -1);
	EXPECT((1000, 101, 102, 103, 104, 105, 106, 107), (101, 102, 104, 106, 1000), 0, -1);
	for (uint64_t i = 0; i < 128; i++)
		times[i] = 1000 + i;
	times[77] = 10000;
	expect(times, 128, (const uint64_t[]){ 1000, 1031, 1063, 1096, 10000 },
		(const int[]){ 77, -1 });
}

CASE("a rank that is quick stands out as one that is slow, and the farthest comes first")
{
	EXPECT((500, 500, 510, 505, 5, 505, 510, 2000), (5, 500, 505, 510, 2000), 7, 4, -1);
	EXPECT((500, 500, 510, 505, 5, 505, 510, 900), (5, 500, 505, 510, 900), 4, 7, -1);
}

CASE("a rank less than 5 % of the median away from it does not stand out")
{
	EXPECT((1000, 1000, 1000, 1000, 1049), (1000, 1000, 1000, 1000, 1049), -1);
	EXPECT((1000, 1000, 1000, 1000, 1050), (1000, 1000, 1000, 1000, 1050), 4, -1);
	EXPECT((1000, 951, 1000, 1000, 1000), (951, 1000, 1000, 1000, 1000), -1);
	EXPECT((1000, 950, 1000, 1000, 1000), (950, 1000, 1000, 1000, 1000), 1, -1);
}

CASE("a rank within 1.5 times the box does not stand out")
{
	EXPECT((100, 200, 300, 400, 700), (100, 200, 300, 400, 700), -1);
	EXPECT((100, 200, 300, 400, 701), (100, 200, 300, 400, 701), 4, -1);
	EXPECT((1000, 1300, 1400, 1500, 1600), (1000, 1300, 1400, 1500, 1600), -1);
	EXPECT((999, 1300, 1400, 1500, 1600), (999, 1300, 1400, 1500, 1600), 0, -1);
}

CASE("times of centuries are compared, too")
{
	const uint64_t most = UINT64_C(1000000000000000000);

	EXPECT((1, 1, 1, 1, most), (1, 1, 1, 1, most), 4, -1);
	EXPECT((1, 1, most, most, most), (1, 1, most, most, most), -1);
	EXPECT((most, 1, most, most, most), (1, most, most, most, most), 1, -1);
}

CASE("eight outliers are named, and the others are counted")
{
	struct ranks ranks = { .n = 0 };
	struct ranks_spread spread;
	struct record record;
	uint64_t times[100];

	for (uint64_t i = 0; i < 100; i++)
		times[i] = i < 20 ? 5000 + i : 1000;
	begin(&record, times, 100);
	assert_int_equal(ranks_add(&ranks, &record, record.regions, 0), 0);
	assert_true(ranks_spread(&ranks, &spread));
	assert_int_equal(spread.outliers.n, 20);
	for (int i = 0; i < RANKS_NAMED; i++)
		assert_int_equal(spread.outliers.first[i]->rank, 19 - i);
	ranks_done(&ranks);
	record_done(&record);
}

/* Takes the record. */
static char *json_of(struct record *record)
{
	char *text;

	assert_int_equal(record_json(record, &text), 0);
	record_done(record);
	for (char *at = text, *to = text;; at++) { /* without blanks */
		if (*at != ' ' && *at != '\n')
			*to++ = *at;
		if (!*at)
			return text;
	}
}

CASE("a rank that did not enter is not counted, and the time of one that ended inside is not known")
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	begin(&record, (const uint64_t[]){ 0, 100, RECORD_NOT_KNOWN_NS, 100, 100, 900 }, 6);
	record.members[2].died = record.members[3].died = true;
	record.members[5].rank = -1;
	text = json_of(&record);
	assert_non_null(strstr(text, "\"member_ns\":[0,100,null,100,100,900]"));
	assert_non_null(strstr(text,
		"\"rank_time\":{\"ranks\":4,\"not_known\":1,\"quartiles_ns\":[100,100,100,100,900],"
		"\"outliers\":[{\"rank\":null,\"pid\":105,\"host\":\"n01\",\"time_ns\":900}],"
		"\"more_outliers\":0,"
		"\"dead\":[{\"rank\":2,\"pid\":102,\"host\":\"n01\",\"time_ns\":null},"
		"{\"rank\":3,\"pid\":103,\"host\":\"n01\",\"time_ns\":100}],\"more_dead\":0}"));
}

CASE("times that are not those of the members are refused")
{
	static const struct {
		const char *times, *why;
	} wrong[] = {
		{ "[31,7]", "member_ns has another length than members" },
		{ "[31,7,5,6]", "member_ns has more than 3 elements" },
		{ "31", "regions[0].member_ns is not a list" },
		{ "[31,7,-5]", "regions[0].member_ns[2] is not a whole number from 0" },
		{ "[31,\"7\",5]", "regions[0].member_ns[1] is not a whole number" },
		{ "[1e30,7,5]", "regions[0].member_ns[0] is not a whole number" },
	};
	_cleanup_free_ char *text = NULL;
	struct record record;
	char *at;

	begin(&record, (const uint64_t[]){ 31, 7, 5 }, 3);
	text = json_of(&record);
	at = strstr(text, "[31,7,5]");
	assert_non_null(at);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *changed = NULL;
		char why[JSON_READER_WHY_MAX] = "";

		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, wrong[i].times,
				    at + strlen("[31,7,5]")) > 0);
		assert_int_equal(record_parse(changed, &record, why), -EBADMSG);
		assert_non_null(strstr(why, wrong[i].why));
	}
}

CASE("there is no summary where nobody entered, and no quartiles where no time is known")
{
	_cleanup_free_ char *nobody = NULL, *unknown = NULL;
	struct record record;

	begin(&record, (const uint64_t[]){ 0, 0 }, 2);
	nobody = json_of(&record);
	assert_non_null(strstr(nobody, "\"member_ns\":[0,0]"));
	assert_null(strstr(nobody, "rank_time"));
	begin(&record, (const uint64_t[]){ RECORD_NOT_KNOWN_NS, 0 }, 2);
	unknown = json_of(&record);
	assert_non_null(strstr(unknown,
		"\"rank_time\":{\"ranks\":0,\"not_known\":1,\"quartiles_ns\":[],\"outliers\":[],"));
}

CASE("the table names the rank that is farthest, and is silent if none stands out")
{
	struct record record;

	for (int n_slow = 0; n_slow < 3; n_slow++) {
		_cleanup_free_ char *text = NULL;
		uint64_t times[8];
		size_t size_bytes;
		FILE *out = open_memstream(&text, &size_bytes);

		for (int i = 0; i < 8; i++)
			times[i] = i < n_slow ? 3000000000U + 1000000U * i : 300000000;
		begin(&record, times, 8);
		assert_non_null(out);
		record_print(out, &record);
		fclose(out);
		assert_int_equal(!!strstr(text, "outliers"), n_slow > 0);
		if (n_slow == 1)
			assert_non_null(strstr(text,
				"outliers: 1, the farthest rank 0: 3.00 s inside, the median of 8 "
				"ranks 300 ms"));
		if (n_slow == 2)
			assert_non_null(strstr(text, "outliers: 2, the farthest rank 1: 3.00 s"));
		record_done(&record);
	}
}
