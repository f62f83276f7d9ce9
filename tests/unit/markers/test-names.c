/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of regions for any text, and passages that end in another order. */
#include "client/markers/base/marker.h"

#include "common/text.h"
#include "tests/unit/region/region-case.h"

/* The name of @text, which shall be a region's. */
static const char *name_of(const char *text)
{
	static char name[MARKER_NAME_BYTES];

	memset(name, 'x', sizeof name);
	marker_name(text, name);
	CHECK(strnlen(name, sizeof name) > 0 && strnlen(name, sizeof name) < sizeof name);
	CHECK(text_is_plain(name));
	return name;
}

static void name_all(struct fake_daemon *daemon)
{
	char longest[MARKER_NAME_BYTES + 200] = "", wide[MARKER_NAME_BYTES + 2];
	char first[MARKER_NAME_BYTES];

	(void)daemon;
	memset(longest, 'a', 63);
	memset(wide, 'b', 64);
	memcpy(wide + 53, "\xc3\xa4", 2); /* where a short form is cut */
	wide[64] = '\0';
	CHECK(strcmp(name_of("a b"), "a b") == 0);
	CHECK(strcmp(name_of("h\xc3\xa4lfte"), "h\xc3\xa4lfte") == 0);
	CHECK(strcmp(name_of(longest), longest) == 0);
	CHECK(strncmp(name_of("a\nb"), "a?b~", 4) == 0);
	CHECK(strlen(name_of("a\nb")) == 3 + 9);
	CHECK(strncmp(name_of("a\xff\x80"), "a??~", 4) == 0);
	CHECK(*name_of("") == '~' && strcmp(name_of(NULL), name_of("")) == 0);
	CHECK(strncmp(name_of(wide), wide, 53) == 0 && name_of(wide)[53] == '~');
	strcpy(first, name_of("a\nb"));
	CHECK(strcmp(first, name_of("a\tb")) != 0);
	memset(longest, 'a', sizeof longest - 1);
	strcpy(first, name_of(longest));
	for (size_t i = 0; i + 1 < sizeof longest; i++) {
		longest[i] = 'b';
		CHECK(strcmp(first, name_of(longest)) != 0);
		longest[i] = 'a';
		CHECK(strcmp(first, name_of(longest)) == 0);
	}
}

CASE("each text has a name, and no two that differ have the same")
{
	run_with(NULL, name_all);
}

/* "": it has none. */
static const char *title(struct json_object *report, const char *region)
{
	struct json_object *found = FIND(report, "regions", region, "title");

	return found ? json_object_get_string(found) : "";
}

static void pass_long_names(struct fake_daemon *daemon)
{
	static const char type[] = "a type whose name is so long that it does not fit into a name";
	struct json_object *report;
	char longest[5000] = "", text[100];

	memset(longest, 'y', sizeof longest - 1);
	snprintf(text, sizeof text, "f()\n[with T = %s]", type);
	marker_begin(text);
	marker_pop();
	marker_begin(longest);
	marker_pop();
	marker_begin("short");
	marker_pop();
	CHECK(uncore_region_title("short", "") == -EINVAL);
	CHECK(uncore_region_title("short", "a\nb") == -EINVAL);
	CHECK(uncore_region_title("short", longest) == -EINVAL);
	report = take_report(daemon);
	snprintf(text, sizeof text, "f()\\x0a[with T = %s]", type);
	CHECK(strcmp(title(report, "0"), text) == 0);
	CHECK(strlen(title(report, "1")) == 2047);
	CHECK(!*title(report, "2"));
	json_object_put(report);
}

CASE("the report has the whole text beside a short form")
{
	run_with(NULL, pass_long_names);
}

static void check_region(struct json_object *report, const char *name, uint64_t n, uint64_t failed)
{
	struct json_object *region = find_region(report, name);

	CHECK(number(FIND(region, "count")) == n && number(FIND(region, "failed")) == failed);
	CHECK(number(FIND(region, "open")) == 0);
}

static void pass_crosswise(struct fake_daemon *daemon)
{
	struct json_object *report;

	marker_end("never begun");
	marker_pop();
	marker_begin("a");
	marker_begin("b");
	marker_begin("c");
	marker_end("a");
	marker_end("never begun");
	marker_end("c");
	marker_end("b");
	for (int i = 0; i < 40; i++)
		marker_begin("deep");
	for (int i = 0; i < 40; i++)
		marker_pop();
	marker_begin("last");
	CHECK(uncore_region_end("last") == 0);
	report = take_report(daemon);
	check_region(report, "a", 1, 0);
	check_region(report, "b", 2, 0);
	check_region(report, "c", 2, 0);
	check_region(report, "deep", 40, 8);
	check_region(report, "last", 1, 0);
	json_object_put(report);
}

CASE("regions that end in another order are closed, and counted once more")
{
	run_with(NULL, pass_crosswise);
}

CASE("a list of families holds those that are named in whole")
{
	unsetenv("UNCORE_MARKERS");
	assert_true(marker_is_wanted("mpi"));
	setenv("UNCORE_MARKERS", "likwid,mpi", 1);
	assert_true(marker_is_wanted("mpi") && marker_is_wanted("likwid"));
	assert_false(marker_is_wanted("mp") || marker_is_wanted("openmp"));
	setenv("UNCORE_MARKERS", "", 1);
	assert_false(marker_is_wanted("mpi"));
	unsetenv("UNCORE_MARKERS");
}
