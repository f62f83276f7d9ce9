/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/markers/lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/command/markers/program.h"
#include "common/elf-file.h"
#include "common/macro.h"

/* A title in pieces. */
struct place {
	char path[PATH_MAX], id[65];
	unsigned long offset;
};

static bool take_apart(const char *title, struct place *ret)
{
	const char *plus = strrchr(title, '+');

	if (!plus || plus == title || (size_t)(plus - title) >= sizeof ret->path ||
		sscanf(plus, "+0x%lx build-id %64[0-9a-f]", &ret->offset, ret->id) != 2)
		return false;
	snprintf(ret->path, sizeof ret->path, "%.*s", (int)(plus - title), title);
	return true;
}

/* A program of another user may be made to harm who reads it. */
static bool is_trusted(const char *path)
{
	struct stat status;

	return *path == '/' && stat(path, &status) == 0 && !(status.st_mode & 0022) &&
	       (status.st_uid == 0 || status.st_uid == geteuid());
}

static bool lines_is_same(const struct place *place)
{
	struct elf_file file;
	bool is_same;

	if (!is_trusted(place->path) || elf_file_open(place->path, &file) < 0)
		return false;
	is_same = elf_file_has_build_id(&file, place->id);
	elf_file_done(&file);
	return is_same;
}

/* The last line that addr2line prints; "??:0" if it knows none. */
static void lines_keep(char *line, void *argument)
{
	char *kept = argument;

	line[strcspn(line, " \n")] = '\0';
	if (!strchr(line, '?'))
		snprintf(kept, PATH_MAX, "%s", line);
}

/* The place is where the call returns to, so the call is before it. NULL: not known. */
static char *line_of(const char *title)
{
	char offset[32], line[PATH_MAX] = "", *found;
	struct place place;

	if (!take_apart(title, &place) || !lines_is_same(&place))
		return NULL;
	snprintf(offset, sizeof offset, "%#lx", place.offset - 1);
	program_each_line((char *[]){ (char *)"addr2line", (char *)"-e", place.path, offset, NULL },
		lines_keep, line);
	if (!*line || asprintf(&found, "%s (%s+%#lx)", line, place.path, place.offset) < 0)
		return NULL;
	return found;
}

/* The nodes of a job have the same places. So what was found for a title is kept. */
const char *lines_of_place(const char *title)
{
	static struct {
		char *title, *line;
	} known[256];
	size_t i = 0;

	while (i < ARRAY_SIZE(known) && known[i].title && strcmp(known[i].title, title) != 0)
		i++;
	if (i == ARRAY_SIZE(known))
		return NULL;
	if (!known[i].title) {
		known[i].title = strdup(title);
		known[i].line = known[i].title ? line_of(title) : NULL;
	}
	return known[i].line;
}

static void lines_find_one(struct record_region *region)
{
	const char *line = region->title ? lines_of_place(region->title) : NULL;
	char *title = line ? strdup(line) : NULL;

	if (!title)
		return;
	free(region->title);
	region->title = title;
}

void lines_find(struct record *record)
{
	for (uint32_t i = 0; i < record->n_regions; i++)
		lines_find_one(&record->regions[i]);
}
