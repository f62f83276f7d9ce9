/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every cmocka suite includes this. A case is a sentence; CASE() names it, and fails it if it
 * leaves a file descriptor open.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>

/* A case has a parameter that hardly any looks at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static inline long count_open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	long n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

static inline int remember_descriptors(void **state)
{
	*state = (void *)count_open_descriptors();
	return 0;
}

/* False: a check has ended the case half-way, so what it had opened is still open. */
extern bool case_has_ended;

static inline int compare_descriptors(void **state)
{
	if (!case_has_ended || (long)*state == count_open_descriptors())
		return 0;
	print_error(
		"# a descriptor was left open\n"); /* tests/dev/suites.py looks for these words */
	return -1;
}

/*
 * A case is a sentence, and the code behind it:
 *
 *	CASE("a count is never zero")
 *	{
 *		...
 *	}
 *
 * The cases of a file run in their order. CASE_WITHIN() has what runs before and after. A program
 * without a main() runs its cases: see main.c.
 */
void case_add(struct CMUnitTest test);
int run_cases(CMFixtureFunction set_up_all, CMFixtureFunction tear_down_all);

#define CASE(sentence) CASE_WITHIN(sentence, remember_descriptors, compare_descriptors)
#define CASE_WITHIN(sentence, set_up, tear_down)                                                   \
	CASE_COUNTED(__COUNTER__, sentence, set_up, tear_down)
#define CASE_COUNTED(number, sentence, set_up, tear_down)                                          \
	CASE_NUMBERED(number, sentence, set_up, tear_down)

/* Priorities of constructors up to 100 belong to the compiler. */
#define CASE_NUMBERED(number, sentence, set_up, tear_down)                                         \
	static void body_##number(void **state);                                                   \
	static void case_##number(void **state)                                                    \
	{                                                                                          \
		case_has_ended = false;                                                            \
		body_##number(state);                                                              \
		case_has_ended = true;                                                             \
	}                                                                                          \
	__attribute__((constructor(101 + number))) static void add_case_##number(void)             \
	{                                                                                          \
		case_add((struct CMUnitTest){ sentence, case_##number, set_up, tear_down, NULL }); \
	}                                                                                          \
	static void body_##number(void **state)
