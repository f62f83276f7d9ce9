/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore export` as a collector runs it, against a daemon whose counts are known. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "tests/unit/command/command-case.h"

CASE("every value is a series")
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

CASE("channels are series only where somebody wants them")
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

CASE("an absent value is a comment and no series")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "export");
	expect(&outcome, 0, "\n# itom of socket 1 is absent: this machine has no such event\n");
	assert_null(strstr(outcome.text, "uncore_itom"));
	run_with(&outcome, &(struct fake_options){ .why = "a\nuncore_itom 0" }, "export");
	expect(&outcome, 0, "\n# itom of socket 1 is absent: a?uncore_itom 0\n");
	assert_null(strstr(outcome.text, "\nuncore_itom"));
}

CASE("flags of a newer uncored have one series")
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

CASE("a refused user gets the reason")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .refuse = -EACCES }, "export");
	expect(&outcome, 0, "\nuncore_up 0\n");
	expect(&outcome, 0, "\nuncore_down_info{reason=\"refused\"} 1\n");
	assert_null(strstr(outcome.text, "bytes_total"));
	run_with(&outcome, &(struct fake_options){ .refuse = -ENODEV }, "export");
	expect(&outcome, 0, "\nuncore_down_info{reason=\"nothing_to_count\"} 1\n");
}

CASE("without uncored there is no answer")
{
	struct outcome outcome;

	run(&outcome, "export --socket /nonexistent/socket");
	expect(&outcome, 0, "\nuncore_down_info{reason=\"no_answer\"} 1\n");
	run(&outcome, "export --clustercockpit --socket /nonexistent/socket");
	assert_int_equal(outcome.text[0], '#');
	assert_null(strstr(outcome.text, "\nmem_bw"));
}

CASE("refusals are told by rule")
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

CASE("a restart is gone through")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .deaf_after = 0, .retire_after = 1 }, "export");
	expect(&outcome, 0, "\nuncore_up 1\n");
}

/* A step of both metrics is 3000 bytes on socket 0, and 6000 on socket 1, in about a second. */
CASE("clustercockpit gets read and write in megabytes a second")
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

CASE("clustercockpit gets no bandwidth of counters that lost counts")
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

CASE("options that make no sense are refused")
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

CASE("a file is replaced, and a device behind a link is written through")
{
	char folder[] = "/tmp/uncore-export-XXXXXX", path[64], line[96];
	struct outcome outcome;
	struct stat status;

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
	expect(&outcome, 0, "");
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
}

CASE("output that cannot be written is an error")
{
	struct outcome outcome;

	run(&outcome, "export -o /dev/full");
	expect(&outcome, 1, "cannot write to /dev/full: No space left on device.");
	run(&outcome, "export -o -");
	expect(&outcome, 0, "\nuncore_up 0\n");
	run(&outcome, "export -o /nonexistent/x.prom");
	expect(&outcome, 1, "cannot write to /nonexistent/x.prom: No such file or directory.");
	run(&outcome, "export >/dev/full");
	expect(&outcome, 1, "cannot write to stdout: No space left on device.");
}
