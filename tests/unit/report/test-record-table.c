/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of a record: its size, its units, and what it says where figures are missing. */
#include <float.h>
#include <locale.h>
#include <math.h>

#include "client/report/derived.h"
#include "client/report/format.h"
#include "client/report/print.h"
#include "client/report/quantity.h"
#include "common/cpus.h"
#include "tests/unit/report/record-case.h"

/* Takes @record. */
static char *table_of(struct record *record)
{
	char text[1 << 16];
	FILE *out = fmemopen(text, sizeof text, "w");

	assert_non_null(out);
	record_print(out, record);
	assert_int_equal(fclose(out), 0);
	record_done(record);
	return strdup(text);
}

static unsigned width_of(const char *line)
{
	unsigned n = 0;

	for (; *line && *line != '\n'; line++)
		n += (*line & 0xc0) != 0x80;
	return n;
}

/* Returns the number of lines. */
static unsigned expect_lines_of(unsigned most, const char *text)
{
	unsigned n = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		if (width_of(line) > most)
			fail_msg("%u columns: %s", width_of(line), line);
		n++;
	}
	return n;
}

static unsigned expect_narrow_lines(const char *text)
{
	return expect_lines_of(120, text);
}

#define EXPECT(text, words)                                                                        \
	do {                                                                                       \
		if (!strstr(text, words))                                                          \
			fail_msg("'%s' is not in:\n%s", words, text);                              \
	} while (0)

#define EXPECT_NOT(text, words)                                                                    \
	do {                                                                                       \
		if (strstr(text, words))                                                           \
			fail_msg("'%s' is in:\n%s", words, text);                                  \
	} while (0)

/* With n metrics of memory: dram alone, or hbm too. */
static void fill_loops(struct record *record, bool hbm)
{
	char name[24];

	record_case_init(record, 22);
	record_case_team(record);
	if (hbm) {
		strcpy(record->metrics[2], "hbm.write");
		strcpy(record->metrics[4], "hbm.other");
		strcpy(record->metrics[5], "hbm.read");
		strcpy(record->units[5], "bytes");
	}
	for (uint32_t i = 0; i < 22; i++) {
		struct record_region *region;

		snprintf(name, sizeof name, "advec_mom_kernel_%02u", i);
		region = record_case_region(record, name, 123456789012);
		region->n_passages = 123456;
		region->work[0] = (struct record_work){ "cell", 15360.0 * 15360 };
	}
}

CASE("22 regions of two sockets fit a screen")
{
	for (int hbm = 0; hbm < 2; hbm++) {
		_cleanup_free_ char *text = NULL;
		struct record record;

		fill_loops(&record, hbm);
		text = table_of(&record);
		assert_in_range(expect_narrow_lines(text), 22 + 3, 40);
		if (hbm)
			EXPECT(text, " hbm.read       rate  "); /* one for all memory */
		EXPECT(text, "dram.write");
		EXPECT(text, "sockets");
		EXPECT(text, " 33/67 %");
	}
}

CASE("a terminal of 80 columns gets lines of 80, and the error in one of them")
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	fill_loops(&record, true);
	record.line = 80;
	text = table_of(&record);
	expect_lines_of(80, text);
	EXPECT(text, "dram.read");
	EXPECT(text, "dram.write");
	EXPECT(text, "  error");
	EXPECT(text, ", platform\n   icelake-sp:\n");
}

CASE("a narrow terminal gets lines of its width, and every figure")
{
	static const unsigned widths[] = { 40, 47, 60, 72 };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(widths); i++) {
		_cleanup_free_ char *text = NULL;
		struct record record;

		fill_loops(&record, true);
		record.line = widths[i / 2];
		for (uint32_t k = 0; i % 2 && k < 22; k++) {
			record.regions[k].shared_ns = 760000000;
			record_case_share(&record, &record.regions[k], 50);
		}
		text = table_of(&record);
		expect_lines_of(widths[i / 2], text);
		EXPECT(text, "dram.read");
		EXPECT(text, "hbm.read");
		EXPECT(text, "advec_mom_kernel_21");
	}
}

CASE("characters that take two columns, or none, do not shift the others")
{
	static const char *const names[] = { "solver", "\u6d41\u4f53", "e\u0301tape",
		"\U0001f30a" };
	_cleanup_free_ char *text = NULL;
	struct record record;

	assert_string_equal(setlocale(LC_ALL, NULL), "C");
	record_case_init(&record, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		record_case_region(&record, names[i], 4096);
	text = table_of(&record);
	EXPECT(text, "\n solver        10  ");
	EXPECT(text, "\n \u6d41\u4f53          10  ");
	EXPECT(text, "\n e\u0301tape         10  ");
	EXPECT(text, "\n \U0001f30a            10  ");
}

/* With what they moved at least and at most, too. What has no room there is below it. */
CASE("overlapping regions with brackets fit a screen")
{
	_cleanup_free_ char *text = NULL;
	const char *rest;
	struct record record;

	fill_loops(&record, false);
	for (uint32_t i = 0; i < 22; i++) {
		record.regions[i].shared_ns = 760000000;
		record_case_share(&record, &record.regions[i], 50);
	}
	text = table_of(&record);
	rest = strstr(text, "\n\n region ");
	assert_non_null(rest);
	assert_in_range(expect_narrow_lines(text) - expect_narrow_lines(rest + 1), 22 + 3, 40);
	EXPECT(text, " shared ");
	EXPECT(rest, " specitom   clock\n advec_mom_kernel_00  833 GB ");
	EXPECT(text, " 38 % ");
	EXPECT(text, "dram.read between");
	EXPECT(text, "dram.write between");
	EXPECT_NOT(text, "hbm.read between"); /* absent */
	EXPECT(text, " 185 GB to 370 GB ");
}

CASE("what a region moved at least and at most is shown where the two differ")
{
	static const struct {
		unsigned percent;
		bool has_hole;
		const char *between;
	} cases[] = { { 0, false, NULL }, { 2, false, NULL }, { 0, true, NULL },
		{ 3, false, " 2.91 GB to 3.00 GB " }, { 3, true, " 2.91 GB or more " } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL;
		struct record record;

		record_case_init(&record, 1);
		record_case_region(&record, "a", 1000000000);
		record_case_share(&record, &record.regions[0], cases[i].percent);
		record.regions[0].lost_ns = cases[i].has_hole;
		text = table_of(&record);
		if (cases[i].between)
			EXPECT(text, cases[i].between);
		else
			EXPECT_NOT(text, "between");
	}
}

CASE("small values stay readable")
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	record_case_init(&record, 2);
	record_case_region(&record, "tiny", 0);
	record.regions[0].sockets[0].values[0].count = 4096;
	record_case_region(&record, "huge", 500000000000000000);
	text = table_of(&record);
	EXPECT(text, " 4.10 KB 2.05 KB/s "); /* in 2 s */
	EXPECT(text, " 1.50 EB  750 PB/s ");
	EXPECT(text, " 1.50 ms ");
	EXPECT_NOT(text, "0.00 GB");
	expect_narrow_lines(text);
}

CASE("names with blanks are quoted")
{
	static const char long_name[] =
		"a-name-of-63-bytes-0123456789-0123456789-0123456789-0123456789-";
	_cleanup_free_ char *text = NULL;
	struct record record;

	record_case_init(&record, 3);
	record_case_region(&record, "two words", 1);
	record_case_region(&record, "l\xc3\xb6sen", 1);
	record_case_region(&record, long_name, 1);
	text = table_of(&record);
	EXPECT(text, "\n \"two words\"  ");
	EXPECT(text, "\n l\xc3\xb6sen              10  ");
	EXPECT(text, "0123456789-\n                    10  ");
	expect_narrow_lines(text);
}

CASE("what must be said of a region has a line")
{
	_cleanup_free_ char *text = NULL;
	struct record_region *region;
	struct record record;

	record_case_init(&record, 2);
	record_case_team(&record);
	record.failure = strdup("uncored was restarted.");
	record.warning = strdup("Each 10th opening was read.");
	region = record_case_region(&record, "a", 1);
	region->title = strdup("all of\na");
	region->n_failed = 1;
	region->n_open = 2;
	region->n_died = 3;
	region->n_ranks = 2;
	region->lost_ns = 1500000000;
	region->work[0] = (struct record_work){ "cell", 7 };
	region->sockets[0].values[0].quality = UNCORE_PARTIAL;
	record_case_region(&record, "b", 1)->work[0] = (struct record_work){ "flop", 2 };
	text = table_of(&record);
	EXPECT(text, "\n Regions of lbm (team 4711.0, host n01, 4 of 4 ranks, run 2), platform "
		     "icelake-sp:\n");
	EXPECT(text, "\n   1 of the passages failed and are not counted; still open or never "
		     "ended: 2; a process died inside: 3;");
	EXPECT(text, "; not measured\n   for 1.50 s; 2 of 4 ranks; ");
	EXPECT(text, "1.29 B per cell\n"); /* 9 bytes, 7 cells */
	EXPECT(text, "4.50 B per flop\n");
	EXPECT(text, "/s* ");
	EXPECT(text, "\n * dram.read: partial\n");
	EXPECT(text, "\n absent: hbm.read (this machine has no such memory)\n");
	EXPECT(text, "\n a: all of?a\n");
	EXPECT(text, "\n 1 of 4 ranks died ");
	EXPECT(text, "\n Last failure: uncored was restarted.\n Each 10th opening was read.\n");
	EXPECT(text, "\n Everything that each socket did is counted, not only this job.\n");
	EXPECT_NOT(text, "check.");
	expect_narrow_lines(text);
}

CASE("a metric that some regions lack is absent there")
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	record_case_init(&record, 2);
	record_case_region(&record, "a", 4096);
	record_case_region(&record, "b", 4096);
	record.regions[1].sockets[1].values[1] = (struct record_value){
		.quality = UNCORE_ABSENT,
		.why = strdup("a counter is gone"),
	};
	text = table_of(&record);
	EXPECT(text, "  absent  ");
	EXPECT(text, "\n absent: dram.write (a counter is gone)\n");
	EXPECT(text, " 24.6 KB "); /* of the other region */
}

CASE("without uncored there is one line")
{
	_cleanup_free_ char *text = NULL;
	struct record record;

	record_case_init(&record, 2);
	record_case_region(&record, "a", 1);
	*record.platform = '\0';
	record.failure = strdup("uncored is not there.\x1b[2J");
	text = table_of(&record);
	assert_string_equal(text, "uncore: Regions of lbm (pid 4711, host n01) have no figures: "
				  "uncored is not there.?[2J\n");
}

CASE("quantities have three digits")
{
	static const struct {
		double bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 1, "1 B" },
		{ 0.25, "0.25 B" },
		{ 999, "999 B" },
		{ 999.5, "1.00 KB" },
		{ 1000, "1.00 KB" },
		{ 4096, "4.10 KB" },
		{ 9994, "9.99 KB" },
		{ 9995, "10.0 KB" },
		{ 99949, "99.9 KB" },
		{ 99950, "100 KB" },
		{ 168e6, "168 MB" },
		{ 1.8e19, "18.0 EB" },
		{ 1e300, "1.00e+282 EB" },
		{ NAN, "?" },
		{ INFINITY, "?" },
		{ -1, "-1 B" },
		{ -4096, "-4.10 KB" },
	};
	char text[QUANTITY_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		quantity_bytes(cases[i].bytes, text);
		assert_string_equal(text, cases[i].text);
	}
	quantity_rate(DBL_MAX, text);
	assert_string_equal(text, "?");
	quantity_share(DBL_MAX, text);
	quantity_time(DBL_MAX, text);
	quantity_time(12e9, text);
	assert_string_equal(text, "12.0 s");
	quantity_time(1.23456e13, text);
	assert_string_equal(text, "12346 s");
	quantity_share(0.00001, text);
	assert_string_equal(text, "< 0.01 %");
	quantity_share(0.5, text);
	assert_string_equal(text, "50 %");
}

/* --- what follows from the counts --- */

static void expect_derived(struct derived derived, double value, double error)
{
	assert_true(derived_is_known(&derived));
	assert_true(fabs(derived.value - value) <= 1e-9 * fabs(value));
	assert_true(fabs(derived.error - error) <= 1e-9 * fabs(error));
}

CASE("bounds of errors add up")
{
	struct record_region *region;
	struct record record;

	record_case_init(&record, 1);
	region = record_case_region(&record, "a", 1000);
	region->n_failed = 5;
	/* 1000 + 2000 bytes, 1 % of each, and 64 bytes on each socket */
	expect_derived(derived_total(region, 0), 3000, 30 + 128);
	expect_derived(derived_rate(region, 0), 3000 / 2e9, 158 / 2e9);
	expect_derived(derived_per_passage(region, derived_total(region, 0)), 600, 158 / 5.0);
	expect_derived(derived_writes(&record, region), 6000, 60 + 128);
	expect_derived(derived_volume(&record, region), 9000, 90 + 256);
	expect_derived(derived_read_write(&record, region), 0.5, 3158.0 / (6000 - 188) - 0.5);
	expect_derived(
		derived_evaded(&record, region), 1.5, (9000 + 90 + 128.0) / (6000 - 188) - 1.5);
	region->work[0] = (struct record_work){ "bytes stored", 4500 };
	expect_derived(derived_store_ratio(&record, region), 2, 346 / 4500.0);
	assert_true(fabs(derived_worst_error(&record, region) - 158.0 / 3000) < 1e-12);
	record_done(&record);
}

CASE("the total is the share, and its bound reaches all that the region may have moved")
{
	struct record_region *region;
	struct record record;

	record_case_init(&record, 1);
	region = record_case_region(&record, "a", 1000);
	record_case_share(&record, region, 40);
	/* 800 + 1600 of 1000 + 2000 bytes, of which 600 + 1200 were alone */
	expect_derived(derived_total(region, 0), 2400, 158 + 600);
	expect_derived(derived_rate(region, 0), 2400 / 2e9, 158 / 2e9);
	region->sockets[1].values[0].has_share = false;
	expect_derived(derived_total(region, 0), 2800, 158);
	record_done(&record);
}

/* A passage that death ended moved bytes, too. */
CASE("passages that ended by death widen the bound")
{
	struct record_region *region;
	struct record record;

	record_case_init(&record, 1);
	region = record_case_region(&record, "a", 1000);
	region->n_died = 10;
	expect_derived(
		derived_per_passage(region, derived_total(region, 0)), 300, 15.8 + 300 - 150);
	record_done(&record);
}

CASE("what is not known has a reason")
{
	struct record_region *region;
	struct derived derived;
	struct record record;

	record_case_init(&record, 1);
	region = record_case_region(&record, "a", 0);
	derived = derived_read_write(&record, region);
	assert_true(isnan(derived.value));
	assert_string_equal(derived.why, "the divisor is 0");
	derived = derived_store_ratio(&record, region);
	assert_string_equal(derived.why, "the program did not say how many bytes it stored");
	derived = derived_total(region, 4);
	assert_string_equal(derived.why, "this machine has no such memory");
	region->n_failed = region->n_passages;
	derived = derived_per_passage(region, derived_total(region, 0));
	assert_string_equal(derived.why, "no passage has ended with figures");
	region->sockets[0].window_ns = 0;
	derived = derived_rate(region, 0);
	assert_string_equal(derived.why, "the region was open for no time");
	record_done(&record);
}

CASE("each unit has its steps")
{
	static const struct {
		const char *unit;
		double value;
		const char *text;
	} cases[] = {
		{ "bytes", 4096, "4.10 KB" }, { "ns", 4096, "4.10 us" },
		{ "nJ", 4.096e15, "4.10 MJ" }, { "nJ", 1e9, "1.00 J" }, { "count", 4096, "4.10 K" },
		{ "count", 999, "999" }, { "furlongs", 1.8e19, "18.0 E" }, /* of a later uncored */
	};
	char text[QUANTITY_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		quantity_of(cases[i].unit, cases[i].value, text);
		assert_string_equal(text, cases[i].text);
	}
}

CASE("CPUs are listed as Linux does")
{
	char text[CPUS_TEXT_MAX];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	cpus_list(&cpus, sizeof cpus, text);
	assert_string_equal(text, "");
	for (int i = 0; i < 4; i++)
		CPU_SET(i, &cpus);
	CPU_SET(8, &cpus);
	CPU_SET(1023, &cpus);
	cpus_list(&cpus, sizeof cpus, text);
	assert_string_equal(text, "0-3,8,1023");
	for (int i = 0; i < 1024; i += 2)
		CPU_SET(i, &cpus);
	cpus_list(&cpus, sizeof cpus, text);
	assert_string_equal(text, "0-4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42...");
}

CASE("an error bound has no exponent")
{
	static const struct {
		uint64_t skew_ns;
		const char *says;
	} bounds[] = {
		{ 0, "below 0.0001 %" },
		{ 75, "below 0.0001 %" },
		{ 1000, "+- 0.0001 %" },
		{ 5500, "+- 0.00055 %" },
		{ 995000000, "+- 100 %" },
		{ 12345000000, "+- 1234 %" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		const struct format_socket socket = { .window_ns = 1000000000,
			.skew_ns = bounds[i].skew_ns };
		char text[64];
		FILE *out = fmemopen(text, sizeof text, "w");

		assert_non_null(out);
		format_bound(out, &socket, 2);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, bounds[i].says);
	}
}
