/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/test.h"

#include <errno.h>

#include "common/macro.h"
#include "daemon/plan/platform-search.h"
#include "tests/harness/tree.h"

#define HEADER "[platform]\ntitle = A machine\nvendor = Maker\n"
#define METRIC                                                                                     \
	"[dram.read]\npmu = a_[0-9]*\nevent = raw:event=1\nbytes = 64\n"                           \
	"source = here\nconfidence = high\n"
#define ABSENT "[itom]\nabsent = No such event.\n"

/* A root with etc/ and usr/ as directories of platform files. */
struct place {
	struct tree tree;
	char etc[96], usr[96];
};

static void place_init(struct place *place, const char *cpuinfo)
{
	place->tree = tree_new();
	snprintf(place->etc, sizeof place->etc, "%s/etc", place->tree.root);
	snprintf(place->usr, sizeof place->usr, "%s/usr", place->tree.root);
	tree_write(&place->tree, "proc/cpuinfo", cpuinfo);
}

static int place_find(
	const struct place *place, const char *name, struct platform **ret, struct fault *fault)
{
	const char *const directories[] = { place->etc, place->usr, NULL };

	return platform_find(directories, place->tree.fd, name, ret, fault);
}

/*
 * A directory whose only file x.conf holds @text must be refused with "PATH/x.conf" and @expected.
 */
static void refuses(const char *text, const char *expected)
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "usr/x.conf", text);
	assert_int_equal(place_find(&place, NULL, &platform, &fault), -EINVAL);
	assert_memory_equal(fault.text, place.usr, strlen(place.usr));
	assert_string_equal(fault.text + strlen(place.usr), expected);
	assert_null(platform);
	tree_free(&place.tree);
}

static struct platform *accepts(const char *text)
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;
	int r;

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "usr/x.conf", text);
	r = place_find(&place, NULL, &platform, &fault);
	if (r < 0)
		fail_msg("%s", fault.text);
	tree_free(&place.tree);
	return platform;
}

CASE("Every key of a platform file is read")
{
	const struct platform_metric *metric;
	struct platform *p;

	p = accepts(
		HEADER "standin = yes\n"
		       "[hbm.read]\n"
		       "pmu = uncore_hbm_[0-9]* | uncore_type_14_[0-9]*\n"
		       "event = sysfs:cas_{n}.x | raw:event=0x05,umask=0xcf|pfm:x_{n}::A:B\n"
		       "bytes = 32\nchannel = hbm\nclock = raw:event=7,edge\nclock_ms = 20\n"
		       "uncalibrated = Nobody knows.\nuncalibrated_if_divided = Nor there.\n"
		       "unit = ns\nsource = a; b\nconfidence = low\n"
		       "[hbm.read/miss-1]\npmu = b\nevent = raw:e=1\nbytes = 1\nsubtract = yes\n"
		       "[hbm.read/more]\npmu = c\nevent = raw:e=2\nbytes = 16777216\n" ABSENT);
	assert_string_equal(p->name, "x");
	assert_string_equal(p->title, "A machine");
	assert_string_equal(p->path + strlen(p->path) - 11, "/usr/x.conf");
	assert_true(p->standin);
	assert_int_equal(p->n_metrics, 2);

	metric = &p->metrics[0];
	assert_string_equal(metric->name, "hbm.read");
	assert_string_equal(metric->unit, "ns");
	assert_string_equal(metric->absent, "");
	assert_string_equal(metric->source, "a; b");
	assert_string_equal(metric->confidence, "low");
	assert_string_equal(metric->uncalibrated, "Nobody knows.");
	assert_string_equal(metric->uncalibrated_if_divided, "Nor there.");
	assert_int_equal(metric->n_terms, 3);
	assert_string_equal(metric->terms[0].pmu, "uncore_hbm_[0-9]* | uncore_type_14_[0-9]*");
	assert_int_equal(metric->terms[0].event.n, 3);
	assert_int_equal(metric->terms[0].event.choice[0].kind, EVENT_SYSFS);
	assert_string_equal(metric->terms[0].event.choice[0].text, "cas_{n}.x");
	assert_int_equal(metric->terms[0].event.choice[1].kind, EVENT_RAW);
	assert_string_equal(metric->terms[0].event.choice[1].text, "event=0x05,umask=0xcf");
	assert_int_equal(metric->terms[0].event.choice[2].kind, EVENT_PFM);
	assert_string_equal(metric->terms[0].event.choice[2].text, "x_{n}::A:B");
	assert_int_equal(metric->terms[0].clock.n, 1);
	assert_int_equal(metric->terms[0].clock_ms, 20);
	assert_int_equal(metric->terms[0].scale.n, 32);
	assert_string_equal(metric->terms[0].channel, "hbm");
	assert_false(metric->terms[0].subtract);
	assert_true(metric->terms[1].subtract);
	assert_false(metric->terms[2].subtract);
	assert_int_equal(metric->terms[2].scale.n, 16777216);

	metric = &p->metrics[1];
	assert_string_equal(metric->name, "itom");
	assert_string_equal(metric->unit, "bytes");
	assert_string_equal(metric->absent, "No such event.");
	assert_int_equal(metric->n_terms, 0);
	free(p);
}

CASE("A bad [platform] is refused")
{
	refuses(METRIC, "/x.conf: there is no section [platform].");
	refuses(HEADER, "/x.conf: there is no metric, for example [dram.read].");
	refuses("[platform]\nvendor = Maker\n" METRIC,
		"/x.conf:1: [platform] lacks the key title.");
	refuses("[platform]\ntitle = A\ncpuless_node = no\n" METRIC,
		"/x.conf:1: [platform] lacks a key to recognise the machine by: "
		"vendor, family, model, stepping, cpu, implementer or part.");
	refuses(HEADER "model = 6,7\n" METRIC,
		"/x.conf:4: model = 6,7: must be numbers or ranges separated by spaces, like "
		"6, 0x6a 0x6c or 0-4.");
	refuses(HEADER "colour = red\n" METRIC,
		"/x.conf:4: unknown key colour in [platform]; known are title, nodes, pmu_sockets, "
		"pmu_per_socket, "
		"standin, "
		"sweep_every_s, unsupported, vendor, "
		"family, model, stepping, cpu, implementer, part, cpuless_node, cpuless_gib, "
		"with_pmu, without_pmu.");
	refuses(HEADER "pmu_sockets = a_1*,a_5*|b\n" METRIC,
		"/x.conf:4: pmu_sockets = a_1*,a_5*|b: must be a glob over PMU names, or several "
		"separated by \" | \".");
	refuses(HEADER "with_pmu = a | b\n" METRIC,
		"/x.conf:4: with_pmu = a | b: must be a glob over PMU names.");
	refuses(HEADER "standin = 1\n" METRIC, "/x.conf:4: standin = 1: must be yes or no.");
	refuses(HEADER "cpu =\n" METRIC,
		"/x.conf:4: cpu = : must be 1 to 95 bytes (compared with /proc/cpuinfo).");
}

CASE("A bad section is refused")
{
	refuses(HEADER METRIC METRIC,
		"/x.conf:10: second section [dram.read], the first is on line 4.");
	refuses(HEADER "[Dram]\n", "/x.conf:4: [Dram] is neither [platform] nor a metric: names "
				   "are like dram.read, of at most 31 bytes.");
	refuses(HEADER "[dram.]\n", "/x.conf:4: [dram.] is neither [platform] nor a metric: names "
				    "are like dram.read, of at most 31 bytes.");
	refuses(HEADER "[a12345678901234567890123456789.1]\n",
		"/x.conf:4: [a12345678901234567890123456789.1] is neither [platform] nor a "
		"metric: names are like dram.read, of at most 31 bytes.");
	refuses(HEADER "[dram.read/miss]\n" METRIC,
		"/x.conf:4: [dram.read/miss] is a further term: [dram.read] must come before it.");
	refuses(HEADER METRIC "[dram.read/]\n", "/x.conf:10: [dram.read/]: what follows the slash "
						"must be letters, digits and -.");
	refuses(HEADER ABSENT "[itom/miss]\n",
		"/x.conf:6: [itom/miss] is a term of [itom], which is absent.");
	refuses(HEADER "[itom]\nabsent = No.\nbytes = 64\n",
		"/x.conf:4: [itom] is absent, so it can have no other key than unit and pmid.");
	refuses(HEADER "[itom]\nabsent = No.\npmid = 512\n[a]\nabsent = No.\npmid = 512\n",
		"/x.conf:7: [a] has pmid = 512 as [itom] has: each metric needs a number of its "
		"own, on all nodes.");
	refuses(HEADER METRIC "[check.dram.write]\npmu = b\nevent = raw:e=1\nbytes = 1\n"
			      "source = here\nconfidence = low\n",
		"/x.conf:10: [check.dram.write] is a check of [dram.write], but that metric does "
		"not exist, is absent, is itself a check, or has another unit.");
}

CASE("More terms than a metric can have are refused")
{
	char text[2048] = HEADER METRIC;

	for (char t = 'a'; t < 'a' + PLATFORM_TERMS_MAX; t++)
		sprintf(text + strlen(text),
			"[dram.read/%c]\npmu = b\nevent = raw:e=1\nbytes = 1\n", t);
	refuses(text, "/x.conf:38: [dram.read/h] is one term too many: dram.read can have 8.");
}

static void add_metrics(char *text, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sprintf(text + strlen(text), "[m%u]\nabsent = No.\n", i);
}

CASE("More metrics than a file can have are refused")
{
	char text[2048] = HEADER;

	add_metrics(text, PLATFORM_METRICS_MAX + 1);
	refuses(text, "/x.conf:68: [m32] is one metric too many: a file can have 32.");
}

/* Names of the metrics that are left, and of the opt-in metrics that are not. */
static void choose_from(
	const char *text, const char *enabled, const char *disabled, const char *left)
{
	const struct platform_choice choice = { enabled, disabled };
	struct platform *platform = accepts(text);
	char names[2048] = "";
	struct fault fault;

	assert_int_equal(platform_choose(platform, &choice, &fault), 0);
	for (unsigned m = 0; m < platform->n_metrics; m++)
		sprintf(names + strlen(names), m ? " %s" : "%s", platform->metrics[m].name);
	if (*platform->asleep)
		sprintf(names + strlen(names), ", not%s", platform->asleep);
	assert_string_equal(names, left);
	free(platform);
}

static void choose(const char *text, const char *disabled, const char *left)
{
	choose_from(text, "", disabled, left);
}

static void refuses_choice(
	const char *text, const char *enabled, const char *disabled, const char *expected)
{
	const struct platform_choice choice = { enabled, disabled };
	struct platform *platform = accepts(text);
	struct fault fault;

	assert_int_equal(platform_choose(platform, &choice, &fault), -EINVAL);
	assert_string_equal(fault.text, expected);
	free(platform);
}

static void refuses_to_choose(const char *text, const char *disabled, const char *expected)
{
	refuses_choice(text, "", disabled, expected);
}

#define OPT_IN(name)                                                                               \
	"[" name                                                                                   \
	"]\npmu = a\nevent = raw:e=1\nscale = 1\nsource = a\nconfidence = low\nopt_in = yes\n"

CASE("Opt-in metrics are counted only where the site enables them")
{
	static const char text[] = HEADER METRIC OPT_IN("energy.package") OPT_IN("energy.dram");

	choose_from(text, "", "", "dram.read, not energy.package energy.dram");
	choose_from(text, "energy.dram", "", "dram.read energy.dram, not energy.package");
	choose_from(text, "energy.*", "", "dram.read energy.package energy.dram");
	choose_from(text, "link.* energy.p*", "", "dram.read energy.package, not energy.dram");
	choose_from(text, "*", "energy.*", "dram.read");
	refuses_choice(text, "energy.ram", "",
		"enable in [metrics] names energy.ram, which platform x does not have.");
}

CASE("Metrics that the site disables are left out, with their checks")
{
	char text[2048] = HEADER METRIC "[check.dram.read]\npmu = a\nevent = raw:e=1\nbytes = 1\n"
					"source = a\nconfidence = low\n";

	add_metrics(text, 3);
	choose(text, "", "dram.read check.dram.read m0 m1 m2");
	choose(text, " m1 ", "dram.read check.dram.read m0 m2");
	choose(text, "m2\tm0 m2", "dram.read check.dram.read m1");
	choose(text, "check.dram.read", "dram.read m0 m1 m2");
	choose(text, "dram.read", "m0 m1 m2");
	refuses_to_choose(
		text, "m1 m", "disable in [metrics] names m, which platform x does not have.");
	refuses_to_choose(text, "a.name.that.is.longer.than.any.metric.of.a.file",
		"disable in [metrics] names a.name.that.is.longer.than.any.metric.of.a.file, which "
		"platform x does not have.");
	refuses_to_choose(text, "m0 m1 m2 dram.read",
		"disable in [metrics] names all metrics of platform x: leave one.");
}

CASE("More metrics than uncored serves are refused, and which ones to disable is the site's choice")
{
	char text[2048] = HEADER;

	add_metrics(text, 18);
	refuses_to_choose(text, "",
		"Platform x has 18 metrics that are not disabled, and uncored serves at most 16. "
		"Add those that this site does not need to disable in [metrics] of uncored.conf, "
		"for example the last of the file: m16 m17.");
	refuses_to_choose(text, "m3",
		"Platform x has 17 metrics that are not disabled, and uncored serves at most 16. "
		"Add those that this site does not need to disable in [metrics] of uncored.conf, "
		"for example the last of the file: m17.");
	choose(text, "m3 m17", "m0 m1 m2 m4 m5 m6 m7 m8 m9 m10 m11 m12 m13 m14 m15 m16");
}

CASE("A metric may have a number for PCP, also where it is absent")
{
	struct platform *p = accepts(
		HEADER METRIC "pmid = 1023\n[a]\nabsent = No.\npmid = 512\nunit = nJ\n" ABSENT);

	assert_int_equal(p->metrics[0].pmid, 1023);
	assert_int_equal(p->metrics[1].pmid, 512);
	assert_string_equal(p->metrics[1].unit, "nJ");
	assert_string_equal(p->metrics[1].absent, "No.");
	assert_int_equal(p->metrics[2].pmid, 0);
	free(p);
}

/* METRIC without the line of one key, then some more lines. */
static void refuses_metric(const char *without, const char *more, const char *expected)
{
	char text[1024] = HEADER METRIC, *line = strstr(text, without), *next;

	if (*without) {
		next = strchr(line + 1, '\n');
		memmove(line, next, strlen(next) + 1);
	}
	strcat(text, more);
	refuses(text, expected);
}

CASE("A missing key is named with its section")
{
	refuses_metric("\npmu", "", "/x.conf:4: [dram.read] lacks the key pmu.");
	refuses_metric("\nevent", "", "/x.conf:4: [dram.read] lacks the key event.");
	refuses_metric("\nbytes", "", "/x.conf:4: [dram.read] lacks the key bytes, or scale.");
	refuses_metric("\nsource", "", "/x.conf:4: [dram.read] lacks the key source.");
	refuses_metric("\nconfidence", "", "/x.conf:4: [dram.read] lacks the key confidence.");
	refuses_metric(
		"", "clock = raw:e=1\n", "/x.conf:4: [dram.read] has clock without clock_ms.");
	refuses_metric("", "clock_ms = 20\n", "/x.conf:4: [dram.read] has clock_ms without clock.");
	refuses_metric("", "[dram.read/a]\npmu = b\nevent = raw:e=1\n",
		"/x.conf:10: [dram.read/a] lacks the key bytes, or scale.");
	refuses_metric("",
		"[dram.read/a]\npmu = b\nevent = raw:e=1\nbytes = 1\nsubtract = yes\nchannel = b\n",
		"/x.conf:10: [dram.read/a] is subtracted, so its boxes cannot be channels.");
	refuses_metric("",
		"[dram.read/a]\npmu = b\nevent = raw:e=1\nbytes = 1\nsubtract = yes\n"
		"optional = Half.\n",
		"/x.conf:10: [dram.read/a] is subtracted, so it cannot be optional: the rest would "
		"be too much.");
}

CASE("A bad value in a metric is refused")
{
	refuses_metric("", "subtract = yes\n",
		"/x.conf:10: unknown key subtract in [dram.read]; known are pmu, event, bytes, "
		"scale, channel, clock, clock_ms, absent, partial, source, measured, confidence, "
		"uncalibrated, uncalibrated_if_divided, opt_in, unit, pmid.");
	refuses_metric("", "[dram.read/a]\nsource = b\n",
		"/x.conf:11: unknown key source in [dram.read/a]; known are pmu, event, bytes, "
		"scale, channel, clock, clock_ms, subtract, optional.");
	refuses_metric("\nbytes", "bytes = 0\n",
		"/x.conf:9: bytes = 0: must be 1 to 16777216 (bytes per count).");
	refuses_metric("\nconfidence", "confidence = some\n",
		"/x.conf:9: confidence = some: must be one of high|medium|low.");
	refuses_metric(
		"", "unit = MiB\n", "/x.conf:10: unit = MiB: must be one of bytes|ns|nJ|count.");
	refuses_metric("\nbytes", "scale = 64/0\n",
		"/x.conf:9: scale = 64/0: must be a number above 0, or a fraction like 64/9.");
	refuses_metric("\nbytes", "scale = 1/4294967297\n",
		"/x.conf:9: scale = 1/4294967297: must have parts of at most 32 bits when it is in "
		"its lowest terms.");
	refuses_metric("", "scale = 64\n",
		"/x.conf:4: [dram.read] has both keys bytes and scale: one is enough.");
	refuses_metric("", "channel = imc0\n",
		"/x.conf:10: channel = imc0: must be 1 to 15 letters a to z.");
	refuses_metric("", "pmid = 511\n",
		"/x.conf:10: pmid = 511: must be 512 to 1023 (the metric's number in PCP).");
	refuses_metric("", "clock_ms = 10001\n",
		"/x.conf:10: clock_ms = 10001: must be 1 to 10000 (milliseconds).");
}

CASE("A malformed PMU glob is refused")
{
	static const char *const bad[] = { "a|b", "a | ", "a |  b", "| a", "a b", "../a", "" };

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		char more[64], expected[256], value[16];

		snprintf(more, sizeof more, "pmu = %s\n", bad[i]);
		snprintf(value, sizeof value, "%s", bad[i]);
		value[strlen(value) - (*value && value[strlen(value) - 1] == ' ')] = '\0';
		snprintf(expected, sizeof expected,
			"/x.conf:9: pmu = %s: must be a glob over PMU names, or several separated "
			"by \" | \".",
			value);
		refuses_metric("\npmu", more, expected);
	}
}

CASE("A malformed event is refused")
{
	static const struct {
		const char *value, *why;
	} cases[] = {
		{ "event=1", "\"event=1\" is of no known kind; " },
		{ "raw:e=1 |", "\"\" is of no known kind; " },
		{ "raw:", "\"raw:\" is not well formed; " },
		{ "raw:e f", "\"raw:e f\" is not well formed; " },
		{ "raw:e=", "\"raw:e=\" is not well formed; " },
		{ "raw:=1", "\"raw:=1\" is not well formed; " },
		{ "raw:e=-1", "\"raw:e=-1\" is not well formed; " },
		{ "raw:e=0x", "\"raw:e=0x\" is not well formed; " },
		{ "raw:e=1,", "\"raw:e=1,\" is not well formed; " },
		{ "raw:e=0x10000000000000000",
			"\"raw:e=0x10000000000000000\" is not well formed; " },
		{ "sysfs:", "\"sysfs:\" is not well formed; " },
		{ "sysfs:../x", "\"sysfs:../x\" is not well formed; " },
		{ "sysfs:a{m}", "\"sysfs:a{m}\" is not well formed; " },
		{ "sysfs:a,", "\"sysfs:a,\" is not well formed; " },
		{ "sysfs:,b=1", "\"sysfs:,b=1\" is not well formed; " },
		{ "sysfs:a,b=x", "\"sysfs:a,b=x\" is not well formed; " },
		{ "pfm:a b", "\"pfm:a b\" is not well formed; " },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		char more[128], expected[512];

		snprintf(more, sizeof more, "event = %s\n", cases[i].value);
		snprintf(expected, sizeof expected,
			"/x.conf:9: event = %s: %sknown alternatives are sysfs:NAME, "
			"raw:FIELD=NUMBER,... and pfm:NAME.",
			cases[i].value, cases[i].why);
		refuses_metric("\nevent", more, expected);
	}
	refuses_metric("\nevent", "event = raw:e=1|raw:e=2|raw:e=3|raw:e=4|raw:e=5\n",
		"/x.conf:9: event = raw:e=1|raw:e=2|raw:e=3|raw:e=4|raw:e=5: "
		"must be at most 4 alternatives.");
}

CASE("On an unknown machine the error names the machine and a remedy")
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;
	char expected[512];

	place_init(&place, "vendor_id : Other\ncpu family : 6\nmodel : 5\nmodel name : X\n");
	tree_write(&place.tree, "usr/x.conf", HEADER METRIC);
	assert_int_equal(place_find(&place, "", &platform, &fault), -ENODEV);
	snprintf(expected, sizeof expected,
		"No platform file in %s, %s matches this machine (vendor Other, family 6, model "
		"5): "
		"add one, see uncore-platform(5).",
		place.etc, place.usr);
	assert_string_equal(fault.text, expected);

	/* A folder that --platforms names must be there. */
	assert_int_equal(platform_find((const char *const[]){ "/nonexistent", NULL }, place.tree.fd,
				 NULL, &platform, &fault),
		-ENOENT);
	assert_string_equal(fault.text, "Cannot list /nonexistent: No such file or directory.");
	tree_write(&place.tree, "proc/cpuinfo", "flags : fpu hypervisor\n");
	assert_int_equal(place_find(&place, NULL, &platform, &fault), -ENODEV);
	snprintf(expected, sizeof expected,
		"No platform file in %s, %s matches this machine (proc/cpuinfo names no CPU): add "
		"one, see uncore-platform(5). It is a virtual machine, and those have no uncore "
		"counters.",
		place.etc, place.usr);
	assert_string_equal(fault.text, expected);
	assert_null(platform);
	tree_free(&place.tree);
}

CASE("A name in the configuration decides")
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;
	char expected[512];

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "usr/x.conf", HEADER METRIC);
	tree_write(
		&place.tree, "usr/y.conf", "[platform]\ntitle = Another\nvendor = Other\n" METRIC);
	assert_int_equal(place_find(&place, "y", &platform, &fault), 0);
	assert_string_equal(platform->title, "Another");
	free(platform);
	platform = NULL;
	assert_int_equal(place_find(&place, "z", &platform, &fault), -EINVAL);
	snprintf(expected, sizeof expected, "There is no platform z in %s, %s. There are: x, y.",
		place.etc, place.usr);
	assert_string_equal(fault.text, expected);

	/* every file must be right, wanted or not */
	tree_write(&place.tree, "usr/z.conf", "");
	assert_int_equal(place_find(&place, "y", &platform, &fault), -EINVAL);
	tree_free(&place.tree);
}

CASE("A machine that cannot be counted on is told why")
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;
	char expected[512];

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "usr/x.conf", HEADER "unsupported = It cannot count.\n");
	assert_int_equal(place_find(&place, NULL, &platform, &fault), -ENODEV);
	snprintf(expected, sizeof expected,
		"This machine is A machine: It cannot count. (%s/x.conf)", place.usr);
	assert_string_equal(fault.text, expected);
	assert_null(platform);
	tree_free(&place.tree);
	refuses(HEADER "unsupported = It cannot count.\n" METRIC,
		"/x.conf:1: an unsupported platform can have no metric.");
}

static int note_name(const struct platform *platform, void *names)
{
	strcat(strcat(names, platform->name), " ");
	return 0;
}

static int stop_visiting(const struct platform *platform, void *names)
{
	note_name(platform, names);
	return -ECANCELED;
}

CASE("All platforms are visited, overridden ones not")
{
	struct place place;
	struct fault fault;
	char names[64] = "";

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "etc/y.conf", HEADER METRIC);
	tree_write(&place.tree, "usr/x.conf", HEADER METRIC);
	tree_write(&place.tree, "usr/y.conf", "overridden\n");
	const char *const directories[] = { place.etc, place.usr, NULL };

	assert_int_equal(platform_visit(directories, note_name, names, &fault), 0);
	assert_string_equal(names, "y x ");
	names[0] = '\0';
	assert_int_equal(platform_visit(directories, stop_visiting, names, &fault), -ECANCELED);
	assert_string_equal(names, "y ");
	tree_free(&place.tree);
}

CASE("A doubt may be said by yes, without a reason")
{
	static const struct {
		const char *line, *doubt;
	} rows[] = {
		{ "uncalibrated = yes\n", "Sources disagree on what a count is worth." },
		{ "uncalibrated = no\n", "" },
		{ "", "" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[1024];
		struct platform *platform;

		snprintf(text, sizeof text, "%s%s", HEADER METRIC, rows[i].line);
		platform = accepts(text);
		assert_string_equal(platform->metrics[0].uncalibrated, rows[i].doubt);
		free(platform);
	}
}

CASE("The site says what a count is worth")
{
	struct platform *platform = accepts(
		HEADER METRIC "uncalibrated = yes\nuncalibrated_if_divided = Nor there.\n"
			      "[dram.write]\npmu = b\nevent = raw:e=1\nbytes = 1\nsource = here\n"
			      "confidence = low\n[dram.write/other]\npmu = b\nevent = "
			      "raw:e=2\nbytes = 2\n" ABSENT);
	struct fault fault;

	assert_int_equal(platform_calibrate(platform, "dram.read", 128, &fault), 0);
	assert_int_equal(platform->metrics[0].terms[0].scale.n, 128);
	assert_string_equal(platform->metrics[0].uncalibrated, "");
	assert_string_equal(platform->metrics[0].uncalibrated_if_divided, "");
	assert_true(platform->metrics[0].calibrated);
	assert_int_equal(platform_calibrate(platform, "itom", 64, &fault), -EINVAL);
	assert_string_equal(
		fault.text, "[calibration] names itom, which platform x does not count.");
	assert_int_equal(platform_calibrate(platform, "hbm.read", 64, &fault), -EINVAL);
	assert_int_equal(platform_calibrate(platform, "dram.write", 64, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "whose terms are worth 1 and 2 bytes"));
	free(platform);
}

CASE("Units and scales are read, and fractions reduced")
{
	static const struct {
		const char *unit, *worth;
		struct scale scale;
	} cases[] = {
		{ "bytes", "bytes = 64", { 64, 1 } },
		{ "bytes", "scale = 64", { 64, 1 } },
		{ "bytes", "scale = 64/9", { 64, 9 } },
		{ "ns", "bytes = 1", { 1, 1 } }, /* as files before `scale` say it */
		{ "nJ", "scale = 1000000000/4294967296", { 1953125, 8388608 } },
		{ "count", "scale = 6/4", { 3, 2 } },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];
		struct platform *platform;

		snprintf(text, sizeof text,
			HEADER "[a.b]\npmu = p\nevent = raw:e=1\nsource = s\nconfidence = low\n"
			       "unit = %s\n%s\n[a.b/more]\npmu = p\nevent = raw:e=2\n%s\n",
			cases[i].unit, cases[i].worth, cases[i].worth);
		platform = accepts(text);
		assert_string_equal(platform->metrics[0].unit, cases[i].unit);
		for (unsigned t = 0; t < 2; t++)
			assert_true(
				scale_is_same(platform->metrics[0].terms[t].scale, cases[i].scale));
		free(platform);
	}
}

CASE("... also where the file says a fraction")
{
	struct platform *platform = accepts(HEADER
		"[a]\npmu = p\nevent = raw:e=1\nsource = s\nconfidence = low\nunit = nJ\n"
		"scale = 1/3\n[a/other]\npmu = b\nevent = raw:e=2\nscale = 2/3\n"
		"[b]\npmu = p\nevent = raw:e=1\nsource = s\nconfidence = low\nscale = 1/3\n");
	struct fault fault;

	assert_int_equal(platform_calibrate(platform, "a", 64, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "whose terms are worth 1/3 and 2/3 nJ"));
	assert_int_equal(platform_calibrate(platform, "b", 64, &fault), 0);
	assert_true(scale_is_same(platform->metrics[1].terms[0].scale, (struct scale){ 64, 1 }));
	free(platform);
}

CASE("A metric's check is found")
{
	struct platform *platform = accepts(HEADER METRIC ABSENT
		"[check.dram.read]\npmu = b\nevent = raw:e=1\nbytes = 1\nsource = here\n"
		"confidence = low\n");

	assert_int_equal(platform_check_of(platform, 0), 2);
	assert_int_equal(platform_check_of(platform, 1), -1);
	assert_int_equal(platform_check_of(platform, 2), -1);
	free(platform);
}

CASE("Two matching files are an error")
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;
	char expected[512];

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "etc/y.conf", HEADER METRIC);
	tree_write(&place.tree, "usr/x.conf", HEADER METRIC);
	assert_int_equal(place_find(&place, NULL, &platform, &fault), -EEXIST);
	snprintf(expected, sizeof expected,
		"Two platform files match this machine: %s/y.conf and %s/x.conf. Change their "
		"[platform] so that one matches, or choose one with name in [platform] of "
		"uncored.conf.",
		place.etc, place.usr);
	assert_string_equal(fault.text, expected);
	assert_null(platform);
	tree_free(&place.tree);
}

CASE("A file in an earlier directory overrides its namesakes")
{
	struct place place;
	struct platform *platform = NULL;
	struct fault fault;
	char expected[512];

	place_init(&place, "vendor_id : Maker\n");
	tree_write(&place.tree, "usr/x.conf", "this one is wrong\n");
	tree_write(&place.tree, "etc/x.conf", HEADER METRIC);
	tree_write(&place.tree, "etc/x.conf~", "no platform file\n");
	tree_write(&place.tree, "etc/.y.conf", "nor this\n");
	assert_int_equal(place_find(&place, NULL, &platform, &fault), 0);
	assert_string_equal(platform->name, "x");
	assert_string_equal(platform->path + strlen(platform->path) - 11, "/etc/x.conf");
	free(platform);

	tree_write(&place.tree, "etc/a-name-of-more-than-thirty-one-bytes.conf", "");
	assert_int_equal(place_find(&place, NULL, &platform, &fault), -EINVAL);
	snprintf(expected, sizeof expected,
		"%s/a-name-of-more-than-thirty-one-bytes.conf: the name of a platform must be at "
		"most 31 bytes.",
		place.etc);
	assert_string_equal(fault.text, expected);
	tree_free(&place.tree);
}

/* --- the shipped files --- */

static struct platform *find_shipped(const struct tree *tree)
{
	char directory[512];
	const char *const directories[] = { directory, NULL };
	struct platform *platform;
	struct fault fault;

	snprintf(directory, sizeof directory, "%s/conf/platforms", getenv("UNCORE_SOURCE_ROOT"));
	if (platform_find(directories, tree->fd, NULL, &platform, &fault) < 0)
		fail_msg("%s", fault.text);
	return platform;
}

CASE("MCDRAM as a cache is a difference of counts")
{
	const struct platform_metric *read, *write;
	struct platform *platform;
	struct tree tree = tree_new();

	tree_write(&tree, "proc/cpuinfo", "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 87\n");
	platform = find_shipped(&tree);
	read = &platform->metrics[2];
	write = &platform->metrics[3];
	assert_int_equal(read->n_terms, 3);
	assert_false(read->terms[0].subtract);
	assert_true(read->terms[1].subtract && read->terms[2].subtract);
	assert_int_equal(write->n_terms, 2);
	assert_string_equal(write->terms[1].pmu, "uncore_imc_[0-5]");
	assert_true(write->terms[1].subtract);
	assert_string_equal(
		platform->metrics[0].terms[0].event.choice[0].text, "event=0x03,umask=0x01");
	free(platform);
	tree_free(&tree);
}
