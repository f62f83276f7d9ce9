/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts on counters with every known defect: two sockets of eight channels, kernels that move
 * what their models say and 0.5 % more, and a small noise.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/command/validate/judge/verdict.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum {
	SOCKETS = 2,
	CHANNELS = 8,
	BOXES = 12, /* of a socket; those past the channels count nothing, as on Ice Lake */
	MANY = 32,  /* channels, of a machine of its own */
	METRICS = 6,
	SERIES = SOCKETS * (METRICS + 2 * MANY),
	KERNELS = 3,
};

enum { READ, WRITE, TOTAL, ITOM, HBM_READ, HBM_WRITE };
static const char *const metric_names[METRICS] = { "dram.read", "dram.write", "dram.total", "itom",
	"hbm.read", "hbm.write" };

/* Where the node's bytes should appear: numbers of tier_nth(). */
enum { BY_READS_AND_WRITES, BY_TOTAL, PMM = 3 };

/* What box @box of @metric on @socket shows of @reads and @writes of a channel; the node is on
 * socket 0. */
struct lines {
	double reads, writes;
};
typedef double (*defect)(unsigned socket, unsigned metric, unsigned box, const struct lines *lines);

/* Another program on the same memory. */
struct neighbour {
	double reads, writes; /* as a share of what a kernel moves */
	double slowed;   /* 1: beside a kernel it moves nothing, so all is taken off in vain; below
			    0: it moves more */
	unsigned absent; /* bits of the kernels beside which it is not there */
	bool is_everywhere; /* it moves as much on the other socket */
};

struct scene {
	struct probe probe;
	struct probe_series series[SERIES];
	struct measured measured[KERNELS];
	const struct measured *kernels[KERNELS];
	double bytes[KERNELS][SERIES];
	double errors[KERNELS][SERIES];
	double others[KERNELS][SERIES];
	double unknown; /* error of every counter, as a share of what a kernel moves */
	struct neighbour neighbour;
	unsigned node;
	struct findings findings;
	uint32_t flags;        /* of all metrics */
	bool has_memory_nodes; /* of HBM */
	size_t tier;
};

/* --- counters --- */

static double right(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	if (socket != 0 || box >= CHANNELS)
		return 0;
	switch (metric) {
	case READ:
		return lines->reads;
	case WRITE:
		return lines->writes;
	case TOTAL:
		return lines->reads + lines->writes;
	default:
		return 0;
	}
}

static double swapped(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	unsigned other = metric == READ ? WRITE : metric == WRITE ? READ : metric;

	return right(socket, other, box, lines);
}

static double total(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric <= WRITE ? TOTAL : metric, box, lines);
}

static double half(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) / 2;
}

static double twice(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * 2;
}

static double counts_for_bytes(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) / 64;
}

static double silent(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return box == 3 ? 0 : right(socket, metric, box, lines);
}

/* Four boxes count what the first four count, too. */
static double shared(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box < CHANNELS ? box : box - CHANNELS, lines);
}

static double doubled(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * (box < 2 ? 2 : 1);
}

static double elsewhere(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(1 - socket, metric, box, lines);
}

/* A little of others' traffic shows here. */
static double elsewhere_and_others(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	if (socket == 0 && metric == WRITE && box < CHANNELS)
		return 0.02 * lines->reads;
	return elsewhere(socket, metric, box, lines);
}

static double nothing(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	(void)socket, (void)metric, (void)box, (void)lines;
	return 0;
}

static double no_writes(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return metric == WRITE ? 0 : right(socket, metric, box, lines);
}

static double triple_reads(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * (metric == READ ? 3 : 1);
}

static double half_writes(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) / (metric == WRITE ? 2 : 1);
}

static double total_in_read(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return metric == READ ? total(socket, metric, box, lines)
			      : right(socket, metric, box, lines);
}

static double one_swapped(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return (box == 2 ? swapped : right)(socket, metric, box, lines);
}

static double leaking(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	if (box != 1)
		return right(socket, metric, box, lines);
	return right(1 - socket, metric, box, lines);
}

static double itom_counts_writes(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric == ITOM ? WRITE : metric, box, lines);
}

static double total_of_reads(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric == TOTAL ? READ : metric, box, lines);
}

static double slow(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * 0.83;
}

static double overfetch(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * (metric == READ ? 1.07 : 1);
}

static double large_writes(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * (metric == WRITE ? 1.077 : 1);
}

static double silent_and_double(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) * (box == 3 ? 0 : box == 4 ? 2 : 1);
}

static double most_silent(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return box < 2 ? right(socket, metric, box, lines) : 0;
}

static double half_on_half(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return right(socket, metric, box, lines) / (box < CHANNELS / 2 ? 2 : 1);
}

static double elsewhere_and_half(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return leaking(socket, metric, box, lines) / (metric == WRITE ? 2 : 1);
}

static double other_memory(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	unsigned shown = metric == HBM_READ ? READ : metric == HBM_WRITE ? WRITE : ITOM;

	return right(socket, shown, box, lines);
}

static double directories(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	double more = metric == WRITE ? 0.06 * right(socket, READ, box, lines) : 0;

	return right(socket, metric, box, lines) + more;
}

static double one_of_many_silent(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return box == 5 ? 0 : right(socket, metric, box % CHANNELS, lines) * CHANNELS / MANY;
}

/* What the subtraction of others' traffic leaves. */
static double residue(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return metric <= WRITE ? 0.009 * right(socket, TOTAL, box, lines) : 0;
}

/* What the kernels throw out of the caches. */
static double thrown_out(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	double reads = right(socket, READ, box, lines), writes = right(socket, WRITE, box, lines);

	return metric == READ    ? -0.012 * reads - 0.008 * writes
	       : metric == WRITE ? 0.015 * reads + 0.006 * writes
				 : 0;
}

/* Both metrics on seven of eight boxes, which is all that uncored found. */
static double boxless(unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	return box == CHANNELS - 1 ? 0 : right(socket, metric, box, lines);
}

/* --- the scene --- */

static void add_series(struct scene *scene, unsigned socket, unsigned metric, int box)
{
	struct probe_series *series = &scene->series[scene->probe.n_series++];

	*series = (struct probe_series){ socket, metric, box >= 0, "", scene->flags, 0 };
	if (box < 0)
		snprintf(series->name, sizeof series->name, "%s", metric_names[metric]);
	else
		snprintf(series->name, sizeof series->name, "imc%d", box);
}

/* A machine counts the total, or reads and writes. */
static bool has_metric(const struct scene *scene, unsigned metric)
{
	bool counts_total = scene->tier == BY_TOTAL;

	return metric == TOTAL ? counts_total
			       : !counts_total || (metric != READ && metric != WRITE);
}

/* @n_boxes of each socket are those that uncored found. */
static void set_meter(struct scene *scene, unsigned n_boxes)
{
	scene->probe.series = scene->series;
	scene->probe.reader.machine.n_sockets = SOCKETS;
	scene->probe.reader.machine.platform = "icelake-sp";
	for (unsigned socket = 0; socket < SOCKETS; socket++)
		for (unsigned metric = 0; metric < METRICS; metric++)
			if (has_metric(scene, metric))
				add_series(scene, socket, metric, -1);
	for (unsigned socket = 0; socket < SOCKETS; socket++)
		for (unsigned metric = READ; metric <= TOTAL; metric++)
			for (unsigned box = 0; box < n_boxes && has_metric(scene, metric); box++)
				add_series(scene, socket, metric, (int)box);
}

static double noise(unsigned i)
{
	return 1.005 + 0.001 * ((i * 7) % 5 - 2.0);
}

/* What the neighbour moves in a pause as long as a kernel. */
static struct lines lines_of_neighbour(const struct scene *scene, unsigned k)
{
	const struct kernel_traffic *traffic = &scene->measured[k].predicted;
	const bool is_absent = scene->neighbour.absent >> k & 1;
	const double total = is_absent ? 0 : (traffic->read + traffic->written) / CHANNELS;

	return (struct lines){ scene->neighbour.reads * total, scene->neighbour.writes * total };
}

/* What is left of the lines of a kernel when the traffic of the pauses is taken off. */
static struct lines lines_of(const struct scene *scene, unsigned k)
{
	const struct kernel_traffic *traffic = &scene->measured[k].predicted;
	const struct lines others = lines_of_neighbour(scene, k);
	const double in_vain = scene->neighbour.slowed;

	return (struct lines){ traffic->read / CHANNELS - in_vain * others.reads,
		traffic->written / CHANNELS - in_vain * others.writes };
}

static void count(struct scene *scene, unsigned k, defect shows, unsigned n_boxes)
{
	const struct kernel_traffic *traffic = &scene->measured[k].predicted;
	const struct lines lines = lines_of(scene, k), others = lines_of_neighbour(scene, k);
	const double slowed = scene->neighbour.slowed;
	const struct lines there = { -slowed * others.reads, -slowed * others.writes };

	for (unsigned i = 0; i < scene->probe.n_series; i++) {
		const struct probe_series *series = &scene->series[i];
		unsigned box = series->is_channel ? (unsigned)atoi(series->name + 3) : 0;
		unsigned last = series->is_channel ? box : n_boxes - 1;

		for (; box <= last; box++) {
			scene->bytes[k][i] += shows(series->socket, series->metric, box, &lines) *
					      noise(i + 3 * k);
			scene->others[k][i] += shows(series->socket, series->metric, box, &others);
			if (!scene->neighbour.is_everywhere || series->socket == 0)
				continue;
			scene->bytes[k][i] += right(0, series->metric, box, &there);
			scene->others[k][i] += right(0, series->metric, box, &others);
		}
		scene->errors[k][i] = 0.002 * scene->bytes[k][i] +
				      scene->unknown * (traffic->read + traffic->written);
	}
}

/* As measure() does: the most that is taken off a metric, as a share of the most that one shows. */
static void note_background(struct scene *scene, unsigned k)
{
	struct measured *measured = &scene->measured[k];
	double whole = 0.1 * measured_total(measured), others = 0;

	for (unsigned i = 0; i < scene->probe.n_series; i++)
		if (!scene->series[i].is_channel && scene->series[i].socket == 0) {
			whole = fmax(whole, scene->bytes[k][i]);
			others = fmax(others, scene->others[k][i]);
		}
	if (others > 0)
		measured->background = measured->at_rest = others / whole;
}

static void judge(struct scene *scene, defect shows, unsigned n_boxes)
{
	static const struct kernel_traffic traffic[KERNELS] = { { 1e8, 0, 0 }, { 1e8, 0, 1e8 },
		{ 0, 0, 1e8 } };
	static const char *const names[KERNELS] = { "load", "update", "storent1" };
	struct evidence evidence = {
		.probe = &scene->probe,
		.node = scene->node,
		.tier = *tier_nth(scene->tier),
		.kernels = scene->kernels,
		.n_kernels = KERNELS,
		.has_memory_nodes = scene->has_memory_nodes,
		.findings = &scene->findings,
	};

	set_meter(scene, n_boxes);
	for (unsigned k = 0; k < KERNELS; k++) {
		scene->kernels[k] = &scene->measured[k];
		scene->measured[k].kernel = kernel_find(names[k]);
		scene->measured[k].predicted = traffic[k];
		scene->measured[k].bytes = scene->bytes[k];
		scene->measured[k].errors = scene->errors[k];
		scene->measured[k].others = scene->others[k];
		scene->measured[k].n += 5;
		scene->measured[k].error += 0.002;
		scene->measured[k].is_known = scene->measured[k].error < 0.01;
		count(scene, k, shows, n_boxes);
		note_background(scene, k);
	}
	verdict(&evidence);
}

static void print_findings(const struct scene *scene)
{
	for (unsigned i = 0; i < scene->findings.n; i++)
		print_message("# %s\n", scene->findings.finding[i].text);
}

static bool says(const struct scene *scene, const char *words)
{
	for (unsigned i = 0; i < scene->findings.n; i++)
		if (strstr(scene->findings.finding[i].text, words))
			return true;
	return false;
}

/* ... of a defect? */
static bool blames(const struct scene *scene, const char *words)
{
	for (unsigned i = 0; i < scene->findings.n; i++)
		if (scene->findings.finding[i].outcome >= OUTCOME_DEFECT &&
			strstr(scene->findings.finding[i].text, words))
			return true;
	return false;
}

/* --- cases --- */

CASE("each defect is named, and a right counter is right")
{
	static const struct {
		const char *name;
		defect shows;
		unsigned n_boxes;
		enum outcome outcome;
		const char *words; /* NULL: nothing is said */
	} rows[] = {
		{ "right", right, BOXES, OUTCOME_RIGHT, NULL },
		{ "right, without spare boxes", right, CHANNELS, OUTCOME_RIGHT, NULL },
		{ "swapped", swapped, BOXES, OUTCOME_DEFECT, "Reads and writes are swapped." },
		{ "total", total, BOXES, OUTCOME_DEFECT, "dram.write shows 1.0" },
		{ "half", half, BOXES, OUTCOME_DEFECT, "dram.write: a factor of 0.5." },
		{ "twice", twice, BOXES, OUTCOME_DEFECT, "dram.write: a factor of 2." },
		{ "1/64", counts_for_bytes, BOXES, OUTCOME_DEFECT,
			"dram.write: a factor of 0.015625. One count is worth 64 "
			"times" },
		{ "a silent channel", silent, BOXES, OUTCOME_DEFECT,
			"1 of 8 channels count nothing. Boxes that count nothing: imc3, imc8" },
		{ "a channel without a box", boxless, CHANNELS - 1, OUTCOME_DEFECT,
			"dram.write: a factor of 0.88" },
		{ "four boxes twice", shared, BOXES, OUTCOME_DEFECT,
			"dram.write: a factor of 1.5" },
		{ "two boxes double", doubled, CHANNELS, OUTCOME_DEFECT,
			"not every channel shows the same. These differ: imc0, imc1." },
		{ "another socket", elsewhere, BOXES, OUTCOME_DEFECT,
			"shows on other counters: 1.0" },
		{ "another socket, and others here", elsewhere_and_others, BOXES, OUTCOME_DEFECT,
			"shows on other counters: 1.0" },
		{ "nothing", nothing, BOXES, OUTCOME_DEFECT, "Nothing is counted" },
		{ "no writes", no_writes, BOXES, OUTCOME_DEFECT,
			"dram.write shows 0.00 of the reads and 0.00 of the writes." },
		{ "three times the reads", triple_reads, BOXES, OUTCOME_DEFECT,
			"dram.read: a factor of 3.0" },
		{ "half of the writes", half_writes, BOXES, OUTCOME_DEFECT,
			"dram.write: a factor of 0.5." },
		{ "the total in dram.read", total_in_read, BOXES, OUTCOME_DEFECT,
			"dram.read shows 1.00 of the reads and 1.0" },
		{ "one channel swapped", one_swapped, BOXES, OUTCOME_DEFECT,
			"dram.read: not every channel shows the same. These differ: imc2." },
		{ "one channel of the other socket", leaking, BOXES, OUTCOME_DEFECT,
			"on other counters: 0.13 of it in dram.read and dram.write of" },
		{ "itom counts writes", itom_counts_writes, BOXES, OUTCOME_RIGHT,
			"Remark: itom shows 0.00 of the reads and 1.0" },
		{ "other memory", other_memory, BOXES, OUTCOME_UNCLEAR,
			" of it in hbm.read and hbm.write of socket 0. That may be" },
		{ "directories", directories, BOXES, OUTCOME_UNCLEAR,
			"dram.write shows 0.06 of the reads and 1.0" },
		{ "one silent of 32", one_of_many_silent, MANY, OUTCOME_RIGHT, NULL },
		{ "overfetch", overfetch, BOXES, OUTCOME_UNCLEAR,
			"dram.read shows 1.07 of the reads and 0.00 of the writes. Prefetchers" },
		{ "overfetch on twelve", overfetch, CHANNELS, OUTCOME_UNCLEAR,
			"dram.read shows 1.07 of the reads and 0.00 of the writes. Prefetchers" },
		{ "somewhat large writes", large_writes, BOXES, OUTCOME_DEFECT,
			"dram.write: a factor of 1.08" },
		{ "one silent, one double", silent_and_double, BOXES, OUTCOME_DEFECT,
			"not every channel shows the same. These differ: imc4." },
		{ "six of eight silent", most_silent, CHANNELS, OUTCOME_DEFECT,
			"a factor of 0.25. One count is worth 4 times the bytes that uncored takes "
			"it for, or 6 of 8 channels count nothing." },
		{ "half of the channels count half", half_on_half, CHANNELS, OUTCOME_DEFECT,
			"not every channel shows the same. These differ: " },
		{ "a part elsewhere, and half of the writes", elsewhere_and_half, BOXES,
			OUTCOME_DEFECT, "dram.write: a factor of " },
		{ "no simple factor", slow, BOXES, OUTCOME_DEFECT, "a factor of 0.83" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene scene = { 0 };

		judge(&scene, rows[i].shows, rows[i].n_boxes);
		if (scene.findings.outcome == rows[i].outcome &&
			(rows[i].words ? says(&scene, rows[i].words) : scene.findings.n == 0))
			continue;
		print_findings(&scene);
		fail_msg("%s: %s, and not: %s", rows[i].name, outcome_word(scene.findings.outcome),
			rows[i].words ? rows[i].words : "nothing");
	}
}

CASE("the node is named where nothing shows its traffic")
{
	struct scene scene = { .node = 1 };

	judge(&scene, nothing, BOXES);
	assert_int_equal(scene.findings.outcome, OUTCOME_DEFECT);
	assert_true(says(&scene, "no counter shows the traffic of node 1."));
}

CASE("a residue that is not known to be more than nothing is nothing")
{
	static const struct {
		defect shows;
		double unknown;
	} rows[] = { { residue, 0.002 }, { thrown_out, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene scene = { .unknown = rows[i].unknown, .node = 1 };

		judge(&scene, rows[i].shows, BOXES);
		assert_int_equal(scene.findings.outcome, OUTCOME_DEFECT);
		assert_int_equal(scene.findings.n, 1);
		assert_true(says(&scene, "no counter shows the traffic of node 1."));
	}
}

CASE("noise is not a defect")
{
	struct scene spread = { 0 }, busy = { 0 }, late = { 0 }, moved = { 0 };

	spread.measured[1].error = 0.08;
	judge(&spread, swapped, BOXES);
	assert_int_equal(spread.findings.outcome, OUTCOME_UNCLEAR);
	assert_true(says(&spread, "the standard error is still 8.2 %."));
	busy.measured[2].background = busy.measured[2].at_rest = 0.31;
	judge(&busy, right, BOXES);
	assert_int_equal(busy.findings.outcome, OUTCOME_UNCLEAR);
	assert_true(says(&busy, "show 31 % as much as storent1 moves"));
	late.measured[2].background = 0.2;
	judge(&late, right, BOXES);
	assert_int_equal(late.findings.outcome, OUTCOME_UNCLEAR);
	assert_true(
		says(&late, "and a second later 0 %. Other programs use this memory, or counts"));
	moved.measured[0].n = (unsigned)-4;
	moved.measured[0].n_dropped = 9;
	judge(&moved, right, BOXES);
	assert_int_equal(moved.findings.outcome, OUTCOME_UNCLEAR);
	assert_true(says(&moved, "the kernel moved pages in 9 of 10 repetitions of load"));
}

/* Neighbours that move 6 to 28 % as much as a kernel: reads, writes or both; half as much more
 * beside a kernel, or less, or nothing; beside all kernels or not the last one; on one socket or
 * both. On machines that count reads and writes, and on such that count the total. */
enum { N_OTHERS = 12, N_WHAT = 3, N_SLOWED = 13, N_SCENES = N_OTHERS * N_WHAT * N_SLOWED * 8 };

static void set_neighbour(struct scene *scene, unsigned number)
{
	const double others = 0.06 + 0.02 * (number % N_OTHERS);
	const unsigned what = number / N_OTHERS % N_WHAT, rest = number / (N_OTHERS * N_WHAT);
	const unsigned flags = rest / N_SLOWED;

	*scene = (struct scene){
		.neighbour = {
			.reads = what == WRITE ? 0 : others,
			.writes = what == READ ? 0 : others,
			.slowed = -0.5 + 0.125 * (rest % N_SLOWED),
			.absent = flags & 1 ? 1 << (KERNELS - 1) : 0,
			.is_everywhere = flags & 2,
		},
		.tier = flags & 4 ? BY_TOTAL : BY_READS_AND_WRITES,
	};
}

static void fail_beside(const struct scene *scene, const char *name)
{
	const struct neighbour *neighbour = &scene->neighbour;

	print_findings(scene);
	fail_msg("%s, others %.2f and %.2f, slowed %.3f, absent %u, everywhere %d, tier %zu: %s",
		name, neighbour->reads, neighbour->writes, neighbour->slowed, neighbour->absent,
		neighbour->is_everywhere, scene->tier, outcome_word(scene->findings.outcome));
}

CASE("beside other programs, also such that a kernel slows down, a right counter is never wrong")
{
	unsigned n_right = 0;

	for (unsigned number = 0; number < N_SCENES; number++) {
		struct scene scene;

		set_neighbour(&scene, number);
		judge(&scene, right, BOXES);
		if (scene.findings.outcome == OUTCOME_DEFECT ||
			(scene.neighbour.slowed == 0 &&
				!says(&scene, "Other programs use this memory, or counts come") &&
				!says(&scene, "The verdict takes that off.")))
			fail_beside(&scene, "right");
		n_right += scene.findings.outcome == OUTCOME_RIGHT;
	}
	print_message("# right: %u of %u\n", n_right, (unsigned)N_SCENES);
	assert_true(n_right > N_SCENES / 6);
}

CASE("beside other programs no defect is right, and none has another's name")
{
	static const struct {
		const char *name;
		defect shows;
		unsigned n_boxes;
		const char *words, *numbers; /* both are true */
		bool is_of_total;            /* it is one where the total is counted, too */
	} rows[] = {
		{ "swapped", swapped, BOXES, "Reads and writes are swapped.", " shows " },
		{ "total", total, BOXES, "dram.read shows ", "dram.write shows " },
		{ "half", half, BOXES, "a factor of ", " shows ", true },
		{ "twice", twice, BOXES, "a factor of ", " shows ", true },
		{ "a silent channel", silent, CHANNELS, "a factor of ", " shows ", true },
		{ "a channel without a box", boxless, CHANNELS - 1, "a factor of ", " shows ",
			true },
		{ "six of eight silent", most_silent, CHANNELS, "a factor of ", " shows ", true },
		{ "four boxes twice", shared, BOXES, "a factor of ", " shows ", true },
		{ "two boxes double", doubled, CHANNELS, "These differ: imc0, imc1.",
			"a factor of ", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned n = 0, n_named = 0;

		for (unsigned number = 0; number < N_SCENES; number++) {
			struct scene scene;
			bool named;

			set_neighbour(&scene, number);
			/* What is more beside the kernel can make up for what is missing. */
			if ((scene.tier == BY_TOTAL && !rows[i].is_of_total) ||
				scene.neighbour.slowed < 0)
				continue;
			judge(&scene, rows[i].shows, rows[i].n_boxes);
			named = blames(&scene, rows[i].words);
			n++;
			n_named += named;
			named |= blames(&scene, rows[i].numbers);
			if (scene.findings.outcome != (named ? OUTCOME_DEFECT : OUTCOME_UNCLEAR))
				fail_beside(&scene, rows[i].name);
		}
		print_message("# %s: named in %u of %u\n", rows[i].name, n_named, n);
		assert_true(n_named > n / 20);
	}
}

static double nt_stores_read_too(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	const struct lines more = { lines->reads + (lines->reads > 0 ? 0 : 0.17 * lines->writes),
		lines->writes };

	return right(socket, metric, box, &more);
}

static double nt_stores_are_lost(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	const struct lines less = { lines->reads, lines->reads > 0 ? lines->writes : 0 };

	return right(socket, metric, box, &less);
}

/* CloverLeaf paper: 16 to 18 % on a full node of Ice Lake and Sapphire Rapids. */
CASE("stores past the caches may read, and must be counted")
{
	struct scene reads = { 0 }, lost = { 0 };

	judge(&reads, nt_stores_read_too, BOXES);
	assert_int_equal(reads.findings.outcome, OUTCOME_RIGHT);
	assert_true(says(&reads, "Remark: storent1 also reads 0.17 of what it writes."));
	judge(&lost, nt_stores_are_lost, BOXES);
	assert_int_equal(lost.findings.outcome, OUTCOME_DEFECT);
	assert_true(says(&lost, "storent1 does not fit the other kernels"));
}

static double nt_stores_read_all(
	unsigned socket, unsigned metric, unsigned box, const struct lines *lines)
{
	const struct lines more = { lines->reads > 0 ? lines->reads : lines->writes,
		lines->writes };

	return right(socket, metric, box, &more);
}

CASE("stores past the caches do not read all that they write")
{
	struct scene scene = { 0 };

	judge(&scene, nt_stores_read_all, BOXES);
	assert_int_equal(scene.findings.outcome, OUTCOME_DEFECT);
	assert_int_equal(scene.findings.n, 1);
}

/* Zen 2 and 3 count reads and writes together. */
CASE("a metric of reads and writes together is judged")
{
	static const struct {
		defect shows;
		const char *words;
	} rows[] = {
		{ right, NULL },
		{ half, "dram.total: a factor of 0.5." },
		{ silent, "dram.total: 1 of 8 channels count nothing. Boxes that count nothing: "
			  "imc3, imc8" },
		{ elsewhere, "shows on other counters: 1.01 of it in dram.total of socket 1." },
		{ total_of_reads, "dram.total shows 1.00 of the reads and 0.00 of the writes." },
		{ nothing, "Nothing is counted" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene scene = { .tier = BY_TOTAL };

		judge(&scene, rows[i].shows, BOXES);
		print_findings(&scene);
		assert_int_equal(scene.findings.n, rows[i].words ? 1 : 0);
		assert_true(!rows[i].words || says(&scene, rows[i].words));
	}
}

CASE("traffic on the counters of memory that is a node is a defect")
{
	struct scene scene = { .has_memory_nodes = true };

	judge(&scene, other_memory, BOXES);
	assert_int_equal(scene.findings.outcome, OUTCOME_DEFECT);
	assert_true(says(&scene, "shows on other counters: 1.0"));
}

/* A counter that stood still for a time is not the sum of reads and writes, and uncored has said
 * so. */
CASE("flags of uncored leave no verdict")
{
	struct scene scene = { 0 };

	scene.flags = UNCORE_FROZEN;
	judge(&scene, half, BOXES);
	assert_int_equal(scene.findings.outcome, OUTCOME_UNCLEAR);
	assert_true(says(&scene, "uncored itself calls dram.read frozen"));
}

CASE("a platform without the metric is absent, with the reason")
{
	struct scene scene = { 0 };
	struct evidence evidence = {
		.probe = &scene.probe,
		.tier = *tier_nth(PMM),
		.findings = &scene.findings,
	};

	set_meter(&scene, BOXES);
	verdict(&evidence);
	assert_int_equal(scene.findings.outcome, OUTCOME_ABSENT);
	assert_true(says(&scene, "Platform icelake-sp has no metric pmm.write."));
}
