/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ITT lays down between a program and a collector, and what of it is used here. Each object of
 * a program that has ITT's static part loads the library that INTEL_LIBITTNOTIFY64 names, and calls
 * its __itt_api_init(). The order of members is that of intel/ittapi:
 * src/ittnotify/ittnotify_config.h and include/ittnotify.h. Domains and strings are struct kept.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "client/markers/base/texts.h"

typedef void itt_function(void);

/* One function of the interface. */
struct itt_api {
	const char *name;        /* with "__itt_" */
	itt_function **function; /* what the program calls */
	itt_function *init;
	itt_function *absent; /* where the collector has no such function */
	int group;
};

/* What later releases have added is behind these. */
struct itt_global {
	unsigned char magic[8];
	unsigned long version_major;
	unsigned long version_minor;
	unsigned long version_build; /* a date */
	volatile long is_initialized;
	volatile long has_mutex;
	volatile long counter;
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **path;
	struct itt_api *apis; /* the last one has no name */
			      /* There is more, which later releases have added. */
};

/* Writes where each of .apis says what the program is to call. */
void __itt_api_init(struct itt_global *global, int groups);

#define ITT_MAGIC "\xED\xAB\xAB\xEC\x0D\xEE\xDA\x30"

/* From the first release with this struct itt_api on. */
enum { ITT_BUILD_LEAST = 20111111 };

/* By value. */
struct itt_id {
	unsigned long long words[3]; /* all 0: none */
};

/* What a program has for a string. */
struct itt_string {
	const char *text;
};
