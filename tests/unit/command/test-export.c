/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore export` as a collector runs it, against a daemon whose counts are known. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "tests/unit/command/command-case.h"

static void every_value_is_a_series(void **state)
{
	struct outcome outcome;

	run_with(&outcome, NULL, "export");
	expect(&outcome, 0, "\nuncore_up 1\n");
	expect(&outcome, 0, "\nuncore_dram_read_bytes_total{socket=\"0\",package=\"0\"} 1000\n");
	expect(&outcome, 0, "\nuncore_dram_read_bytes_total{socket=\"1\",package=\"2\"} 2000\n");
	expect(&outcome, 0, "\nuncore_dram_write_bytes_total{socket=\"1\",package=\"2\"} 4000\n");
	expect(&outcome, 0,
		"\nuncore_clock_seconds_total{socket=\"0\",package=\"0\"} 0.000003000\n");
	expect(&outcome, 0, "\nuncore_info{platform=\"icelake-sp\",generation=\"");
	expect(&outcome, 0, "\nuncore_sweeps_total{socket=\"0\",package=\"0\"} 1\n");
	assert_int_equal(count(&outcome, "# TYPE uncore_dram_read_bytes_total counter\n"), 1);
	assert_null(strcasestr(outcome.text, "nan"));
}

static void channels_are_series_only_where_somebody_wants_them(void **state)
{
	struct outcome outcome;

	run_with(&outcome, NULL, "export");
	assert_null(strstr(outcome.text, "channel"));
	run_with(&outcome, NULL, "export --channels");
	expect(&outcome, 0,
		"\nuncore_channel_dram_read_bytes_total{socket=\"0\",package=\"0\",channel="
		"\"imc0\"} 10\n");
	expect(&outcome, 0,
		"\nuncore_channel_dram_read_bytes_total{socket=\"1\",package=\"2\",channel="
		"\"imc2\"} 12\n");
	assert_int_equal(count(&outcome, "\nuncore_channel_"), 6);
	expect(&outcome, 0, "\nuncore_dram_read_bytes_total{socket=\"1\",package=\"2\"} 2000\n");
}

static void an_absent_value_is_a_comment_and_no_series(void **state)
{
	struct outcome outcome;

	run_with(&outcome, NULL, "export");
	expect(&outcome, 0, "\n# itom of socket 1 is absent: this machine has no such event\n");
	assert_null(strstr(outcome.text, "uncore_itom"));
	run_with(&outcome, &(struct fake_options){ .why = "a\nuncore_itom 0" }, "export");
	expect(&outcome, 0, "\n# itom of socket 1 is absent: a?uncore_itom 0\n");
	assert_null(strstr(outcome.text, "\nuncore_itom"));
}

static void flags_of_a_newer_uncored_have_one_series(void **state)
{
	struct outcome outcome;

	run_with(&outcome,
		&(struct fake_options){ .quality = UNCORE_PARTIAL | 0x300000 | UNCORE_STANDIN },
		"export");
	expect(&outcome, 0,
		"uncore_quality{socket=\"1\",package=\"2\",metric=\"dram.read\",flag=\"partial\"} "
		"1\n");
	expect(&outcome, 0,
		"uncore_quality{socket=\"1\",package=\"2\",metric=\"dram.read\",flag=\"standin\"} "
		"1\n");
	assert_int_equal(
		count(&outcome,
			"socket=\"1\",package=\"2\",metric=\"dram.read\",flag=\"unknown\"} 1\n"),
		1);
}

static void a_refused_user_gets_the_reason(void **state)
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .refuse = -EACCES }, "export");
	expect(&outcome, 0, "\nuncore_up 0\n");
	expect(&outcome, 0, "\nuncore_down_info{reason=\"refused\"} 1\n");
	assert_null(strstr(outcome.text, "bytes_total"));
	run_with(&outcome, &(struct fake_options){ .refuse = -ENODEV }, "export");
	expect(&outcome, 0, "\nuncore_down_info{reason=\"nothing_to_count\"} 1\n");
}

static void without_uncored_there_is_no_answer(void **state)
{
	struct outcome outcome;

	run(&outcome, "export --socket /nonexistent/socket");
	expect(&outcome, 0, "\nuncore_down_info{reason=\"no_answer\"} 1\n");
	run(&outcome, "export --clustercockpit --socket /nonexistent/socket");
	assert_int_equal(outcome.text[0], '#');
	assert_null(strstr(outcome.text, "\nmem_bw"));
}

static void refusals_are_told_by_rule(void **state)
{
	struct outcome outcome;

	run_with(&outcome,
		&(struct fake_options){
			.report = "{\"refusals\":{\"access.group\":2,\"protocol.message\":0}}" },
		"export");
	expect(&outcome, 0, "\nuncore_refusals_total{rule=\"access.group\"} 2\n");
	expect(&outcome, 0, "\nuncore_refusals_total{rule=\"protocol.message\"} 0\n");
	run_with(&outcome, NULL, "export"); /* an uncored whose report has none */
	expect(&outcome, 0, "\nuncore_up 1\n");
	assert_null(strstr(outcome.text, "uncore_refusals"));
	run_with(&outcome, &(struct fake_options){ .report = "{\"refusals\":[7]" }, "export");
	expect(&outcome, 0, "\nuncore_up 1\n");
	assert_null(strstr(outcome.text, "uncore_refusals"));
}

static void an_older_uncored_tells_no_quantum(void **state)
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .is_0_1 = true }, "export");
	expect(&outcome, 0, "\nuncore_up 1\n");
	assert_null(strstr(outcome.text, "uncore_quantum_bytes"));
}

static void a_restart_is_gone_through(void **state)
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .deaf_after = 0, .retire_after = 1 }, "export");
	expect(&outcome, 0, "\nuncore_up 1\n");
}

/* A step of both metrics is 3000 bytes on socket 0, and 6000 on socket 1, in about a second. */
static void clustercockpit_gets_read_and_write_in_megabytes_a_second(void **state)
{
	struct outcome outcome;
	double first, second;
	char *line;

	run_with(&outcome, NULL, "export --clustercockpit");
	line = strstr(outcome.text, "mem_bw,hostname=");
	assert_non_null(line);
	assert_int_equal(
		sscanf(line, "mem_bw,%*[^,],type=socket,type-id=%*u,unit=MB/s value=%lf", &first),
		1);
	line = strstr(line + 1, "mem_bw,hostname=");
	assert_non_null(line);
	assert_int_equal(
		sscanf(line, "mem_bw,%*[^,],type=socket,type-id=%*u,unit=MB/s value=%lf", &second),
		1);
	assert_true(first > 0 && first <= 0.003);
	assert_true(second >= first && second <= 0.006);
	expect(&outcome, 0, "# hbm_bw of socket 1 is absent: This platform has no such counter.\n");
}

static void clustercockpit_gets_no_bandwidth_of_counters_that_lost_counts(void **state)
{
	static const struct {
		uint32_t quality;
		const char *why;
	} cases[] = {
		{ UNCORE_FROZEN, "# mem_bw of socket 1 is absent: The counters stood still" },
		{ UNCORE_RESET, "# mem_bw of socket 1 is absent: The hardware's count went back" },
	};
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		run_with(&outcome, &(struct fake_options){ .quality = cases[i].quality },
			"export --clustercockpit");
		expect(&outcome, 0, cases[i].why);
		assert_int_equal(count(&outcome, "mem_bw,hostname="), 0);
	}
}

static void options_that_make_no_sense_are_refused(void **state)
{
	static const char *const bad[] = { "export --every 5", "export --clustercockpit --every 0",
		"export --clustercockpit --every 3601", "export --http -o x", "export x",
		"export --http --clustercockpit", "export --channels --clustercockpit",
		"export --nonsense", "export --http </dev/null" };
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		run(&outcome, bad[i]);
		expect(&outcome, 2, "uncore export:");
	}
}

static void expect_in_file(const char *path, const char *part)
{
	static char text[16384];
	_cleanup_file_ FILE *file = fopen(path, "re");

	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void a_file_is_replaced_and_nothing_else(void **state)
{
	char folder[] = "/tmp/uncore-export-XXXXXX", path[64], line[96];
	struct outcome outcome;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/x.prom", folder);
	snprintf(line, sizeof line, "export -o %s", path);
	run(&outcome, line);
	expect_in_file(path, "\nuncore_up 0\n");
	run_with(&outcome, NULL, line);
	expect_in_file(path, "\nuncore_up 1\n");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	run(&outcome, line);
	expect(&outcome, 1, "it is not a regular file.");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
}

static void output_that_cannot_be_written_is_an_error(void **state)
{
	struct outcome outcome;

	run(&outcome, "export -o /dev/null");
	expect(&outcome, 1, "cannot write /dev/null: it is not a regular file.");
	run(&outcome, "export -o /nonexistent/x.prom");
	expect(&outcome, 1, "cannot write /nonexistent/x.prom: No such file or directory.");
	run(&outcome, "export >/dev/full");
	expect(&outcome, 1, "cannot write to stdout: No space left on device.");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(every_value_is_a_series),
		cmocka_unit_test(channels_are_series_only_where_somebody_wants_them),
		cmocka_unit_test(an_absent_value_is_a_comment_and_no_series),
		cmocka_unit_test(flags_of_a_newer_uncored_have_one_series),
		cmocka_unit_test(a_refused_user_gets_the_reason),
		cmocka_unit_test(without_uncored_there_is_no_answer),
		cmocka_unit_test(refusals_are_told_by_rule),
		cmocka_unit_test(an_older_uncored_tells_no_quantum),
		cmocka_unit_test(a_restart_is_gone_through),
		cmocka_unit_test(clustercockpit_gets_read_and_write_in_megabytes_a_second),
		cmocka_unit_test(clustercockpit_gets_no_bandwidth_of_counters_that_lost_counts),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
		cmocka_unit_test(a_file_is_replaced_and_nothing_else),
		cmocka_unit_test(output_that_cannot_be_written_is_an_error),
	};

	return cmocka_run_group_tests_name("export", cases, NULL, NULL);
}
