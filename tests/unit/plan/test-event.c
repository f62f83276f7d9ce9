/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/tree.h"

#include <errno.h>

#include "daemon/plan/event.h"

/* A memory controller with one of each kind of trouble in its events. */
static const char *const box_files[][2] = {
	{ "type", "12\n" },
	{ "cpumask", "0\n" },
	{ "format/event", "config:0-7\n" },
	{ "format/umask", "config:8-15,32-57\n" },
	{ "format/edge", "config:18\n" },
	{ "format/filter", "config1:0-31\n" },
	{ "format/tid", "config2:63\n" },
	{ "format/all", "config:0-63\n" },
	{ "format/backwards", "config:7-0\n" },
	{ "format/beyond", "config:0-64\n" },
	{ "format/word", "config7:0-7\n" },
	{ "format/text", "bits 0 to 7\n" },
	{ "events/read", "event=0x04,umask=0x0f" },
	{ "events/read.scale", "6.103515625e-5" },
	{ "events/read.unit", "MiB" },
	{ "events/half", "event=0x04,umask=0x0f" },
	{ "events/half.scale", "3.0517578125e-5" },
	{ "events/half.unit", "MiB" },
	{ "events/energy", "event=0x02" },
	{ "events/energy.scale", "2.3283064365386962890625e-10" },
	{ "events/energy.unit", "Joules" },
	{ "events/plain", "event=0x448\n" },
	{ "events/nest", "event=0x48\n" },
	{ "events/nest.scale", "1\n" },
	{ "events/prescaled", "event=0xd0\n" },
	{ "events/prescaled.scale", "256\n" },
	{ "events/garbled", "event=0x04" },
	{ "events/garbled.scale", "64x" },
	{ "events/beats", "event=0xa5" },
	{ "events/beats.scale", "64" },
	{ "events/beats.unit", "Bytes" },
	{ "events/parameter", "event=?" },
	{ "events/box3", "event=0x33" },
};

struct fixture {
	struct tree tree;
	struct pmu_list list;
};

static void fixture_init(struct fixture *fixture, const char *pmu)
{
	fixture->tree = tree_new();
	for (size_t i = 0; i < sizeof box_files / sizeof *box_files; i++)
		tree_write_pmu(&fixture->tree, pmu, box_files[i][0], box_files[i][1]);
	assert_int_equal(pmu_list_load(fixture->tree.fd, &fixture->list), 0);
}

static void fixture_done(struct fixture *fixture)
{
	pmu_list_done(&fixture->list);
	tree_free(&fixture->tree);
}

static struct event_choices one(enum event_kind kind, const char *text)
{
	struct event_choices choices = { .n = 1, .choice = { { .kind = kind } } };

	snprintf(choices.choice[0].text, sizeof choices.choice[0].text, "%s", text);
	return choices;
}

static const struct worth of_64 = { { 64, 1 }, "bytes" }, of_32 = { { 32, 1 }, "bytes" };

struct good {
	enum event_kind kind;
	const char *text;
	uint32_t bytes;
	uint64_t config, config1, config2;
};

static void check_good(const struct good *cases, size_t n)
{
	struct fixture fixture;

	fixture_init(&fixture, "uncore_imc_3");
	for (size_t i = 0; i < n; i++) {
		struct event_choices choices = one(cases[i].kind, cases[i].text);
		struct worth worth = { { cases[i].bytes, 1 }, "bytes" };
		char why[PAGE_TEXT_MAX] = "";
		struct event_code code;

		if (event_encode(&fixture.list.pmus[0], &choices, worth.scale.n ? &worth : NULL,
			    &code, why) != 0)
			fail_msg("%s: %s", cases[i].text, why);
		assert_int_equal(code.config, cases[i].config);
		assert_int_equal(code.config1, cases[i].config1);
		assert_int_equal(code.config2, cases[i].config2);
	}
	fixture_done(&fixture);
}

CASE("raw events are placed as format/ says")
{
	static const struct good cases[] = {
		{ EVENT_RAW, "event=0x04,umask=0x0f", 64, 0xf04 },
		{ EVENT_RAW, "event=0x35,umask=0xcc47ff01", 64, 0x00cc47ff00000135 },
		{ EVENT_RAW, "event=0x35,umask=0xcc57ff01", 64, 0x00cc57ff00000135 },
		{ EVENT_RAW, "event=4,edge", 64, 0x40004 },
		{ EVENT_RAW, "event=4,edge=0", 64, 0x4 },
		{ EVENT_RAW, "event=1,filter=0xffffffff", 64, 1, 0xffffffff },
		{ EVENT_RAW, "event=1,tid", 64, 1, 0, 1ULL << 63 },
		{ EVENT_RAW, "all=0xffffffffffffffff", 64, UINT64_MAX },
		{ EVENT_RAW, "config=0x8000000000000135", 64, 0x8000000000000135 },
		{ EVENT_RAW, "config=0x135,config1=0x7,config2=0x8000000000000000", 64, 0x135, 7,
			1ULL << 63 },
	};

	check_good(cases, sizeof cases / sizeof *cases);
}

CASE("aliases are taken if their scale agrees")
{
	static const struct good cases[] = {
		{ EVENT_SYSFS, "read", 64, 0xf04 },        /* 64 bytes, as its scale says */
		{ EVENT_SYSFS, "read", 0, 0xf04 },         /* not asked */
		{ EVENT_SYSFS, "nest", 64, 0x48 },         /* "1" states nothing */
		{ EVENT_SYSFS, "prescaled", 16384, 0xd0 }, /* 256 x 64 */
		{ EVENT_SYSFS, "beats", 64, 0xa5 },
		{ EVENT_SYSFS, "box{n}", 64, 0x33 },
		{ EVENT_SYSFS, "energy", 0, 2 },
		{ EVENT_SYSFS, "read,edge,filter=0x3ff", 64, 0x40f04, 0x3ff },
	};

	check_good(cases, sizeof cases / sizeof *cases);
}

/* An alias states what a count is worth, in a unit of its own, and the platform file does. */
CASE("aliases agree in each unit, also where a count is worth a fraction")
{
	static const struct {
		const char *alias;
		struct worth worth;
		const char *why; /* NULL: they agree */
	} cases[] = {
		{ "energy", { { 1953125, 8388608 }, "nJ" }, NULL }, /* 10^9 / 2^32 */
		{ "energy", { { 1953125, 8388607 }, "nJ" }, NULL }, /* far below 0.1 % */
		{ "energy", { { 15625, 256 }, "nJ" },
			"its .scale and .unit say 0.232831 nJ, the platform file 15625/256" },
		{ "energy", { { 1, 1 }, "count" }, "its .unit \"Joules\" is not a unit of count" },
		{ "read", { { 64, 1 }, "nJ" }, "its .unit \"MiB\" is not a unit of nJ" },
		{ "read", { { 64, 9 }, "bytes" },
			"its .scale and .unit say 64 bytes, the platform file 64/9" },
		{ "nest", { { 64, 9 }, "bytes" }, NULL }, /* "1" states nothing */
		{ "prescaled", { { 256, 9 }, "bytes" }, NULL },
		{ "prescaled", { { 64, 9 }, "bytes" },
			"its .scale 256, without a .unit, does not divide 64/9 bytes" },
	};
	struct fixture fixture;

	fixture_init(&fixture, "power");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct event_choices choices = one(EVENT_SYSFS, cases[i].alias);
		char why[PAGE_TEXT_MAX] = "", expected[PAGE_TEXT_MAX] = "";
		struct event_code code;
		int r = event_encode(&fixture.list.pmus[0], &choices, &cases[i].worth, &code, why);

		if (cases[i].why)
			snprintf(expected, sizeof expected, "sysfs:%s: %s", cases[i].alias,
				cases[i].why);
		assert_string_equal(why, expected);
		assert_int_equal(r, cases[i].why ? -EDOM : 0);
	}
	fixture_done(&fixture);
}

struct bad {
	enum event_kind kind;
	const char *text, *why;
};

static void check_bad(const char *pmu, const struct bad *cases, size_t n)
{
	struct fixture fixture;
	int r;

	fixture_init(&fixture, pmu);
	for (size_t i = 0; i < n; i++) {
		struct event_choices choices = one(cases[i].kind, cases[i].text);
		struct event_code code = { .config = 77 };
		char why[PAGE_TEXT_MAX] = "";

		r = event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why);
		assert_int_equal(r, strstr(cases[i].why, "its .") ? -EDOM : -ENOENT);
		assert_string_equal(why, cases[i].why);
		assert_int_equal(code.config, 77);
	}
	fixture_done(&fixture);
}

CASE("a raw event that format/ does not cover is refused")
{
	static const struct bad cases[] = {
		{ EVENT_RAW, "event=0x104",
			"raw:event=0x104: event=0x104 does not fit its 8 bits" },
		{ EVENT_RAW, "edge=2", "raw:edge=2: edge=0x2 does not fit its 1 bits" },
		{ EVENT_RAW, "cmask=1", "raw:cmask=1: the PMU has no field \"cmask\"" },
		{ EVENT_RAW, "event=4,event=5",
			"raw:event=4,event=5: event overlaps a field that was given before it" },
		{ EVENT_RAW, "event=4,all=1",
			"raw:event=4,all=1: all overlaps a field that was given before it" },
		{ EVENT_RAW, "event=four",
			"raw:event=four: event has the value \"four\", which is not a number" },
		{ EVENT_RAW, "event=-1",
			"raw:event=-1: event has the value \"-1\", which is not a number" },
		{ EVENT_RAW,
			"event=", "raw:event=: event has the value \"\", which is not a number" },
		{ EVENT_RAW, "all=0x10000000000000000",
			"raw:all=0x10000000000000000: all has the value \"0x10000000000000000\", "
			"which is not a number" },
		{ EVENT_RAW, "event=4,", "raw:event=4,: \"\" is not the name of a field" },
		{ EVENT_RAW, "../type=1", "raw:../type=1: \"../type\" is not the name of a field" },
		{ EVENT_RAW, "config1=0x100000000",
			"raw:config1=0x100000000: config1=0x100000000 sets bits 0x100000000 that "
			"no "
			"field of format/ covers" },
		{ EVENT_RAW, "backwards=1",
			"raw:backwards=1: format/backwards says \"config:7-0\", which is not "
			"understood" },
		{ EVENT_RAW, "beyond=1",
			"raw:beyond=1: format/beyond says \"config:0-64\", which is not "
			"understood" },
		{ EVENT_RAW, "word=1",
			"raw:word=1: format/word says \"config7:0-7\", which is not understood" },
		{ EVENT_RAW, "text=1",
			"raw:text=1: format/text says \"bits 0 to 7\", which is not understood" },
	};

	check_bad("uncore_imc_3", cases, sizeof cases / sizeof *cases);
}

CASE("an alias that is absent, odd or differently scaled is refused")
{
	static const struct bad cases[] = {
		{ EVENT_SYSFS, "write", "sysfs:write: the PMU has no such event" },
		{ EVENT_SYSFS, "../type", "sysfs:../type: that is not the name of an event" },
		{ EVENT_SYSFS, "half",
			"sysfs:half: its .scale and .unit say 32 bytes, the platform file 64" },
		{ EVENT_SYSFS, "energy",
			"sysfs:energy: its .unit \"Joules\" is not a unit of bytes" },
		{ EVENT_SYSFS, "prescaled",
			"sysfs:prescaled: its .scale 256, without a .unit, does not divide 64 "
			"bytes" },
		{ EVENT_SYSFS, "garbled", "sysfs:garbled: its .scale \"64x\" is not a factor" },
		{ EVENT_SYSFS, "plain", "sysfs:plain: event=0x448 does not fit its 8 bits" },
		{ EVENT_SYSFS, "parameter",
			"sysfs:parameter: event has the value \"?\", which is not a number" },
		{ EVENT_SYSFS, "half,filter=1",
			"sysfs:half,filter=1: its .scale and .unit say 32 bytes, the platform file "
			"64" },
		{ EVENT_SYSFS, "read,umask=1",
			"sysfs:read,umask=1: umask overlaps a field that was given before it" },
		{ EVENT_SYSFS, "read,cmask=1",
			"sysfs:read,cmask=1: the PMU has no field \"cmask\"" },
	};

	check_bad("uncore_imc_3", cases, sizeof cases / sizeof *cases);
}

CASE("{n} needs a number in the PMU's name")
{
	static const struct bad cases[] = {
		{ EVENT_SYSFS, "box{n}", "sysfs:box{n}: the PMU's name has no number for {n}" },
	};

	check_bad("uncore_imc", cases, 1);
}

/* libpfm4 knows the processors of the architecture that it was built for. */
#ifdef __powerpc__
#define PFM_WIDE        "power9::PM_CYC_ALT"
#define PFM_WIDE_CONFIG "config=0x2001e sets bits 0x20000"
#else
#define PFM_WIDE        "knl_unc_imc0::UNC_M_CAS_COUNT:RD"
#define PFM_WIDE_CONFIG "config=0x103 sets bits 0x100"
#endif

CASE("libpfm4 encodes for machines that are not this one")
{
	static const struct good good[] = {
#ifdef __powerpc__
		{ EVENT_PFM, "power8::PM_CYC", 64, 0x1e },
		{ EVENT_PFM, "power9::PM_CYC", 64, 0x1001e },
#else
		{ EVENT_PFM, "knl_unc_imc0::UNC_M_CAS_COUNT:RD", 64, 0x103 },
		{ EVENT_PFM, "knl_unc_imc{n}::UNC_M_CAS_COUNT:WR", 64, 0x203 },
		{ EVENT_PFM, "knl_unc_edc_eclk0::UNC_E_RPQ_INSERTS", 64, 0x101 },
		{ EVENT_PFM, "knl_unc_edc_eclk0::UNC_E_WPQ_INSERTS", 64, 0x102 },
		{ EVENT_PFM, "knl_unc_edc_uclk0::UNC_E_EDC_ACCESS:MISS_CLEAN", 64, 0x402 },
		{ EVENT_PFM, "skx_unc_imc0::UNC_M_CAS_COUNT:WR", 64, 0xc04 },
#endif
	};
	static const struct bad bad[] = {
		{ EVENT_PFM, "knl_unc_imc0::UNC_M_NONSENSE",
			"pfm:knl_unc_imc0::UNC_M_NONSENSE: libpfm4 says \"event not found\"" },
	};

	check_good(good, sizeof good / sizeof *good);
	check_bad("uncore_imc_3", bad, 1);
}

CASE("encodings of libpfm4 must be covered by format/")
{
	struct event_choices choices = one(EVENT_PFM, PFM_WIDE);
	struct tree tree = tree_new();
	struct pmu_list list;
	struct event_code code;
	char why[PAGE_TEXT_MAX];

	tree_write_pmu(&tree, "box", "format/event", "config:0-7\n");
	assert_int_equal(pmu_list_load(tree.fd, &list), 0);
	assert_int_equal(event_encode(&list.pmus[0], &choices, &of_64, &code, why), -ENOENT);
	assert_string_equal(
		why, "pfm:" PFM_WIDE ": " PFM_WIDE_CONFIG " that no field of format/ covers");
	pmu_list_done(&list);
	tree_free(&tree);
}

CASE("a PMU without format/ covers nothing")
{
	struct event_choices choices = one(EVENT_RAW, "config=1");
	struct tree tree = tree_new();
	struct pmu_list list;
	struct event_code code;
	char why[PAGE_TEXT_MAX];

	tree_write_pmu(&tree, "box", "type", "1\n");
	assert_int_equal(pmu_list_load(tree.fd, &list), 0);
	assert_int_equal(event_encode(&list.pmus[0], &choices, &of_64, &code, why), -ENOENT);
	assert_string_equal(why, "raw:config=1: format/ cannot be read: No such file or directory");
	pmu_list_done(&list);
	tree_free(&tree);
}

CASE("the first alternative that resolves is taken")
{
	struct event_choices choices = {
		.n = 3,
		.choice = {
			{ EVENT_SYSFS, "write" },
			{ EVENT_RAW, "event=0x04,umask=0x30" },
			{ EVENT_SYSFS, "read" },
		},
	};
	struct fixture fixture;
	struct event_code code;
	char why[PAGE_TEXT_MAX];

	fixture_init(&fixture, "uncore_imc_3");
	assert_int_equal(event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), 0);
	assert_int_equal(code.config, 0x3004);
	assert_string_equal(code.via, "raw:event=0x04,umask=0x30");
	snprintf(choices.choice[1].text, sizeof choices.choice[1].text, "cmask=1");
	choices.n = 2;
	assert_int_equal(
		event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), -ENOENT);
	assert_string_equal(why,
		"sysfs:write: the PMU has no such event; raw:cmask=1: the PMU has no field "
		"\"cmask\"");
	choices = one(EVENT_SYSFS, "box{n}");
	assert_int_equal(event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), 0);
	assert_string_equal(code.via, "sysfs:box3");
	choices.n = 0;
	assert_int_equal(
		event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), -ENOENT);
	assert_string_equal(why, "no event is given");
	fixture_done(&fixture);
}

CASE("an alias is not counted where the platform file spells out another code, and the dispute is "
     "told")
{
	static const struct {
		const char *spelled;
		const char *disputed;
	} rows[] = {
		{ "event=0x04,umask=0x0f", "" },
		{ "umask=0x0f,event=4", "" },
		{ "cmask=1", "" }, /* the PMU has no such field */
		{ "event=0x04,umask=0x30", "this kernel's sysfs:read is 0xf04, but "
					   "raw:event=0x04,umask=0x30 is 0x3004, "
					   "which is counted" },
		{ "event=0x04,umask=0x0f,edge",
			"this kernel's sysfs:read is 0xf04, but raw:event=0x04,umask=0x0f,edge is "
			"0x40f04, which is counted" },
		{ "event=0x04,umask=0x0f,filter=0x3ff",
			"this kernel's sysfs:read is 0xf04, but "
			"raw:event=0x04,umask=0x0f,filter=0x3ff is 0xf04/0x3ff, which is counted" },
	};
	struct fixture fixture;
	struct event_code code;
	char why[PAGE_TEXT_MAX];

	fixture_init(&fixture, "uncore_imc_3");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct event_choices choices = one(EVENT_SYSFS, "read");

		choices.n = 2;
		choices.choice[1].kind = EVENT_RAW;
		snprintf(choices.choice[1].text, sizeof choices.choice[1].text, "%s",
			rows[i].spelled);
		assert_int_equal(
			event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), 0);
		assert_string_equal(code.tried, rows[i].disputed);
		assert_int_equal(code.is_disputed, rows[i].disputed[0] != 0);
		assert_int_equal(strncmp(code.via, "raw:", 4) == 0, rows[i].disputed[0] != 0);
	}
	fixture_done(&fixture);
}

CASE("the reasons of many alternatives are cut to fit")
{
	struct event_choices choices = { .n = PLATFORM_CHOICES_MAX };
	struct fixture fixture;
	struct event_code code;
	char why[PAGE_TEXT_MAX];

	for (unsigned i = 0; i < choices.n; i++) {
		choices.choice[i].kind = EVENT_SYSFS;
		memset(choices.choice[i].text, 'a' + i, sizeof choices.choice[i].text - 1);
	}
	fixture_init(&fixture, "uncore_imc_3");
	assert_int_equal(
		event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), -ENOENT);
	assert_int_equal(strlen(why), PAGE_TEXT_MAX - 1);
	fixture_done(&fixture);
}

/* The alternative raw: would count with a number of bytes that the kernel contradicts. */
CASE("a scale that contradicts the bytes ends the search")
{
	struct event_choices choices = { .n = 2,
		.choice = { { EVENT_SYSFS, "half" }, { EVENT_RAW, "event=0x04,umask=0x0f" } } };
	struct fixture fixture;
	struct event_code code;
	char why[PAGE_TEXT_MAX];

	fixture_init(&fixture, "uncore_imc_3");
	assert_int_equal(event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), -EDOM);
	assert_string_equal(
		why, "sysfs:half: its .scale and .unit say 32 bytes, the platform file 64");
	assert_int_equal(event_encode(&fixture.list.pmus[0], &choices, &of_32, &code, why), 0);
	strcpy(choices.choice[0].text, "nonsense");
	assert_int_equal(event_encode(&fixture.list.pmus[0], &choices, &of_64, &code, why), 0);
	assert_string_equal(code.via, "raw:event=0x04,umask=0x0f");
	assert_string_equal(code.tried, "sysfs:nonsense: the PMU has no such event");
	fixture_done(&fixture);
}
