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

static inline int compare_descriptors(void **state)
{
	return (long)*state == count_open_descriptors() ? 0 : -1;
}

#define CASE(sentence, function)                                                                   \
	{                                                                                          \
		sentence, function, remember_descriptors, compare_descriptors, NULL                \
	}
