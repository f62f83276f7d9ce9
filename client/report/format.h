/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats measured figures as text and as JSON, for the report of regions and `uncore stat`.
 * Nothing here reads counters or adds figures.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/libuncore/uncore.h"

struct jsonwriter;
struct record_value;

enum {
	FORMAT_COUNT_MAX = 27,
	FORMAT_GENERATION_MAX = 33,
	FORMAT_QUALITY_MAX = 128,
	FORMAT_NOTE_MAX = 96,
	FORMAT_VALUES_MAX = UNCORE_METRICS_MAX + 3 /* and a total for each tier */
};

struct format_value {
	const char *name;
	const char *unit; /* "bytes", "ns" */
	const char *why;  /* if quality says absent */
	uint64_t count;
	double rate;               /* per ns; 0: the window is empty */
	double deviation;          /* standard deviation of the count */
	uint64_t median, min, max; /* of the counts of several runs */
	const uint64_t *each;      /* ... and these counts, .each_stride apart */
	size_t each_stride;
	uint32_t n_each;
	/* What the socket did without the command: its rate, and the count less that background.
	 * The error holds 95 %. */
	bool has_idle, has_net;
	double idle_rate, net, net_error;
	uint32_t quality;
	const struct record_value *share; /* of a region; NULL: none */
};

struct format_socket {
	const char *part; /* "imc0": a part of the socket; NULL: all of it */
	uint32_t socket;  /* FORMAT_ALL_SOCKETS: the sum of all, without a common window */
	int64_t package;  /* the kernel's number of it; -1: not known */
	uint32_t n_values;
	unsigned name_width; /* in text; of the longest name that a table may have */
	uint64_t window_ns;
	uint64_t skew_ns;
	bool repeated;              /* deviations are valid */
	bool ranged;                /* medians, minima and maxima are valid */
	char note[FORMAT_NOTE_MAX]; /* a line below the figures; "": none */
	struct format_value values[FORMAT_VALUES_MAX];
};

#define FORMAT_ALL_SOCKETS UINT32_MAX

/* "18,446,744,073,709,551,615" */
void format_count(uint64_t count, char ret_text[FORMAT_COUNT_MAX]);

/* 32 hexadecimal digits */
void format_generation(const uint64_t generation[2], char ret_text[FORMAT_GENERATION_MAX]);

/* A sentence on what the platform counts, if it does not count memory traffic of this machine.
 * NULL: it does. */
const char *format_warning(const char *platform);

/* Prints this sentence and other caveats on such figures; nothing if the platform counts memory
 * traffic. */
void format_warnings(FILE *out, const char *platform);

/* Prints caveats on the figures; @who is "this command" or the like. */
void format_caveats(FILE *out, const char *platform, const char *who);

/* Is @metric a check ("check.dram.read" counts the same as dram.read)? Checks are in no table. */
bool format_is_check(const char *metric);

/* NULL: there is no such value. */
const struct format_value *format_find(const struct format_socket *socket, const char *name);

/* The same for @what ("read") of a tier ("dram"). */
const struct format_value *format_find_of(
	const struct format_socket *socket, const char *tier, const char *what);

double format_rate(uint64_t count, uint64_t window_ns);

/* Completes a line that the caller has begun: value @i with name, count, unit, GB/s, quality. */
void format_row(FILE *out, const struct format_socket *socket, uint32_t i);

/* Prints the error bound, "+- 0.02 %", with so many digits. The window must not be empty. */
void format_bound(FILE *out, const struct format_socket *socket, int digits);

/* Prints a socket's rows, window, error bound, and reasons that the rows @above (or NULL) lack. */
void format_rows(FILE *out, const struct format_socket *socket, const struct format_socket *above);

/* Prints a line for each reason why values are absent, with all metrics that share it, unless
 * @above gave it. */
void format_absent(
	FILE *out, const struct format_socket *socket, const struct format_socket *above);

/* An element {"socket":0,"metrics":{..},"window_ns":..,"skew_ns":..}. */
void format_json(struct jsonwriter *json, const struct format_socket *socket);

/* The members of such an element, in an open object. */
void format_json_members(struct jsonwriter *json, const struct format_socket *socket);

/* The member "metrics" of such an element. */
void format_json_metrics(
	struct jsonwriter *json, const char *key, const struct format_socket *socket);

/* The members "platform" and "generation", which begin every document. @platform NULL: both are
 * null. */
void format_json_origin(
	struct jsonwriter *json, const char *platform, const uint64_t generation[2]);
