/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shipped platform files on the test machines, and small platforms for cases that no machine
 * has.
 */
#include "tests/harness/tree.h"

#include <errno.h>

#include "common/macro.h"
#include "daemon/plan/plan.h"
#include "daemon/plan/platform-search.h"

struct fixture {
	struct platform *platform;
	struct topology topology;
	struct plan plan;
};

static struct platform *shipped_platform(int root_fd)
{
	char directory[PATH_MAX];
	const char *directories[] = { directory, NULL };
	struct platform *platform;
	struct fault fault;

	snprintf(directory, sizeof directory, "%s/conf/platforms", getenv("UNCORE_SOURCE_ROOT"));
	if (platform_find(directories, root_fd, NULL, &platform, &fault) < 0 ||
		platform_choose(platform, &(struct platform_choice){ "", "" }, &fault) < 0)
		fail_msg("%s", fault.text);
	return platform;
}

/* @platform becomes the fixture's; NULL: the shipped platform that is recognised. */
static void fixture_init(struct fixture *fixture, const char *machine, struct platform *platform)
{
	int root_fd = machine_open(machine);
	struct fault fault;
	char path[PATH_MAX];

	machine_path(machine, path);
	fixture->platform = platform ? platform : shipped_platform(root_fd);
	assert_int_equal(topology_load(path, &fixture->topology, &fault), 0);
	if (planner_make_plan(
		    fixture->platform, root_fd, &fixture->topology, &fixture->plan, &fault) < 0)
		fail_msg("%s", fault.text);
	close(root_fd);
}

static void fixture_done(struct fixture *fixture)
{
	plan_done(&fixture->plan);
	topology_done(&fixture->topology);
	free(fixture->platform);
}

static unsigned metric_of(const struct fixture *fixture, const char *name)
{
	for (unsigned m = 0; m < fixture->platform->n_metrics; m++)
		if (strcmp(fixture->platform->metrics[m].name, name) == 0)
			return m;
	fail_msg("%s is not a metric of %s", name, fixture->platform->name);
	return 0;
}

static const struct plan_box *find_box(const struct fixture *fixture, const char *pmu, unsigned s)
{
	const struct plan_socket *socket = &fixture->plan.sockets[s];

	for (unsigned i = 0; i < socket->n_boxes; i++)
		if (strcmp(fixture->plan.boxes[socket->first_box + i].pmu, pmu) == 0)
			return &fixture->plan.boxes[socket->first_box + i];
	return NULL;
}

static const struct plan_box *box_of(const struct fixture *fixture, const char *pmu, unsigned s)
{
	const struct plan_box *box = find_box(fixture, pmu, s);

	if (!box)
		fail_msg("socket %u has no %s", s, pmu);
	return box;
}

static unsigned count_uses(const struct fixture *fixture, const char *metric, unsigned s)
{
	const struct plan_socket *socket = &fixture->plan.sockets[s];
	unsigned m = metric_of(fixture, metric), n = 0;

	for (unsigned i = 0; i < socket->n_boxes; i++)
		for (unsigned u = 0; u < fixture->plan.boxes[socket->first_box + i].n_uses; u++)
			n += fixture->plan.boxes[socket->first_box + i].uses[u].metric == m;
	return n;
}

/* The use of @metric on PMU @pmu has the code @config, and a count is worth @bytes. */
static void assert_code(const struct fixture *fixture, const char *pmu, unsigned s,
	const char *metric, uint64_t config, uint32_t bytes)
{
	const struct plan_box *box = box_of(fixture, pmu, s);
	unsigned m = metric_of(fixture, metric), n = 0;

	for (unsigned u = 0; u < box->n_uses; u++) {
		if (box->uses[u].metric != m)
			continue;
		assert_int_equal(box->events[box->uses[u].event].code.config, config);
		assert_int_equal(box->events[box->uses[u].event].code.config1, 0);
		assert_int_equal(box->uses[u].scale.n, bytes);
		n++;
	}
	assert_int_equal(n, 1);
}

static void assert_codes(const struct fixture *fixture, const char *pmu_format, unsigned n,
	const char *metric, uint64_t config, uint32_t bytes)
{
	char pmu[64];

	for (unsigned s = 0; s < fixture->plan.n_sockets; s++) {
		for (unsigned i = 0; i < n; i++) {
			snprintf(pmu, sizeof pmu, pmu_format, i);
			assert_code(fixture, pmu, s, metric, config, bytes);
		}
		assert_int_equal(count_uses(fixture, metric, s), n);
	}
}

/* The doubt of the platform file follows @why. */
static void assert_quality(const struct fixture *fixture, unsigned s, const char *metric,
	uint32_t quality, const char *why)
{
	const struct plan_socket *socket = &fixture->plan.sockets[s];
	unsigned m = metric_of(fixture, metric);
	const char *doubt = fixture->platform->metrics[m].uncalibrated;
	char expected[PLAN_WHY_MAX];

	if (quality & PAGE_ABSENT)
		doubt = "";
	assert_int_equal(socket->quality[m], quality);
	snprintf(expected, sizeof expected, "%s%s%s", why, *why && *doubt ? "; " : "", doubt);
	assert_string_equal(socket->why[m], expected);
}

static void assert_missing(
	const struct fixture *fixture, const char *pmu, const char *metric, const char *why)
{
	int m = metric ? (int)metric_of(fixture, metric) : -1;

	for (unsigned i = 0; i < fixture->plan.n_missing; i++) {
		const struct plan_missing *missing = &fixture->plan.missing[i];

		if (missing->metric == m && strcmp(missing->pmu, pmu) == 0) {
			assert_string_equal(missing->why, why);
			return;
		}
	}
	fail_msg("nothing is missing of %s", pmu);
}

static void assert_channels(const struct fixture *fixture, unsigned s, unsigned metrics, unsigned n)
{
	const struct plan_socket *socket = &fixture->plan.sockets[s];

	assert_int_equal(socket->n_channels, metrics * n);
	for (unsigned i = 0; i < socket->n_channels; i++)
		assert_int_equal(fixture->plan.channels[socket->first_channel + i].socket, s);
}

static struct fixture f;

static int end(void **state)
{
	fixture_done(&f);
	return compare_descriptors(state);
}

#define PLAN_CASE(sentence) CASE_WITHIN(sentence, remember_descriptors, end)

PLAN_CASE("Ice Lake: 12 imc and 40 cha of each socket, with exact codes")
{
	fixture_init(&f, "icelake-sp", NULL);
	assert_string_equal(f.platform->name, "icelake-sp");
	assert_int_equal(f.plan.n_sockets, 2);
	assert_codes(&f, "uncore_imc_%u", 12, "dram.read", 0xf04, 64);
	assert_codes(&f, "uncore_imc_%u", 12, "dram.write", 0x3004, 64);
	assert_codes(&f, "uncore_cha_%u", 40, "itom", 0x00cc47ff00000135, 64);
	assert_codes(&f, "uncore_cha_%u", 40, "specitom", 0x00cc57ff00000135, 64);
	assert_codes(&f, "uncore_imc_free_running_%u", 4, "pmm.read", 0x30ff, 64);
	assert_codes(&f, "uncore_imc_free_running_%u", 4, "pmm.write", 0x31ff, 64);
	assert_string_equal(
		box_of(&f, "uncore_imc_0", 0)->events[0].code.via, "sysfs:cas_count_read");
	assert_int_equal(f.plan.n_missing, 0);
	for (unsigned s = 0; s < 2; s++) {
		assert_int_equal(f.plan.sockets[s].cpu, s * 4);
		assert_channels(&f, s, 2, 12);
		assert_quality(&f, s, "dram.read", 0, "");
		assert_quality(&f, s, "itom", 0, "");
		assert_quality(&f, s, "hbm.read", PAGE_ABSENT,
			f.platform->metrics[metric_of(&f, "hbm.read")].absent);
	}
}

PLAN_CASE("boxes and channels are sorted by socket and platform file")
{
	unsigned box = 0, channel = 0;

	fixture_init(&f, "icelake-sp", NULL);
	for (unsigned s = 0; s < f.plan.n_sockets; s++) {
		const struct plan_socket *socket = &f.plan.sockets[s];

		assert_int_equal(socket->first_box, box);
		assert_int_equal(socket->first_channel, channel);
		assert_string_equal(f.plan.boxes[box].pmu, "uncore_imc_0");
		assert_string_equal(f.plan.boxes[box + 11].pmu, "uncore_imc_11");
		assert_string_equal(f.plan.channels[channel + 10].name, "imc10");
		for (unsigned i = 0; i < socket->n_boxes; i++)
			assert_int_equal(f.plan.boxes[box + i].socket, s);
		box += socket->n_boxes;
		channel += socket->n_channels;
	}
	assert_int_equal(f.plan.n_boxes, box);
	assert_int_equal(f.plan.n_channels, channel);
}

PLAN_CASE("Ice Lake broken: faulty boxes and events are left out and told")
{
	fixture_init(&f, "icelake-sp-broken", NULL);
	assert_quality(&f, 0, "dram.read", PAGE_PARTIAL,
		"9 of 12 boxes: uncore_imc_3 has no cpumask file, so it is not known on which CPUs "
		"it counts");
	assert_quality(&f, 1, "dram.write", PAGE_PARTIAL,
		"7 of 12 boxes: uncore_imc_2: its CPU of this socket is offline");
	assert_quality(&f, 1, "itom", PAGE_PARTIAL,
		"38 of 40 boxes: uncore_cha_11: raw:event=0x35,umask=0xcc47ff01: umask=0xcc47ff01 "
		"does not fit its 8 bits");
	assert_missing(&f, "uncore_cha_11", "specitom",
		"raw:event=0x35,umask=0xcc57ff01: umask=0xcc57ff01 does not fit its 8 bits");
	assert_missing(&f, "uncore_imc_7", NULL,
		"the cpumask of uncore_imc_7 says \"0-x\", which is not a list of CPUs");
	assert_missing(&f, "uncore_imc_8", NULL,
		"the type of uncore_imc_8 says \"imc\", which is not a number");
	assert_missing(&f, "uncore_cha_12", NULL,
		"the cpumask of uncore_cha_12 is empty: every CPU it could count on is offline");
	assert_missing(&f, "uncore_imc_9", "dram.write",
		"sysfs:cas_count_write: its .scale and .unit say 32 bytes, the platform file 64");
	assert_int_equal(f.plan.n_missing, 3 + 1 + 2 + 1);
	/* no alias: the raw encoding is taken */
	assert_code(&f, "uncore_imc_5", 0, "dram.read", 0xf04, 64);
	assert_string_equal(
		box_of(&f, "uncore_imc_5", 0)->events[0].code.via, "raw:event=0x04,umask=0x0f");
	assert_string_equal(box_of(&f, "uncore_imc_5", 0)->events[0].code.tried,
		"sysfs:cas_count_read: the PMU has no such event");
	assert_int_equal(f.plan.sockets[1].cpu, 5);
}

PLAN_CASE("two CPUs of one chip in a cpumask are one box")
{
	unsigned n = 0;

	fixture_init(&f, "power9-broken", NULL);
	for (unsigned i = 0; i < f.plan.n_boxes; i++)
		n += strcmp(f.plan.boxes[i].pmu, "nest_mba0_imc") == 0;
	assert_int_equal(n, 2);
	assert_int_equal(box_of(&f, "nest_mba0_imc", 0)->cpu, 0);
	assert_int_equal(box_of(&f, "nest_mba0_imc", 1)->cpu, 4);
}

CASE("Sapphire Rapids: with aliases and without, the same codes")
{
	static const char *const machines[] = {
		"sapphire-rapids",
		"sapphire-rapids-kernel61",
		"sapphire-rapids-ddr",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(machines); i++) {
		struct fixture own;

		fixture_init(&own, machines[i], NULL);
		assert_codes(&own, "uncore_imc_%u", 8, "dram.read", 0xcf05, 64);
		assert_codes(&own, "uncore_imc_%u", 8, "dram.write", 0xf005, 64);
		assert_codes(&own, "uncore_cha_%u", 56, "itom", 0x00cc47ff00000135, 64);
		assert_codes(&own, "uncore_cha_%u", 56, "specitom", 0x00cc57ff00000135, 64);
		assert_quality(&own, 1, "dram.read", 0, "");
		assert_string_equal(box_of(&own, "uncore_imc_0", 0)->events[0].code.via,
			i == 1 ? "raw:event=0x05,umask=0xcf" : "sysfs:cas_count_read");
		fixture_done(&own);
	}
}

CASE("Xeon Max: HBM is found under both of its names, absent elsewhere")
{
	struct fixture own;

	fixture_init(&own, "sapphire-rapids", NULL);
	assert_codes(&own, "uncore_hbm_%u", 32, "hbm.read", 0xcf05, 32);
	assert_codes(&own, "uncore_hbm_%u", 32, "hbm.write", 0xf005, 32);
	assert_quality(&own, 0, "hbm.read", PAGE_UNCALIBRATED, "");
	fixture_done(&own);
	fixture_init(&own, "sapphire-rapids-kernel61", NULL);
	assert_codes(&own, "uncore_type_14_%u", 32, "hbm.read", 0xcf05, 32);
	assert_int_equal(own.plan.n_missing, 0);
	fixture_done(&own);
	fixture_init(&own, "sapphire-rapids-ddr", NULL);
	assert_quality(&own, 0, "hbm.read", PAGE_ABSENT,
		"the kernel has no PMU named uncore_hbm_[0-9]* | uncore_hbm | "
		"uncore_type_14_[0-9]* | uncore_type_14");
	assert_missing(&own,
		"uncore_hbm_[0-9]* | uncore_hbm | uncore_type_14_[0-9]* | uncore_type_14",
		"hbm.write", "the kernel has no PMU of that name");
	fixture_done(&own);
}

PLAN_CASE("Sapphire Rapids broken: ITOM without upper umask is absent")
{
	fixture_init(&f, "sapphire-rapids-broken", NULL);
	assert_quality(&f, 0, "dram.read", PAGE_PARTIAL,
		"6 of 8 boxes: uncore_imc_1 has no cpumask file, so it is not known on which CPUs "
		"it "
		"counts");
	/* the kernel says itself that imc_6 is not there */
	assert_quality(&f, 1, "dram.read", PAGE_PARTIAL,
		"5 of 7 boxes: uncore_imc_1 has no cpumask file, so it is not known on which CPUs "
		"it "
		"counts");
	assert_missing(&f, "uncore_imc_7", "dram.read",
		"sysfs:cas_count_read: the PMU has no field \"umask\"; "
		"raw:event=0x05,umask=0xcf: the PMU has no field \"umask\"");
	assert_quality(&f, 0, "itom", PAGE_ABSENT,
		"uncore_cha_0: raw:event=0x35,umask=0xcc47ff01: umask=0xcc47ff01 does not fit its "
		"8 "
		"bits");
	assert_null(find_box(&f, "uncore_cha_0", 0));
	assert_quality(&f, 0, "hbm.write", PAGE_ABSENT,
		"uncore_hbm_0 has no cpumask file, so it is not known on which CPUs it counts");
}

/* The kernel's own names, for users that want raw counts. */
static void assert_counter(const struct fixture *fixture, unsigned channel, const char *pmu,
	const char *event, unsigned cpu, unsigned bytes)
{
	const struct page_channel *found = &fixture->plan.channels[channel];

	assert_string_equal(found->pmu, pmu);
	assert_string_equal(found->event, event);
	assert_int_equal(found->cpu, cpu);
	assert_int_equal(found->bytes, bytes);
}

/* A PMU of the other name, or of another's type, may count what is counted already. */
PLAN_CASE("PMUs that are left out are told, and the value is partial")
{
	const char *other =
		"uncore_imc_0 is there, too, and the platform file counts one of both names";

	fixture_init(&f, "sapphire-rapids-nasty", NULL);
	assert_int_equal(count_uses(&f, "dram.read", 0), 8);
	assert_missing(&f, "uncore_imc_8", "dram.read",
		"it has the type of uncore_imc_0, which is counted");
	assert_missing(&f, "uncore_type_6_9", "dram.read", other);
	assert_quality(&f, 0, "dram.read", PAGE_PARTIAL,
		"8 of 10 boxes: uncore_imc_8: it has the type of uncore_imc_0, which is counted");
	assert_null(find_box(&f, "uncore_imc_0_extra", 0));
}

CASE("raw counts have the kernel's names")
{
	struct fixture own;

	fixture_init(&own, "power9", NULL);
	assert_counter(&own, 3, "nest_mba3_imc", "PM_MBA3_READ_BYTES", 0, 64);
	assert_counter(&own, 16 + 8, "nest_mba0_imc", "PM_MBA0_WRITE_BYTES", 4, 64);
	fixture_done(&own);
	fixture_init(&own, "knl", NULL); /* it has no aliases */
	assert_counter(&own, 0, "uncore_imc_0", "", 0, 0);
	fixture_done(&own);
}

PLAN_CASE("POWER9: each unit has its own codes, and a clock")
{
	static const uint64_t first[] = { 0x448, 0x460, 0x478, 0x490, 0x558, 0x570, 0x588, 0x5a0 };
	char pmu[64];

	fixture_init(&f, "power9", NULL);
	assert_int_equal(f.plan.n_boxes, 2 * (8 + 2)); /* MBA, and MCS as a check */
	for (unsigned s = 0; s < 2; s++) {
		assert_int_equal(f.plan.sockets[s].package, s * 8);
		assert_channels(&f, s, 2, 8);
		assert_quality(&f, s, "dram.read", PAGE_UNCALIBRATED, "");
		for (unsigned i = 0; i < 8; i++) {
			const struct plan_box *box;

			snprintf(pmu, sizeof pmu, "nest_mba%u_imc", i);
			box = box_of(&f, pmu, s);
			assert_code(&f, pmu, s, "dram.read", first[i], 64);
			assert_code(&f, pmu, s, "dram.write", first[i] + 8, 64);
			assert_int_equal(box->n_events, 3);
			assert_true(box->events[2].is_clock);
			assert_int_equal(box->events[2].clock_ms, 20);
			assert_int_equal(box->events[2].code.config, first[i] + 0x10);
		}
	}
}

PLAN_CASE("POWER9 broken: events are lost one by one")
{
	fixture_init(&f, "power9-broken", NULL);
	assert_quality(&f, 1, "dram.read", PAGE_PARTIAL | PAGE_UNCALIBRATED,
		"5 of 8 boxes: nest_mba1_imc has no cpumask file, so it is not known on which CPUs "
		"it counts");
	assert_int_equal(count_uses(&f, "dram.write", 0), 6);
	assert_missing(&f, "nest_mba2_imc", "dram.read",
		"sysfs:PM_MBA{n}_READ_BYTES: the PMU has no such event");
	assert_missing(&f, "nest_mba3_imc", "dram.write",
		"sysfs:PM_MBA{n}_WRITE_BYTES: event=0x8000000000000498 does not fit its 62 bits");
	assert_missing(&f, "nest_mba5_imc", "dram.read",
		"sysfs:PM_MBA{n}_READ_BYTES: its .scale and .unit say 1.04858e+06 bytes, the "
		"platform file 64");
	assert_missing(&f, "nest_mba4_imc", "dram.read",
		"sysfs:PM_MBA{n}_CLK_CYC: the PMU has no such event");
	assert_int_equal(box_of(&f, "nest_mba4_imc", 0)->n_events, 2);
}

PLAN_CASE("KNL flat: DDR is event 3, MCDRAM is on the eclk boxes")
{
	fixture_init(&f, "knl", NULL);
	assert_string_equal(f.platform->name, "knl");
	assert_codes(&f, "uncore_imc_%u", 6, "dram.read", 0x103, 64);
	assert_codes(&f, "uncore_imc_%u", 6, "dram.write", 0x203, 64);
	assert_codes(&f, "uncore_edc_eclk_%u", 8, "hbm.read", 0x101, 64);
	assert_codes(&f, "uncore_edc_eclk_%u", 8, "hbm.write", 0x102, 64);
	assert_int_equal(f.plan.n_missing, 0);
}

static void assert_use(const struct plan_box *box, unsigned u, uint64_t config, bool subtract)
{
	assert_int_equal(box->events[box->uses[u].event].code.config, config);
	assert_int_equal(box->uses[u].subtract, subtract);
	assert_int_equal(box->uses[u].scale.n, 64);
}

PLAN_CASE("KNL cache: sum and subtrahend share the event")
{
	const struct plan_box *box;

	fixture_init(&f, "knl-cache", NULL);
	assert_string_equal(f.platform->name, "knl-cache");
	assert_int_equal(count_uses(&f, "hbm.read", 0), 8 + 2 * 8);
	assert_int_equal(count_uses(&f, "hbm.write", 0), 8 + 6);
	/* one event of the box serves the reads of DRAM and, subtracted, the writes of MCDRAM */
	box = box_of(&f, "uncore_imc_2", 0);
	assert_int_equal(box->n_events, 2);
	assert_int_equal(box->n_uses, 3);
	assert_int_equal(box->uses[2].event, box->uses[0].event);
	assert_true(box->uses[2].subtract);
	assert_int_equal(box->uses[2].channel, PLAN_NO_CHANNEL);
	assert_true(box->uses[0].channel >= 0);
	/*
	 * each use knows its term, so that uncored notices a sum of which one term lost all its
	 * boxes
	 */
	assert_int_equal(box->uses[0].term, 0);
	assert_int_equal(box->uses[2].term, 1);
	box = box_of(&f, "uncore_edc_uclk_0", 0);
	assert_int_equal(box->uses[0].term, 1);
	assert_int_equal(box->uses[1].term, 2);
	/* EDC_ACCESS MISS_CLEAN and MISS_DIRTY, RPQ and WPQ inserts: 64 bytes each */
	assert_use(box, 0, 0x402, true);
	assert_use(box, 1, 0x802, true);
	box = box_of(&f, "uncore_edc_eclk_0", 0);
	assert_use(box, 0, 0x101, false);
	assert_use(box, 1, 0x102, false);
}

PLAN_CASE("KNL broken: half of a difference is not a value")
{
	fixture_init(&f, "knl-broken", NULL);
	assert_int_equal(count_uses(&f, "dram.read", 0), 5);
	assert_quality(&f, 0, "hbm.read", PAGE_ABSENT,
		"the kernel has no PMU named uncore_edc_uclk_[0-7]");
	assert_int_equal(count_uses(&f, "hbm.read", 0), 0);
	assert_int_equal(count_uses(&f, "hbm.write", 0), 7 + 5);
	assert_int_equal(f.plan.sockets[0].quality[metric_of(&f, "hbm.write")], PAGE_PARTIAL);
	assert_null(find_box(&f, "uncore_edc_eclk_2", 0));
}

CASE("the stand-in is flagged in every value")
{
	struct fixture own;

	fixture_init(&own, "standin", NULL);
	assert_codes(&own, "uncore_standin_%u", 1, "dram.read", 2, 4096);
	assert_codes(&own, "uncore_standin_%u", 1, "dram.write", 5, 4096);
	assert_int_equal(own.plan.boxes[0].type, 1);
	assert_quality(&own, 0, "dram.read", PAGE_STANDIN, "");
	fixture_done(&own);
	fixture_init(&own, "standin-wide", NULL);
	assert_codes(&own, "uncore_standin_%u", 48, "dram.read", 2, 4096);
	fixture_done(&own);
	fixture_init(&own, "standin-broken", NULL);
	/* a plan does not show that box 1 cannot be opened */
	assert_int_equal(box_of(&own, "uncore_standin_1", 0)->type, 4095);
	assert_quality(&own, 0, "dram.read", PAGE_STANDIN | PAGE_PARTIAL,
		"2 of 3 boxes: uncore_standin_2 has no cpumask file, so it is not known on which "
		"CPUs it counts");
	fixture_done(&own);
}

/* --- platforms made for the case --- */

static struct platform_term raw_term(const char *pmu, const char *event)
{
	struct platform_term term = { .scale = { 64, 1 }, .event = { .n = 1 } };

	snprintf(term.pmu, sizeof term.pmu, "%s", pmu);
	term.event.choice[0].kind = EVENT_RAW;
	snprintf(term.event.choice[0].text, sizeof term.event.choice[0].text, "%s", event);
	return term;
}

static struct platform *new_platform(const char *metric)
{
	struct platform *platform = calloc(1, sizeof *platform);

	assert_non_null(platform);
	platform->n_metrics = 1;
	snprintf(platform->metrics[0].name, PAGE_NAME_MAX, "%s", metric);
	strcpy(platform->metrics[0].unit, "bytes");
	return platform;
}

static void add_term(struct platform *platform, struct platform_term term)
{
	platform->metrics[0].terms[platform->metrics[0].n_terms++] = term;
}

PLAN_CASE("each die of a package is a box")
{
	struct platform *platform = new_platform("dram.read");
	struct platform_term term = raw_term("uncore_imc_[0-9]*", "event=0x04,umask=0x03");

	strcpy(term.channel, "imc");
	add_term(platform, term);
	fixture_init(&f, "cascade-lake-ap", platform);
	assert_int_equal(f.plan.n_boxes, 2 * 2 * 6);
	assert_channels(&f, 1, 1, 12);
	assert_string_equal(f.plan.channels[12].name, "imc0");
	assert_string_equal(f.plan.channels[13].name, "imc0-die1");
	assert_int_equal(f.plan.boxes[12].cpu, 4);
	assert_int_equal(f.plan.boxes[13].cpu, 6);
}

PLAN_CASE("two events of one box make one channel")
{
	struct platform *platform = new_platform("dram.read");
	struct platform_term term = raw_term("uncore_imc_[0-9]*", "event=0x05,umask=0xcf");

	strcpy(term.channel, "imc");
	add_term(platform, term);
	strcpy(term.event.choice[0].text, "event=0x06,umask=0xcf");
	add_term(platform, term);
	fixture_init(&f, "sapphire-rapids-ddr", platform);
	assert_int_equal(f.plan.n_boxes, 16);
	assert_int_equal(f.plan.boxes[0].n_events, 2);
	assert_channels(&f, 0, 1, 8);
	assert_int_equal(f.plan.boxes[3].uses[0].channel, f.plan.boxes[3].uses[1].channel);
	assert_string_equal(f.plan.channels[3].event, "");
	assert_int_equal(f.plan.channels[3].bytes, 0);
}

static struct platform_metric metric_of_term(const char *name, struct platform_term term)
{
	struct platform_metric metric = { .n_terms = 1, .terms = { term } };

	snprintf(metric.name, sizeof metric.name, "%s", name);
	return metric;
}

/* The metric has no PMU here, but its check has one. */
PLAN_CASE("a check takes the place of a metric that is absent")
{
	struct platform *platform = new_platform("dram.read");

	add_term(platform, raw_term("no_such_pmu", "event=0x05"));
	platform->metrics[1] = metric_of_term(
		"check.dram.read", raw_term("uncore_imc_[0-9]*", "event=0x05,umask=0xcf"));
	strcpy(platform->metrics[1].uncalibrated, "Nobody knows.");
	platform->n_metrics = 2;
	fixture_init(&f, "sapphire-rapids-ddr", platform);
	plan_take_checks(&f.plan);
	for (unsigned s = 0; s < 2; s++) {
		assert_quality(&f, s, "dram.read", PAGE_UNCALIBRATED,
			"the kernel has no PMU named no_such_pmu");
		assert_int_equal(f.plan.sockets[s].substituted_by[0], 2);
		assert_int_equal(f.plan.sockets[s].substituted_by[1], 0);
	}
}

/* The reason of a partial value goes before that of the doubt. */
CASE("a doubt about sockets with several NUMA nodes is told where there are several")
{
	static const struct {
		const char *machine, *always, *if_divided, *why;
	} rows[] = {
		{ "zen5", "", "Not so there.", "" },
		{ "zen5", "Nobody knows.", "Not so there.", "Nobody knows." },
		{ "zen5-nps4", "", "Not so there.", "Not so there." },
		{ "zen5-nps4", "Nobody knows.", "Not so there.", "Not so there." },
		{ "zen5-nps4", "Nobody knows.", "", "Nobody knows." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct platform *platform = new_platform("dram.read");
		struct fixture own;
		char why[PAGE_TEXT_MAX];

		add_term(platform, raw_term("amd_umc_[0-9]*", "event=0x0a"));
		strcpy(platform->metrics[0].uncalibrated, rows[i].always);
		strcpy(platform->metrics[0].uncalibrated_if_divided, rows[i].if_divided);
		strcpy(platform->metrics[0].partial, i % 2 ? "A part." : "");
		fixture_init(&own, rows[i].machine, platform);
		snprintf(why, sizeof why, "%s%s%s", platform->metrics[0].partial,
			i % 2 && rows[i].why[0] ? "; " : "", rows[i].why);
		assert_int_equal(own.plan.sockets[0].quality[0],
			(i % 2 ? PAGE_PARTIAL : 0) | (rows[i].why[0] ? PAGE_UNCALIBRATED : 0));
		assert_string_equal(own.plan.sockets[0].why[0], why);
		fixture_done(&own);
	}
}

PLAN_CASE("a metric that is there needs no check")
{
	struct platform *platform = new_platform("dram.read");

	add_term(platform, raw_term("uncore_imc_[0-9]*", "event=0x05,umask=0xcf"));
	platform->metrics[1] =
		metric_of_term("check.dram.read", raw_term("no_such_pmu", "event=1"));
	platform->n_metrics = 2;
	fixture_init(&f, "sapphire-rapids-ddr", platform);
	plan_take_checks(&f.plan);
	assert_quality(&f, 0, "dram.read", 0, "");
	assert_int_equal(f.plan.sockets[0].substituted_by[0], 0);
}

/* The second term resolves on all but uncore_imc_5, so that box is left out of both. */
PLAN_CASE("a box that lacks one event of a sum is left out")
{
	struct platform *platform = new_platform("dram.read");
	struct platform_term term = raw_term("uncore_imc_[0-9]*", "event=0x04,umask=0x01");

	add_term(platform, term);
	term.event.choice[0] = (struct event_choice){ EVENT_SYSFS, "cas_count_read" };
	add_term(platform, term);
	fixture_init(&f, "icelake-sp-broken", platform);
	assert_null(find_box(&f, "uncore_imc_5", 0));
	assert_int_equal(count_uses(&f, "dram.read", 0), 2 * 8);
	assert_missing(
		&f, "uncore_imc_5", "dram.read", "sysfs:cas_count_read: the PMU has no such event");
}

PLAN_CASE("a sum that lacks a term on a socket is absent there")
{
	struct platform *platform = new_platform("dram.read");

	add_term(platform, raw_term("uncore_imc_0", "event=0x05"));
	add_term(platform, raw_term("uncore_imc_6", "event=0x05"));
	fixture_init(&f, "sapphire-rapids-broken", platform);
	assert_quality(&f, 0, "dram.read", 0, "");
	assert_quality(
		&f, 1, "dram.read", PAGE_ABSENT, "no PMU named uncore_imc_6 counts on this socket");
	assert_int_equal(f.plan.sockets[1].n_boxes, 0);
	assert_int_equal(f.plan.sockets[1].cpu, -1);
}

PLAN_CASE("boxes that one socket lacks are told, and memory channels make its value partial")
{
	const char *why = "socket 1 has 7 of them, and socket 0 has 8";
	struct platform *platform = new_platform("dram.read");
	struct platform_term term = raw_term("uncore_imc_[0-7]", "event=0x05");

	add_term(platform, term);
	platform->metrics[1] = metric_of_term("dram.write", term);
	strcpy(platform->metrics[1].terms[0].channel, "imc");
	platform->metrics[2] = platform->metrics[1];
	strcpy(platform->metrics[2].name, "hbm.write");
	strcpy(platform->metrics[2].uncalibrated, "Nobody knows.");
	platform->n_metrics = 3;
	fixture_init(&f, "sapphire-rapids-nasty", platform);
	for (unsigned s = 0; s < 2; s++) {
		assert_quality(&f, s, "dram.read", 0, "");
		assert_quality(&f, s, "dram.write", s ? PAGE_PARTIAL : 0,
			s ? "7 of 8 boxes: socket 0 has more" : "");
		assert_quality(&f, s, "hbm.write", PAGE_UNCALIBRATED | (s ? PAGE_PARTIAL : 0),
			s ? "7 of 8 boxes: socket 0 has more" : "");
	}
	assert_int_equal(f.plan.sockets[1].found[1].n_expected, 8);
	assert_int_equal(f.plan.sockets[1].found[0].n_expected, 7);
	assert_missing(&f, "uncore_imc_[0-7]", "dram.read", why);
	assert_missing(&f, "uncore_imc_[0-7]", "dram.write", why);
}

PLAN_CASE("equal events are opened once")
{
	struct platform *platform = new_platform("dram.read");
	struct platform_term term = raw_term("uncore_imc_0", "event=0x05");

	term.clock = term.event;
	term.clock_ms = 30;
	add_term(platform, term);
	term.clock_ms = 20;
	add_term(platform, term);
	fixture_init(&f, "sapphire-rapids", platform);
	/* counted once for the sum, and once more by the watch, which has its own state */
	assert_int_equal(f.plan.boxes[0].n_events, 2);
	assert_int_equal(f.plan.boxes[0].n_uses, 2);
	assert_false(f.plan.boxes[0].events[0].is_clock);
	assert_true(f.plan.boxes[0].events[1].is_clock);
	assert_int_equal(f.plan.boxes[0].events[1].clock_ms, 20);
}

/* Another event of the PMU that the site enables, and one that is counted anyway. */
PLAN_CASE("events of opt-in metrics are in a box behind the others, unless they are opened anyway")
{
	struct platform *platform = new_platform("opt.in");
	const struct plan_box *boxes;

	platform->metrics[0].is_opt_in = true;
	add_term(platform, raw_term("uncore_cha_0", "event=0x50"));
	platform->metrics[1] = (struct platform_metric){ .name = "itom", .unit = "bytes" };
	platform->metrics[2] =
		(struct platform_metric){ .name = "same", .unit = "bytes", .is_opt_in = true };
	for (unsigned m = 1; m < 3; m++) {
		platform->metrics[m].n_terms = 1;
		platform->metrics[m].terms[0] = raw_term("uncore_cha_0", "event=0x35");
	}
	platform->n_metrics = 3;
	fixture_init(&f, "sapphire-rapids", platform);
	boxes = &f.plan.boxes[f.plan.sockets[1].first_box];
	assert_int_equal(f.plan.sockets[1].n_boxes, 2);
	assert_false(boxes[0].is_extra);
	assert_int_equal(boxes[0].n_events, 1);
	assert_int_equal(boxes[0].n_uses, 2);
	assert_int_equal(boxes[0].uses[0].metric, 1);
	assert_int_equal(boxes[0].uses[1].metric, 2);
	assert_true(boxes[1].is_extra);
	assert_string_equal(boxes[1].pmu, "uncore_cha_0");
	assert_int_equal(boxes[1].n_events, 1);
	assert_int_equal(boxes[1].uses[0].metric, 0);
}

CASE("a cpumask without an online CPU is told")
{
	struct platform *platform = new_platform("dram.read");
	struct tree tree = tree_new();
	int sockets[] = { 0, -1 }, dies[] = { 0, -1 };
	uint32_t packages[] = { 0 };
	struct topology topology = { true, 1, 2, sockets, dies, packages };
	struct fault fault;
	struct plan plan;

	tree_write_pmu(&tree, "box_0", "type", "9\n");
	tree_write_pmu(&tree, "box_0", "cpumask", "1,7\n");
	tree_write_pmu(&tree, "box_0", "format/event", "config:0-7\n");
	add_term(platform, raw_term("box_*", "event=1"));
	assert_int_equal(planner_make_plan(platform, tree.fd, &topology, &plan, &fault), 0);
	assert_int_equal(plan.n_boxes, 0);
	assert_int_equal(plan.sockets[0].quality[0], PAGE_ABSENT);
	assert_string_equal(plan.sockets[0].why[0], "the cpumask of box_0 names no online CPU");
	assert_int_equal(plan.n_missing, 1);
	assert_int_equal(plan.missing[0].metric, -1);
	plan_done(&plan);
	assert_null(plan.boxes);
	free(platform);
	tree_free(&tree);
}

/* 13 metrics, each with its own event on one box that holds 12. */
CASE("more events than a box holds are refused")
{
	struct platform *platform = new_platform("one");
	int root_fd = machine_open("sapphire-rapids");
	int sockets[] = { 0 }, dies[] = { 0 };
	uint32_t packages[] = { 0 };
	struct topology topology = { true, 1, 1, sockets, dies, packages };
	struct plan plan = { .n_boxes = 77 };
	struct fault fault;
	char event[32];

	platform->n_metrics = PLAN_EVENTS_MAX + 1;
	for (unsigned m = 0; m < platform->n_metrics; m++) {
		snprintf(event, sizeof event, "event=%u", m);
		platform->metrics[m].n_terms = 1;
		platform->metrics[m].terms[0] = raw_term("uncore_imc_0", event);
	}
	assert_int_equal(planner_make_plan(platform, root_fd, &topology, &plan, &fault), -E2BIG);
	assert_string_equal(fault.text, "uncore_imc_0 would count more than 12 events");
	assert_int_equal(plan.n_boxes, 77);
	free(platform);
	close(root_fd);
}

CASE("more sockets than the page holds are refused")
{
	struct platform *platform = new_platform("one");
	int root_fd = machine_open("sapphire-rapids");
	struct topology topology = { .n_sockets = PAGE_SOCKETS_MAX + 1 };
	struct fault fault;
	struct plan plan;

	assert_int_equal(planner_make_plan(platform, root_fd, &topology, &plan, &fault), -E2BIG);
	assert_string_equal(fault.text, "there are 33 sockets, more than 32");
	free(platform);
	close(root_fd);
}

CASE("a kernel without PMUs is an error")
{
	struct platform *platform = new_platform("one");
	struct topology topology = { .n_sockets = 1 };
	struct tree tree = tree_new();
	struct fault fault;
	struct plan plan;

	assert_int_equal(planner_make_plan(platform, tree.fd, &topology, &plan, &fault), -ENOENT);
	assert_string_equal(fault.text,
		"sys/bus/event_source/devices cannot be read: No such file or directory");
	free(platform);
	tree_free(&tree);
}

/* The driver keeps them, and their socket may come back. */
PLAN_CASE("PMUs of a socket that is offline are told, and not counted for another")
{
	static const char offline[] =
		"pmu_sockets of the platform file gives it socket 1, which is not online";

	fixture_init(&f, "altra-offline", NULL);
	assert_int_equal(f.plan.n_sockets, 1);
	assert_int_equal(count_uses(&f, "dram.read", 0), 8);
	assert_null(find_box(&f, "arm_dmc620_50008c000", 0));
	assert_missing(&f, "arm_dmc620_50008c000", NULL, offline);
	assert_missing(&f, "arm_dmc620_50008dc00", NULL, offline);
	assert_missing(&f, "arm_dmc620_90008c000", NULL,
		"pmu_sockets of the platform file does not name its socket");
	assert_int_equal(f.plan.n_missing, 8 + 1);
}
