/* SPDX-License-Identifier: BSD-3-Clause */
/* The text that Prometheus reads, byte by byte. */
#include <string.h>

#include "client/command/export/exposition.h"
#include "tests/harness/test.h"

static const struct exposition_family SWEEPS = { "uncore_sweeps_total", "counter", "How often." };
#define HEAD "# HELP uncore_sweeps_total How often.\n# TYPE uncore_sweeps_total counter\n"

static char text[1024];
static struct exposition exposition;

static int begin(void **state)
{
	exposition = (struct exposition){ .out = fmemopen(text, sizeof text, "w") };
	assert_non_null(exposition.out);
	return 0;
}

#define BEGUN(sentence) CASE_WITHIN(sentence, begin, NULL)

static void expect(const char *wanted)
{
	fclose(exposition.out);
	assert_string_equal(text, wanted);
}

BEGUN("a family without series is not named")
{
	exposition_family(&exposition, &SWEEPS);
	exposition_comment(exposition.out, "nothing");
	expect("# nothing\n");
}

BEGUN("help and type come once for all series")
{
	exposition_family(&exposition, &SWEEPS);
	for (uint32_t i = 0; i < 2; i++) {
		exposition_begin(&exposition);
		exposition_number(&exposition, "socket", i);
		exposition_count(&exposition, 7 + i);
	}
	expect(HEAD "uncore_sweeps_total{socket=\"0\"} 7\nuncore_sweeps_total{socket=\"1\"} 8\n");
}

BEGUN("each family has its own help and type")
{
	exposition_family(&exposition, &SWEEPS);
	exposition_begin(&exposition);
	exposition_count(&exposition, 1);
	exposition_family(&exposition, &(struct exposition_family){ "uncore_up", "gauge", "Up." });
	exposition_begin(&exposition);
	exposition_count(&exposition, 0);
	expect(HEAD "uncore_sweeps_total 1\n"
		    "# HELP uncore_up Up.\n# TYPE uncore_up gauge\nuncore_up 0\n");
}

BEGUN("labels are escaped")
{
	exposition_family(&exposition, &SWEEPS);
	exposition_begin(&exposition);
	exposition_label(&exposition, "a", "back\\slash \"quoted\"\nline");
	exposition_label(&exposition, "b", "\x01 \xff caf\xc3\xa9");
	exposition_count(&exposition, 1);
	expect(HEAD "uncore_sweeps_total{a=\"back\\\\slash \\\"quoted\\\"\\nline\","
		    "b=\"? ? caf\xc3\xa9\"} 1\n");
}

BEGUN("help is escaped")
{
	exposition_family(&exposition,
		&(struct exposition_family){ "uncore_up", "gauge", "a \"b\"\\\nuncore_up 7" });
	exposition_begin(&exposition);
	exposition_count(&exposition, 1);
	expect("# HELP uncore_up a \"b\"\\\\\\nuncore_up 7\n# TYPE uncore_up gauge\nuncore_up 1\n");
}

BEGUN("a comment never becomes a series")
{
	exposition_comment(exposition.out, "gone\nuncore_up 1\r\n");
	expect("# gone?uncore_up 1??\n");
}

BEGUN("values are whole or nanoseconds")
{
	exposition_family(&exposition, &SWEEPS);
	exposition_begin(&exposition);
	exposition_count(&exposition, UINT64_MAX);
	exposition_begin(&exposition);
	exposition_nano(&exposition, 1000000001);
	exposition_begin(&exposition);
	exposition_nano(&exposition, 0);
	expect(HEAD "uncore_sweeps_total 18446744073709551615\n"
		    "uncore_sweeps_total 1.000000001\nuncore_sweeps_total 0.000000000\n");
}

CASE("names have letters digits and underscores only")
{
	char name[EXPOSITION_NAME_MAX];

	exposition_name("dram.read", "bytes_total", name);
	assert_string_equal(name, "uncore_dram_read_bytes_total");
	exposition_name("a-b c{\"\xff\n", "total", name);
	assert_string_equal(name, "uncore_a_b_c_____total");
}
