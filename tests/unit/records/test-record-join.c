/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of several nodes, and lists of hosts. test_report.py tests the command that shows it. */
#include <errno.h>
#include <math.h>

#include "client/launcher/hostlist.h"
#include "client/records/join.h"
#include "client/report/derived.h"
#include "common/jsonwriter.h"
#include "tests/unit/report/record-case.h"

/* Two nodes with region "a" of 3000 and 6000 bytes read; each is open for filling. */
static struct record *two_records(void)
{
	struct record *records = calloc(2, sizeof *records);

	assert_non_null(records);
	for (uint32_t i = 0; i < 2; i++) {
		record_case_init(&records[i], 2);
		records[i].members[0].pid += (int32_t)i;
		record_case_region(&records[i], "a", 1000 * (i + 1));
	}
	strcpy(records[1].host, "n02.site");
	records[1].generation[1]++;
	return records;
}

static void join(struct record *records, struct join *ret)
{
	struct record_list list = { .records = records, .n = 2 };

	assert_int_equal(join_records(&list, false, ret), 0);
	assert_true(!list.records && !list.n);
}

static char *notes_of(const struct join *join)
{
	char *text;
	size_t size_bytes;
	FILE *out = open_memstream(&text, &size_bytes);

	assert_non_null(out);
	notes_write(join, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

CASE("counts and bounds of nodes add up")
{
	const struct record_region *region;
	struct derived derived;
	struct join sum;

	join(two_records(), &sum);
	assert_int_equal(sum.total.n_regions, 1);
	region = &sum.total.regions[0];
	assert_int_equal(region->n_sockets, 2);
	assert_int_equal(region->sockets[1].sums->n, 2);
	assert_true(
		region->n_passages == 20 && region->n_ranks == 2 && region->time_ns == 30000000);
	derived = derived_total(region, 0);
	assert_true(derived.value == 9000 && fabs(derived.error - 90 - 4 * 64) < 1e-6);
	derived = derived_rate(region, 0);
	assert_true(fabs(derived.value - 9000 / 2e9) < 1e-12);
	assert_true(fabs(join_imbalance(&sum, 0, 0).ratio - 6000 / 4500.0) < 1e-12);
	assert_ptr_equal(join_imbalance(&sum, 0, 0).largest, &sum.records[1]);
	assert_true(isnan(join_imbalance(&sum, 0, 4).ratio)); /* absent */
	assert_string_equal(sum.total.host, "");
	assert_string_equal(sum.total.platform, "icelake-sp");
	assert_int_equal(sum.total.n_members, 2);
	join_done(&sum);
}

/* The second node has its metrics in another order, and one of them not at all. */
CASE("metrics are matched by name")
{
	_cleanup_free_ char *notes = NULL;
	struct record *records = two_records();
	const struct record_value *values;
	struct join sum;

	strcpy(records[1].metrics[0], "dram.write");
	strcpy(records[1].metrics[1], "dram.read");
	strcpy(records[1].metrics[2], "itom");
	strcpy(records[1].platform, "zen3");
	join(records, &sum);
	assert_true(derived_total(&sum.total.regions[0], 0).value == 3000 + 12000);
	assert_true(derived_total(&sum.total.regions[0], 1).value == 6000 + 6000);
	values = sum.total.regions[0].sockets[2].values;
	assert_int_equal(values[2].quality, UNCORE_ABSENT); /* specitom */
	assert_string_equal(values[2].why, "a node's platform has no such metric");
	assert_string_equal(sum.total.metrics[6], "itom");
	assert_string_equal(derived_total(&sum.total.regions[0], 6).why,
		"a node's platform has no such metric");
	assert_string_equal(sum.total.platform, "several");
	notes = notes_of(&sum);
	assert_non_null(strstr(notes, "as icelake-sp (n01) and zen3 (n02.site);"));
	join_done(&sum);
}

CASE("a stand-in among the nodes stays visible")
{
	struct join sum;

	for (int at = 0; at < 2; at++) {
		struct record *records = two_records();

		strcpy(records[at].platform, "standin");
		join(records, &sum);
		assert_string_equal(sum.total.platform, "standin");
		join_done(&sum);
	}
}

CASE("the cost of begin and end adds up")
{
	struct record *records = two_records();
	struct join sum;

	assert_true(isnan(derived_cost_ns(&records[0])));
	records[0].cost = (struct record_cost){ .n_reading = 2, .reading_ns = 100 };
	assert_true(isnan(derived_cost_ns(&records[0]))); /* 10 passages: others were not timed */
	records[1].cost = (struct record_cost){ 4, 300, 2, 10 };
	assert_true(fabs(derived_cost_ns(&records[1]) - (300 + 5 * (2 * 10 - 4))) < 1e-9);
	join(records, &sum);
	assert_true(fabs(derived_cost_ns(&sum.total) - (400 + 5 * (2 * 20 - 6))) < 1e-9);
	join_done(&sum);
}

/* The regions of two nodes have these misses. */
static void check_misses(struct record_misses first, struct record_misses second,
	const struct record_misses *expected)
{
	struct record *records = two_records();
	const struct record_misses *found;
	struct join sum;

	records[0].regions[0].misses = first;
	records[1].regions[0].misses = second;
	join(records, &sum);
	found = &sum.total.regions[0].misses;
	assert_string_equal(found->event, expected->event);
	if (expected->absent)
		assert_string_equal(found->absent, expected->absent);
	else
		assert_true(!found->absent && found->count == expected->count);
	join_done(&sum);
}

CASE("misses add up if all nodes have counted the same event, and else have a reason")
{
	const struct record_misses none = { .event = "" }, ten = { "page-faults", 10, NULL },
				   two = { "page-faults", 2, NULL }, other = { "r412e", 2, NULL };
	const struct record_misses sum = { "page-faults", 12, NULL },
				   why = { "page-faults", 0, (char[]){ "Refused." } };

	check_misses(none, none, &none);
	check_misses(ten, two, &sum);
	check_misses(ten, other,
		&(struct record_misses){
			"page-faults", 0, (char[]){ "Nodes counted different events." } });
	check_misses(none, ten,
		&(struct record_misses){ "page-faults", 0,
			(char[]){ "Not all records of the region have counts." } });
	check_misses(ten, none,
		&(struct record_misses){ "page-faults", 0,
			(char[]){ "Not all records of the region have counts." } });
	check_misses((struct record_misses){ "page-faults", 0, strdup("Refused.") }, ten, &why);
	check_misses(ten, (struct record_misses){ "", 0, strdup("Refused.") }, &why);
}

CASE("shares and work add up")
{
	struct record *records = two_records();
	const struct record_region *region;
	struct join sum;

	record_case_share(&records[1], &records[1].regions[0], 50);
	records[1].regions[0].title = strdup("a long name");
	records[0].regions[0].work[0] = (struct record_work){ "cell", 5 };
	records[1].regions[0].work[0] = (struct record_work){ "flop", 7 };
	records[1].regions[0].work[1] = (struct record_work){ "cell", 0.5 };
	join(records, &sum);
	region = &sum.total.regions[0];
	assert_string_equal(region->title, "a long name");
	assert_string_equal(region->work[0].unit, "cell");
	assert_true(region->work[0].amount == 5.5 && region->work[1].amount == 7);
	assert_int_equal(region->n_sockets, 2);
	assert_false(region->sockets[0].values[0].has_share); /* one record has none */
	assert_false(derived_bracket(region, 0).is_known);
	join_done(&sum);
}

CASE("sockets of one number are one, with the sums of shares")
{
	struct record *records = two_records();
	const struct record_value *value;
	struct join sum = { .n_records = 0 };

	for (uint32_t i = 0; i < 2; i++) {
		record_case_share(&records[i], &records[i].regions[0], 50);
		assert_int_equal(join_fold(&sum, &records[i]), 0);
	}
	assert_int_equal(join_end_folding(&sum), 0);
	free(records);
	assert_int_equal(sum.total.regions[0].n_sockets, 2);
	value = sum.total.regions[0].sockets[0].values; /* 1000 and 2000 bytes */
	assert_true(value->has_share && value->count == 3000 && value->share == 2250 &&
		    value->alone == 1500);
	join_done(&sum);
}

/* The ranks of n02.site are two, of which one is slow. */
static struct record *two_records_of_ranks(void)
{
	static const uint64_t times[2][4] = { { 100, 101, 102, 0 }, { 103, 5000, 0, 0 } };
	struct record *records = two_records();

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t *member_ns = calloc(4, sizeof *member_ns);

		assert_non_null(member_ns);
		memcpy(member_ns, times[i], sizeof times[i]);
		record_case_team(&records[i]);
		for (uint32_t k = 0; k < 4; k++) {
			records[i].members[k].rank += 4 * i;
			records[i].members[k].pid += 10 * (int32_t)i;
		}
		records[i].regions[0].member_ns = member_ns;
	}
	return records;
}

static char *text_of_sum(const struct join *join, bool is_page)
{
	const struct hostlist nobody = { .n_names = 0 };
	struct jsonwriter json;
	char *text;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	join_json(&json, join, &nobody, "", is_page);
	jsonwriter_close(&json);
	assert_int_equal(jsonwriter_finish(&json, &text), 0);
	for (char *at = text, *to = text;; at++) { /* without blanks */
		if (*at != ' ' && *at != '\n')
			*to++ = *at;
		if (!*at)
			return text;
	}
}

static const char RANKS_OF_TWO[] =
	"\"rank_time\":{\"ranks\":5,\"not_known\":0,\"quartiles_ns\":[100,101,102,103,5000],"
	"\"outliers\":[{\"rank\":5,\"pid\":111,\"host\":\"n02.site\",\"time_ns\":5000}],"
	"\"more_outliers\":0,\"dead\":[],\"more_dead\":0}";

CASE("ranks of all nodes are compared, and those that stand out are named with their node")
{
	_cleanup_free_ char *text = NULL, *page = NULL, *table = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&table, &size_bytes);
	struct join sum;

	join(two_records_of_ranks(), &sum);
	text = text_of_sum(&sum, false);
	page = text_of_sum(&sum, true);
	assert_non_null(strstr(text, RANKS_OF_TWO));
	assert_null(strstr(text, "rank_bins"));
	assert_non_null(strstr(page, RANKS_OF_TWO));
	assert_non_null(strstr(page, "\"rank_bins\":[[[5,4],[240,1]]]"));
	assert_non_null(strstr(page, "\"open_ns\":[2000000000,2000000000]"));
	assert_non_null(out);
	join_print(out, &sum, "", true);
	fclose(out);
	assert_non_null(strstr(table, " a: rank 5 on n02 5.00 us; the median of 5 ranks 102 ns\n"));
	assert_null(strstr(table, "outliers:"));
	join_done(&sum);
}

CASE("ranks are also compared if little is kept of each node")
{
	_cleanup_free_ char *text = NULL;
	struct record *records = two_records_of_ranks();
	struct join sum = { .n_records = 0 };

	for (int i = 0; i < 2; i++)
		assert_int_equal(join_fold(&sum, &records[i]), 0);
	assert_int_equal(join_end_folding(&sum), 0);
	free(records);
	text = text_of_sum(&sum, true);
	assert_non_null(strstr(text, RANKS_OF_TWO));
	join_done(&sum);
}

CASE("of a node whose record has no times of ranks, the others are compared; of none, nothing is "
     "said")
{
	_cleanup_free_ char *one = NULL, *none = NULL;
	struct record *records = two_records_of_ranks();
	struct join sum;

	free(take_ptr(records[1].regions[0].member_ns));
	join(records, &sum);
	one = text_of_sum(&sum, false);
	assert_non_null(
		strstr(one, "\"ranks\":3,\"not_known\":0,\"quartiles_ns\":[100,100,101,102,102],"));
	join_done(&sum);
	join(two_records(), &sum);
	none = text_of_sum(&sum, true);
	assert_null(strstr(none, "rank_time"));
	assert_non_null(strstr(none, "\"rank_bins\":[[]]"));
	join_done(&sum);
}

CASE("sums do not go round")
{
	struct record *records = two_records();
	struct join sum;

	for (int i = 0; i < 2; i++)
		records[i].regions[0].time_ns = UINT64_MAX - 1;
	join(records, &sum);
	assert_true(sum.total.regions[0].time_ns == UINT64_MAX);
	join_done(&sum);
}

/* --- runs --- */

enum { SETS = 2000, HOSTS = 3, RECORDS = 12, TIMES = 40, STEPS = 3 };

static void draw(struct record *ret, unsigned *seed)
{
	*ret = (struct record){ .begun_ns = 1 + rand_r(seed) % TIMES };
	ret->ended_ns = ret->begun_ns + rand_r(seed) % 8;
	snprintf(ret->host, sizeof ret->host, "n%d", rand_r(seed) % HOSTS);
	snprintf(ret->team, sizeof ret->team, "slurm/7.%d", rand_r(seed) % STEPS);
}

static bool overlap(const struct record *a, const struct record *b)
{
	return strcmp(a->host, b->host) == 0 && a->begun_ns < b->ended_ns &&
	       b->begun_ns < a->ended_ns;
}

static void check_runs(const struct record *records, uint32_t n, const struct runs *runs)
{
	for (uint32_t i = 0; i < n; i++) {
		bool overlaps = false;

		for (uint32_t k = 0; k < n; k++) {
			overlaps |= k != i && overlap(&records[i], &records[k]);
			if (k != i && runs->of[i] != RUNS_APART && runs->of[i] == runs->of[k])
				assert_string_not_equal(records[i].host, records[k].host);
		}
		assert_true((runs->of[i] == RUNS_APART) == overlaps);
		assert_true(overlaps || runs->of[i] < runs->n_runs);
	}
}

CASE("records of one host are never summed")
{
	struct record records[RECORDS];
	unsigned seed = 7;

	for (int i = 0; i < SETS; i++) {
		const uint32_t n = 1 + (uint32_t)rand_r(&seed) % RECORDS;
		struct runs runs;

		for (uint32_t k = 0; k < n; k++)
			draw(&records[k], &seed);
		assert_int_equal(runs_find(records, n, &runs), 0);
		check_runs(records, n, &runs);
		runs_done(&runs);
	}
}

CASE("a total has a row for each run")
{
	struct record *records = two_records();
	char tag[JOIN_TAG_MAX];
	struct join sum;

	strcpy(records[1].host, "c1"); /* the same machine, by its generation */
	records[1].generation[1] = records[0].generation[1];
	records[1].begun_ns = records[0].ended_ns;
	records[1].ended_ns = records[0].ended_ns + 1;
	join(records, &sum);
	assert_int_equal(sum.runs.n_runs, 2);
	assert_int_equal(sum.total.n_regions, 2);
	assert_true(derived_total(&sum.total.regions[0], 0).value == 3000);
	assert_true(derived_total(&sum.total.regions[1], 0).value == 6000);
	join_tag(&sum, &sum.total.regions[1], tag);
	assert_string_equal(tag, "#2");
	join_done(&sum);
}

/* --- lists of hosts --- */

CASE("lists of hosts are Slurm's")
{
	static const struct {
		const char *list, *names;
	} cases[] = {
		{ "login1", "login1" },
		{ "n[01-03,7],login1", "n01 n02 n03 n7 login1" },
		{ "n[098-101]", "n098 n099 n100 n101" },
		{ "r[1-2]n[1,3]x", "r1n1x r1n3x r2n1x r2n3x" },
		{ "a,b,a", "a b a" },
		{ "n[0000-0000]", "n0000" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hostlist list;
		char text[256] = "";

		assert_int_equal(hostlist_parse(cases[i].list, &list), 0);
		for (size_t k = 0; k < list.n_names; k++) {
			strcat(text, k ? " " : "");
			strcat(text, list.names[k]);
		}
		assert_string_equal(text, cases[i].names);
		hostlist_done(&list);
	}
}

CASE("what is not a list of hosts is refused")
{
	static const char *const wrong[] = { "", ",", "a,", ",a", "n[", "n[]", "n[1", "n]1",
		"n[1-]", "n[2-1]", "n[a]", "n[1,]", "n[,1]", "n[1;2]", "n[[1]]", "a b", "a\x1b",
		"n[1]]" };
	struct hostlist list;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (hostlist_parse(wrong[i], &list) != -EINVAL)
			fail_msg("'%s' is taken", wrong[i]);
	assert_int_equal(hostlist_parse("n[1-65537]", &list), -E2BIG);
	assert_int_equal(hostlist_parse("n[1-999][1-999][1-999][1-999]", &list), -E2BIG);
	assert_int_equal(hostlist_parse("n[1-65536]", &list), 0);
	hostlist_done(&list);
}

CASE("a domain makes no other host")
{
	assert_true(hostlist_is_same("n01", "n01"));
	assert_true(hostlist_is_same("n01", "n01.site.org"));
	assert_true(hostlist_is_same("n01.site.org", "n01"));
	assert_false(hostlist_is_same("n01.a", "n01.b"));
	assert_false(hostlist_is_same("n01", "n011"));
	assert_false(hostlist_is_same("n01", "n1"));
}
