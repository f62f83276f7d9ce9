/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/ratio/pairs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/read.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"

/*
 * A subject has the figures that are compared: an output of stat, or a region of a report. Its
 * members are all sockets together, or each socket.
 */
static const struct json_value *next_member(
	const struct json_value *subject, const struct json_value *member)
{
	if (json_has(subject, "all_sockets"))
		return member ? NULL : json_member(subject, "all_sockets");
	return json_next(json_list(subject, "sockets"), member);
}

static const struct json_value *metrics_of(const struct json_value *subject)
{
	return json_member(next_member(subject, NULL), "metrics");
}

static double number(const struct json_value *object)
{
	return json_real(object, json_has(object, "bytes") ? "bytes" : "value");
}

static double pairs_sum_of(const struct json_value *subject, const char *name)
{
	double sum = 0;

	for (const struct json_value *member = NULL; (member = next_member(subject, member));)
		sum += number(json_member(json_member(member, "metrics"), name));
	return sum;
}

/* The error bound as a share: of a region, what its report says; or the largest one of a socket's
 * window. */
static double bound_of(const struct json_value *subject, const char *name)
{
	const struct json_value *derived = json_member(json_member(subject, "derived"), "metrics");
	const struct json_value *total = json_member(json_member(derived, name), "total");
	const struct json_value *sockets = json_list(subject, "sockets");
	double bound = 0;

	if (json_has(total, "error"))
		return json_real(total, "error") / json_real(total, "value");
	JSON_EACH (sockets, socket)
		bound = fmax(bound, (double)json_number(socket, "skew_ns") /
					    (double)json_number(socket, "window_ns"));
	return bound;
}

/* Adds the runs of @subject. */
static bool take_side(const struct json_value *subject, const char *name, struct compare_side *ret)
{
	const struct json_value *metric = json_member(metrics_of(subject), name);
	const struct json_value *each =
		json_list(metric, json_has(metric, "bytes_each") ? "bytes_each" : "value_each");
	const size_t n = ret->n + (each ? json_length(each) : 1);
	double *runs =
		n <= COMPARE_RUNS_MAX ? reallocarray(ret->runs, n + 1, sizeof *ret->runs) : NULL;
	bool are_positive = n > 0;

	if (!runs)
		return false;
	ret->runs = runs;
	ret->bound = fmax(ret->bound, bound_of(subject, name));
	JSON_EACH (each, run)
		ret->runs[ret->n++] = json_double(run);
	if (!each)
		ret->runs[ret->n++] = pairs_sum_of(subject, name);
	for (size_t i = 0; i < n; i++)
		are_positive &= ret->runs[i] > 0;
	return are_positive;
}

/* Why the metric of two members cannot be compared; NULL: it can. */
static const char *find_obstacle(
	const struct json_value *a, const struct json_value *b, const char *name)
{
	const struct json_value *x = json_member(json_member(a, "metrics"), name);
	const struct json_value *y = json_member(json_member(b, "metrics"), name);

	if (!a || !b)
		return "not in both";
	if (!x || !y || json_has(x, "absent") || json_has(y, "absent"))
		return "absent in one of them";
	if (!json_is_equal(json_member(x, "unit"), json_member(y, "unit")))
		return "other units";
	return json_is_equal(json_member(x, "quality"), json_member(y, "quality"))
		       ? NULL
		       : "other quality";
}

/* The same for all members of two subjects. */
static const char *find_obstacles(
	const struct json_value *a, const struct json_value *b, const char *name)
{
	const struct json_value *x = next_member(a, NULL), *y = next_member(b, NULL);
	const char *why;

	do {
		why = find_obstacle(x, y, name);
		x = next_member(a, x);
		y = y ? next_member(b, y) : NULL;
	} while (!why && (x || y));
	return why;
}

static const char *take_pair(
	const struct json_value *a, const struct json_value *b, struct compare_pair *pair)
{
	const char *why = find_obstacles(a, b, pair->name);

	if (why)
		return why;
	/* The mean of no counts but 0 is 0. */
	pair->both_zero = pairs_sum_of(a, pair->name) <= 0 && pairs_sum_of(b, pair->name) <= 0;
	if (pair->both_zero)
		return "both are 0";
	if (!take_side(a, pair->name, &pair->a) || !take_side(b, pair->name, &pair->b))
		return "a count of 0";
	return NULL;
}

static void take_pairs(const struct json_value *a, const struct json_value *b, const char *region,
	struct compare *ret)
{
	const struct json_value *metrics = metrics_of(a);

	JSON_EACH (metrics, key) {
		const char *name = key->at;
		const struct json_value *other = json_member(metrics_of(b), name);
		bool is_nowhere =
			json_has(key + 1, "absent") && (!other || json_has(other, "absent"));
		struct compare_pair *pair = &ret->pairs[ret->n];

		if (ret->n == COMPARE_METRICS_MAX || is_nowhere || format_is_check(name))
			continue;
		*pair = (struct compare_pair){ .name = name, .region = region };
		pair->why = take_pair(a, b, pair);
		ret->n++;
	}
}

/* A report of one node, or the sum of several. */
static const struct json_value *regions_of(const struct json_value *document)
{
	const struct json_value *total = json_member(document, "total");

	return json_list(total ? total : document, "regions");
}

static const struct json_value *pairs_find_region(
	const struct json_value *document, const char *name)
{
	const struct json_value *regions = regions_of(document);

	JSON_EACH (regions, region)
		if (strcmp(json_text(region, "name", ""), name) == 0)
			return region;
	return NULL;
}

/* Adds a run, which must be like the @first. */
static void pairs_add_run(struct compare_pair *pair, struct compare_side *side,
	const struct json_value *first, const struct json_value *run)
{
	if (pair->both_zero && pairs_sum_of(run, pair->name) > 0)
		*pair = (struct compare_pair){
			.name = pair->name, .region = pair->region, .why = "a count of 0"
		};
	if (!pair->why)
		pair->why = find_obstacles(first, run, pair->name);
	if (!pair->why && !take_side(run, pair->name, side))
		pair->why = "a count of 0";
}

/* A report of several runs has the region once for each of them. */
static void add_runs(const struct json_value *first, const struct json_value *document, bool is_a,
	struct compare_pair pairs[], size_t n)
{
	const struct json_value *regions = regions_of(document);
	const char *name = json_text(first, "name", "");
	bool is_first = true;

	JSON_EACH (regions, region) {
		if (strcmp(json_text(region, "name", ""), name) != 0)
			continue;
		for (size_t i = 0; i < n && !is_first; i++)
			pairs_add_run(&pairs[i], is_a ? &pairs[i].a : &pairs[i].b, first, region);
		is_first = false;
	}
}

static void pairs_take_region(const struct json_value *a, const struct json_value *b,
	const struct json_value *region, struct compare *ret)
{
	const char *name = json_text(region, "name", "");
	const size_t begin = ret->n;

	take_pairs(region, pairs_find_region(b, name), name, ret);
	add_runs(region, a, true, &ret->pairs[begin], ret->n - begin);
	add_runs(region, b, false, &ret->pairs[begin], ret->n - begin);
}

void pairs_take(const struct json_value *a, const struct json_value *b, struct compare *ret)
{
	const struct json_value *regions = regions_of(a);

	if (!regions)
		take_pairs(a, b, NULL, ret);
	JSON_EACH (regions, region)
		if (pairs_find_region(a, json_text(region, "name", "")) == region)
			pairs_take_region(a, b, region, ret);
	if (!json_is_equal(json_member(a, "platform"), json_member(b, "platform")))
		for (size_t i = 0; i < ret->n; i++)
			ret->pairs[i].why = "another platform";
}

void pairs_add(struct compare *all, const struct json_value *a, const struct json_value *more)
{
	for (size_t i = 0; i < all->n; i++)
		pairs_add_run(&all->pairs[i], &all->pairs[i].b, a, more);
}

void pairs_done(struct compare *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->pairs[i].a.runs);
		free(all->pairs[i].b.runs);
	}
}

const struct json_value *pairs_read(const char *command, char *path, struct json_document *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct json_value *document;
	char *text = NULL;

	if (fd < 0) {
		fprintf(stderr, "%s: %s cannot be read: %s.\n", command, path, strerror(errno));
		return NULL;
	}
	record_read_fd(fd, RECORD_FILE_MOST_BYTES, &text);
	document = json_document_take(ret, text);
	text_make_plain(path);
	if ((metrics_of(document) && !json_has(document, "interval")) || regions_of(document))
		return document;
	fprintf(stderr,
		"%s: %s is not an output of `uncore stat --json` without -I, or of `uncore report "
		"--json`, that has figures.\n",
		command, path);
	return NULL;
}
