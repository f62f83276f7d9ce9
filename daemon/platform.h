/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Platform files: how to recognise a machine, and what to count on it (uncore-platform(5)).
 *
 * A metric is a sum of terms, each one event on every PMU instance ("box") whose name matches a
 * glob, worth so many bytes per count; a term may be subtracted. An event is a list of
 * alternatives of which the first that resolves on the running kernel is taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/fault.h"

enum {
	PLATFORM_TERMS_MAX = 4,
	PLATFORM_CHOICES_MAX = 4,
	PLATFORM_SOURCE_MAX = 192,
};

enum event_kind { EVENT_SYSFS, EVENT_RAW, EVENT_PFM };

/* One way to name an event: "sysfs:cas_count_read", "raw:event=0x04,umask=0x0f", "pfm:...". */
struct event_choice {
	enum event_kind kind;
	char text[96]; /* what follows the colon; "{n}" stands for the box's number */
};

struct event_choices {
	unsigned n;
	struct event_choice choice[PLATFORM_CHOICES_MAX];
};

struct platform_term {
	char pmu[64]; /* glob over the names in bus/event_source/devices */
	struct event_choices event;
	struct event_choices clock; /* counts the box's own time; n == 0: none */
	uint32_t clock_ms;          /* the clock must move at least once in so many ms */
	uint32_t bytes;             /* per count, 1 .. 1048576 */
	bool subtract;
	char channel[16]; /* each box is a memory channel of this name; "": none */
};

struct platform_metric {
	char name[PAGE_NAME_MAX];
	char unit[PAGE_NAME_MAX];
	char absent[PAGE_TEXT_MAX]; /* why this platform has it not; "": it has */
	char source[PLATFORM_SOURCE_MAX];
	char confidence[16]; /* "high", "medium", "low" */
	bool uncalibrated;
	unsigned n_terms;
	struct platform_term terms[PLATFORM_TERMS_MAX];
};

struct platform {
	char name[PAGE_NAME_MAX]; /* the file's name without .conf */
	char title[96];
	char path[256];
	bool standin;
	unsigned n_metrics;
	struct platform_metric metrics[PAGE_METRICS_MAX];
};

/*
 * Finds the platform file for the machine below @root_fd (its proc/cpuinfo and memory-only NUMA
 * nodes), or the one named @name (NULL or "": recognise). @directories is NULL-terminated, earlier
 * ones override files of the same name in later ones. *@ret is the caller's, for platform_free().
 * -ENOENT: nothing matches, or no file of that name; -EINVAL: a file is wrong (every file is read
 * and must be right); -EEXIST: two files match. The fault says which, with file and line.
 */
int platform_find(const char *const directories[], int root_fd, const char *name,
	struct platform **ret, struct fault *fault);

struct platform *platform_free(struct platform *platform);
