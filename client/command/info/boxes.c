/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket has up to a hundred boxes, and only one number in their names differs. A box's kind is a
 * text: its name without that number, its CPU and its events. Boxes of the same kind share a line.
 */
#include "client/command/info/info.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"

struct box_line {
	const char *name;
	int number_at, number_length; /* the last run of digits in the name; length 0: none */
	char *kind;
};

static void find_number(struct box_line *box)
{
	int at = (int)strlen(box->name);
	int end;

	while (at > 0 && !isdigit((unsigned char)box->name[at - 1]))
		at--;
	if (!at) /* no number: all of the name comes before it */
		at = (int)strlen(box->name);
	end = at;
	while (at > 0 && isdigit((unsigned char)box->name[at - 1]))
		at--;
	box->number_at = at;
	box->number_length = end - at;
}

static uint64_t boxes_number_of(const struct box_line *box)
{
	return strtoull(box->name + box->number_at, NULL, 10);
}

/* "0xf04", then "/0x3" for a further word of the encoding that is not 0. */
static void write_codes(FILE *out, const struct json_value *event)
{
	static const char *const further[] = { "config1", "config2" };

	fputs(json_text(event, "config", "?"), out);
	for (size_t i = 0; i < ARRAY_SIZE(further); i++) {
		const char *code = json_text(event, further[i], "0x0");

		if (strtoull(code, NULL, 0))
			fprintf(out, "/%s", code);
	}
}

/* Returns how many were written: those of @metric, with their names, or all if it is NULL. */
static size_t write_events(FILE *out, const struct json_value *events, const char *metric)
{
	size_t n = 0;

	JSON_EACH (events, event) {
		if (metric && strcmp(json_text(event, "metric", ""), metric) != 0)
			continue;
		fprintf(out, "%s%s%s ", n++ ? ", " : "", json_flag(event, "subtract") ? "-" : "",
			json_text(event, "metric", "?"));
		write_codes(out, event);
		if (metric)
			fprintf(out, " (%s)", json_text(event, "via", "?"));
	}
	return n;
}

/* False: the box has no event of @metric, or there is no memory. */
static bool boxes_describe(
	const struct json_value *object, const char *metric, struct box_line *ret)
{
	struct box_line box = { .name = json_text(object, "pmu", "?") };
	const char *mode = json_text(object, "mode", "pinned");
	size_t size_bytes, n;
	FILE *out = open_memstream(&box.kind, &size_bytes);

	if (!out)
		return false;
	find_number(&box);
	fprintf(out, "%s on CPU %" PRIu64, box.name + box.number_at + box.number_length,
		json_number(object, "cpu"));
	if (strcmp(mode, "pinned") != 0) /* pinned is the normal case */
		fprintf(out, " (%s)", mode);
	fprintf(out, ": ");
	n = write_events(out, json_list(object, "events"), metric);
	fclose(out);
	if (n || !metric)
		*ret = box;
	else
		free(box.kind);
	return n || !metric;
}

static bool same_kind(const struct box_line *a, const struct box_line *b)
{
	return a->number_length && b->number_length && a->number_at == b->number_at &&
	       strncmp(a->name, b->name, (size_t)a->number_at) == 0 &&
	       strcmp(a->kind, b->kind) == 0;
}

/* Prints it as the kernel writes it, with leading zeros. */
static void print_number(const char *before, const struct box_line *box)
{
	printf("%s%.*s", before, box->number_length, box->name + box->number_at);
}

/* "0..3,5": the numbers of all boxes like @boxes[first], in their order. */
static void print_numbers(const struct box_line boxes[], size_t first, size_t n)
{
	const struct box_line *from = &boxes[first], *to = from;

	print_number("", from);
	for (size_t i = first + 1; i <= n; i++) {
		const struct box_line *next = &boxes[i];

		if (i < n && !same_kind(&boxes[first], next))
			continue;
		if (i < n && boxes_number_of(next) == boxes_number_of(to) + 1) {
			to = next;
			continue;
		}
		if (to != from)
			print_number("..", to);
		if (i < n)
			print_number(",", next);
		from = to = next;
	}
}

static void boxes_print_kind(const struct box_line boxes[], size_t first, size_t n, uint64_t socket)
{
	for (size_t i = 0; i < first; i++)
		if (same_kind(&boxes[i], &boxes[first]))
			return;
	printf("  socket %" PRIu64 ": %.*s", socket, boxes[first].number_at, boxes[first].name);
	if (boxes[first].number_length)
		print_numbers(boxes, first, n);
	printf("%s\n", boxes[first].kind);
}

void boxes_print(const struct json_value *list, uint64_t socket, const char *metric)
{
	_cleanup_free_ struct box_line *boxes = calloc(json_length(list) + 1, sizeof *boxes);
	size_t n = 0;

	if (!boxes)
		return;
	JSON_EACH (list, box)
		n += boxes_describe(box, metric, &boxes[n]);
	for (size_t i = 0; i < n; i++)
		boxes_print_kind(boxes, i, n, socket);
	for (size_t i = 0; i < n; i++)
		free(boxes[i].kind);
	if (!n && !metric)
		printf("  socket %" PRIu64 ": none\n", socket);
}
