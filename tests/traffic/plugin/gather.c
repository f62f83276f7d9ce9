/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/gather.h"

#include <stddef.h>
#include <string.h>

void gather_init(struct gather *gather)
{
	for (unsigned i = 0; i < GATHER_BUFFERS; i++)
		gather->lines[i] = (struct gather_line){ .number = GATHER_NONE };
}

/* Free buffers are behind those in use. */
static struct gather_line *to_front(struct gather *gather, struct gather_line *line)
{
	struct gather_line moved = *line;

	memmove(gather->lines + 1, gather->lines, (size_t)(line - gather->lines) * sizeof *line);
	gather->lines[0] = moved;
	return gather->lines;
}

struct gather_line *gather_find(struct gather *gather, uint64_t number)
{
	unsigned i = 0;

	while (gather->lines[i].number != number)
		if (gather->lines[i].number == GATHER_NONE || ++i == GATHER_BUFFERS)
			return NULL;
	return to_front(gather, &gather->lines[i]);
}

struct gather_line gather_add(struct gather *gather, uint64_t number, unsigned kind)
{
	struct gather_line *line = &gather->lines[GATHER_BUFFERS - 1], out = *line;

	*to_front(gather, line) = (struct gather_line){ .number = number, .kind = kind };
	return out;
}

struct gather_line gather_remove(struct gather *gather, struct gather_line *line)
{
	struct gather_line *last = &gather->lines[GATHER_BUFFERS - 1], out = *line;

	memmove(line, line + 1, (size_t)(last - line) * sizeof *line);
	*last = (struct gather_line){ .number = GATHER_NONE };
	return out;
}
