/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of several nodes, and lists of hosts. test_report.py tests the command that shows it. */
#include <errno.h>

#include "client/launcher/hostlist.h"
#include "client/records/join.h"
#include "client/records/notes.h"
#include "client/report/derived.h"
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
	return records;
}

static void join(struct record *records, struct join *ret)
{
	struct record_list list = { .records = records, .n = 2 };

	assert_int_equal(join_records(&list, ret), 0);
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

static void counts_and_bounds_of_nodes_add_up(void **state)
{
	const struct record_region *region;
	struct derived derived;
	struct join sum;

	join(two_records(), &sum);
	assert_int_equal(sum.total.n_regions, 1);
	region = &sum.total.regions[0];
	assert_int_equal(region->n_sockets, 4);
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
static void metrics_are_matched_by_name(void **state)
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

static void a_stand_in_among_the_nodes_stays_visible(void **state)
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

static void the_cost_of_begin_and_end_adds_up(void **state)
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

static void estimates_and_work_add_up(void **state)
{
	struct record *records = two_records();
	const struct record_region *region;
	struct join sum;

	record_case_estimates(&records[1], &records[1].regions[0]);
	records[0].regions[0].work[0] = (struct record_work){ "cell", 5 };
	records[1].regions[0].work[0] = (struct record_work){ "flop", 7 };
	records[1].regions[0].work[1] = (struct record_work){ "cell", 0.5 };
	join(records, &sum);
	region = &sum.total.regions[0];
	assert_string_equal(region->work[0].unit, "cell");
	assert_true(region->work[0].amount == 5.5 && region->work[1].amount == 7);
	assert_false(region->estimates[0].is_known);
	assert_string_equal(region->estimates[0].why, "a node has none");
	assert_true(region->estimates[2 * sum.total.n_metrics].is_known &&
		    region->estimates[2 * sum.total.n_metrics].count == 1000000.5);
	assert_ptr_equal(sum.regions[0].parts[1].view.estimates,
		&region->estimates[2 * sum.total.n_metrics]);
	join_done(&sum);
}

static void sums_do_not_go_round(void **state)
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

static void records_of_one_host_are_never_summed(void **state)
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

static void a_total_has_a_row_for_each_run(void **state)
{
	struct record *records = two_records();
	char tag[JOIN_TAG_MAX];
	struct join sum;

	strcpy(records[1].host, records[0].host);
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

static void lists_of_hosts_are_slurms(void **state)
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

static void what_is_no_list_of_hosts_is_refused(void **state)
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

static void a_domain_makes_no_other_host(void **state)
{
	assert_true(hostlist_is_same("n01", "n01"));
	assert_true(hostlist_is_same("n01", "n01.site.org"));
	assert_true(hostlist_is_same("n01.site.org", "n01"));
	assert_false(hostlist_is_same("n01.a", "n01.b"));
	assert_false(hostlist_is_same("n01", "n011"));
	assert_false(hostlist_is_same("n01", "n1"));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("counts and bounds of nodes add up", counts_and_bounds_of_nodes_add_up),
		CASE("metrics are matched by name", metrics_are_matched_by_name),
		CASE("a stand-in among the nodes stays visible",
			a_stand_in_among_the_nodes_stays_visible),
		CASE("the cost of begin and end adds up", the_cost_of_begin_and_end_adds_up),
		CASE("estimates and work add up", estimates_and_work_add_up),
		CASE("sums do not go round", sums_do_not_go_round),
		CASE("records of one host are never summed", records_of_one_host_are_never_summed),
		CASE("a total has a row for each run", a_total_has_a_row_for_each_run),
		CASE("lists of hosts are Slurm's", lists_of_hosts_are_slurms),
		CASE("what is not a list of hosts is refused", what_is_no_list_of_hosts_is_refused),
		CASE("a domain makes no other host", a_domain_makes_no_other_host),
	};

	return cmocka_run_group_tests_name("record-join", cases, NULL, NULL);
}
