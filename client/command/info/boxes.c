/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket has up to a hundred boxes, and only one number in their names differs. A box's kind is a
 * text: its name without that number, its CPU and its events. Boxes of the same kind share a line.
 */
#include "client/command/info/boxes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/records/json.h"
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

static uint64_t number_of(const struct box_line *box)
{
	return strtoull(box->name + box->number_at, NULL, 10);
}

/* "0xf04", then "/0x3" for a further word of the encoding that is not 0. */
static void write_codes(FILE *out, struct json_object *event)
{
	static const char *const further[] = { "config1", "config2" };

	fputs(json_text(event, "config", "?"), out);
	for (size_t i = 0; i < ARRAY_SIZE(further); i++) {
		const char *code = json_text(event, further[i], "0x0");

		if (strtoull(code, NULL, 0))
			fprintf(out, "/%s", code);
	}
}

static void write_events(FILE *out, struct json_object *events, bool with_names)
{
	for (size_t i = 0; i < json_length(events); i++) {
		struct json_object *event = json_object_array_get_idx(events, i);

		fprintf(out, "%s%s%s ", i ? ", " : "", json_flag(event, "subtract") ? "-" : "",
			json_text(event, "metric", "?"));
		write_codes(out, event);
		if (with_names)
			fprintf(out, " (%s)", json_text(event, "via", "?"));
	}
}

static int describe(struct json_object *object, bool with_names, struct box_line *ret)
{
	struct box_line box = { .name = json_text(object, "pmu", "?") };
	const char *mode = json_text(object, "mode", "pinned");
	size_t size_bytes;
	FILE *out = open_memstream(&box.kind, &size_bytes);

	if (!out)
		return -1;
	find_number(&box);
	fprintf(out, "%s on CPU %" PRIu64, box.name + box.number_at + box.number_length,
		json_number(object, "cpu"));
	if (strcmp(mode, "pinned") != 0) /* pinned is the normal case */
		fprintf(out, " (%s)", mode);
	fprintf(out, ": ");
	write_events(out, json_list(object, "events"), with_names);
	fclose(out);
	*ret = box;
	return 0;
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
		if (i < n && number_of(next) == number_of(to) + 1) {
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

static void print_kind(const struct box_line boxes[], size_t first, size_t n, uint64_t socket)
{
	for (size_t i = 0; i < first; i++)
		if (same_kind(&boxes[i], &boxes[first]))
			return;
	printf("  socket %" PRIu64 ": %.*s", socket, boxes[first].number_at, boxes[first].name);
	if (boxes[first].number_length)
		print_numbers(boxes, first, n);
	printf("%s\n", boxes[first].kind);
}

static void print_all(struct json_object *list, uint64_t socket, bool with_names)
{
	size_t n = json_length(list);
	_cleanup_free_ struct box_line *boxes = calloc(n + 1, sizeof *boxes);
	size_t n_described = 0;

	while (boxes && n_described < n &&
		describe(json_object_array_get_idx(list, n_described), with_names,
			&boxes[n_described]) == 0)
		n_described++;
	for (size_t i = 0; i < n_described; i++)
		print_kind(boxes, i, n_described, socket);
	for (size_t i = 0; i < n_described; i++)
		free(boxes[i].kind);
	if (!n)
		printf("  socket %" PRIu64 ": none\n", socket);
}

void boxes_print(struct json_object *list, uint64_t socket)
{
	print_all(list, socket, false);
}

void boxes_print_with_names(struct json_object *list, uint64_t socket)
{
	print_all(list, socket, true);
}
