/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text that Prometheus reads (exposition format 0.0.4). The caller names a family and then its
 * series, one after the other. The family's HELP and TYPE come before its first series; a family
 * without series has neither. Values are whole numbers or nanoseconds, so no value is NaN, and no
 * value depends on the locale.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/macro.h"

enum { EXPOSITION_NAME_MAX = 96, EXPOSITION_COMMENT_MAX = 1024 };

struct exposition_family {
	const char *name; /* "uncore_sweeps_total" */
	const char *type; /* "counter", "gauge" */
	const char *help; /* a sentence */
};

struct exposition {
	FILE *out;
	struct exposition_family family; /* its strings are the caller's */
	bool headed;                     /* HELP and TYPE are written */
	unsigned n_labels;               /* of the series that is begun */
};

/* "uncore_" @metric "_" @suffix; a character that is not allowed in a name becomes "_". */
void exposition_name(const char *metric, const char *suffix, char ret_name[EXPOSITION_NAME_MAX]);

/* Begins a family: the next series belong to it. */
void exposition_family(struct exposition *exposition, const struct exposition_family *family);

/* A series: exposition_begin(), its labels, and one of the values. */
void exposition_begin(struct exposition *exposition);
void exposition_label(struct exposition *exposition, const char *name, const char *value);
void exposition_number(struct exposition *exposition, const char *name, uint32_t value);
void exposition_count(struct exposition *exposition, uint64_t count);
/* @count billionths: nanoseconds as seconds, nanojoules as joules. */
void exposition_nano(struct exposition *exposition, uint64_t count);

/* A line for people, between two series. It stays one line, whatever is in it. */
_printf_(2, 3) void exposition_comment(FILE *out, const char *format, ...);
