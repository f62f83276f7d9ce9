/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any folder of a PMU: it is listed, with or without a sentence on its fault; an event is encoded,
 * or refused with a sentence. No bit of an encoding lies outside the fields of format/.
 *
 * The input is a list of files, each a line "@PATH" and then its content; "@name" is the PMU's
 * name, "@bytes" or "@scale" what the platform file says of a count, "@sysfs" and "@raw" are
 * alternatives.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/machine/pmu.h"
#include "daemon/plan/event.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

#define DEVICES "sys/bus/event_source/devices"

enum { FILES_MAX = 32, WORDS = 3 };

struct case_of {
	char pmu[256];
	struct event_choices choices;
	struct worth worth;
	unsigned n_files;
	uint64_t covered[WORDS]; /* by format/, as this target reads it */
};

static int root_fd = -1;

/* --- writing the tree --- */

static void make_root(void)
{
	char path[] = DEVICES;

	if (root_fd >= 0)
		return;
	root_fd = open(scratch_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(root_fd, path, 0700);
		*slash = '/';
	}
	if (mkdirat(root_fd, path, 0700) < 0)
		err(1, "Cannot make %s", path);
}

static void empty_folder(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0) {
			empty_folder(fd, entry->d_name);
			unlinkat(fd, entry->d_name, AT_REMOVEDIR);
		}
	}
	if (directory)
		closedir(directory);
}

static bool is_name(const char *name)
{
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/') &&
	       strlen(name) < 256;
}

/* Only the files that a PMU may have, so that no input writes elsewhere. */
static bool is_path(const char *path)
{
	if (strncmp(path, "format/", 7) == 0 || strncmp(path, "events/", 7) == 0)
		return is_name(path + 7);
	return strcmp(path, "type") == 0 || strcmp(path, "cpumask") == 0 ||
	       strcmp(path, "cpus") == 0;
}

/* Covers generously: all bits that any reading of the text could cover. */
static void cover(struct case_of *c, const char *text, size_t size_bytes)
{
	char copy[512];
	unsigned word, first, last;
	char *at;

	snprintf(copy, sizeof copy, "%.*s", (int)size_bytes, text);
	at = strchr(copy, ':');
	if (!at || strncmp(copy, "config", 6) != 0)
		return;
	word = copy[6] == ':' ? 0 : (unsigned)copy[6] - '0';
	for (at++; word < WORDS && *at; at += *at != '\0') {
		first = last = (unsigned)strtoul(at, &at, 10);
		if (*at == '-')
			last = (unsigned)strtoul(at + 1, &at, 10);
		for (unsigned bit = first; bit <= last && bit < 64; bit++)
			c->covered[word] |= 1ULL << bit;
	}
}

static void write_file(struct case_of *c, const char *name, const char *text, size_t size_bytes)
{
	char path[1024];
	int fd;

	if (!c->pmu[0] || c->n_files == FILES_MAX)
		return;
	snprintf(path, sizeof path, DEVICES "/%s/%s", c->pmu, name);
	fd = openat(root_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	c->n_files++;
	if (write(fd, text, size_bytes) != (ssize_t)size_bytes)
		err(1, "Cannot write %s", path);
	close(fd);
	if (strncmp(name, "format/", 7) == 0)
		cover(c, text, size_bytes);
}

static void name_pmu(struct case_of *c, const char *name)
{
	char path[1024];

	if (c->pmu[0] || !is_name(name))
		return;
	strcpy(c->pmu, name);
	snprintf(path, sizeof path, DEVICES "/%s", name);
	if (mkdirat(root_fd, path, 0700) < 0)
		err(1, "Cannot make %s", path);
	snprintf(path, sizeof path, DEVICES "/%s/format", name);
	mkdirat(root_fd, path, 0700);
	snprintf(path, sizeof path, DEVICES "/%s/events", name);
	mkdirat(root_fd, path, 0700);
}

static void add_choice(struct case_of *c, enum event_kind kind, const char *text)
{
	struct event_choice *choice = &c->choices.choice[c->choices.n];

	if (c->choices.n == PLATFORM_CHOICES_MAX)
		return;
	c->choices.n++;
	choice->kind = kind;
	snprintf(choice->text, sizeof choice->text, "%.95s", text);
}

/* One file: @name ends at its NUL, @text is a line or more. */
static void take_part(struct case_of *c, const char *name, const char *text, size_t size_bytes)
{
	char line[512];

	snprintf(line, sizeof line, "%.*s", (int)size_bytes, text);
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(name, "name") == 0)
		name_pmu(c, line);
	else if (strcmp(name, "bytes") == 0)
		c->worth = (struct worth){ { (uint32_t)strtoul(line, NULL, 10), 1 }, "bytes" };
	else if (strcmp(name, "scale") == 0 && scale_parse(line, &c->worth.scale) == 0)
		c->worth.unit = "nJ";
	else if (strcmp(name, "sysfs") == 0)
		add_choice(c, EVENT_SYSFS, line);
	else if (strcmp(name, "raw") == 0)
		add_choice(c, EVENT_RAW, line);
	else if (is_path(name))
		write_file(c, name, text, size_bytes);
}

static void take_all(struct case_of *c, const char *data, size_t size_bytes)
{
	const char *end = data + size_bytes;

	while (data < end && *data == '@') {
		const char *line_end = memchr(data, '\n', (size_t)(end - data));
		const char *text = line_end ? line_end + 1 : end;
		const char *next = text;
		char name[300];

		while (next < end && !(*next == '@' && next[-1] == '\n'))
			next++;
		snprintf(name, sizeof name, "%.*s", (int)((line_end ? line_end : end) - data - 1),
			data + 1);
		take_part(c, name, text, (size_t)(next - text));
		data = next;
	}
}

/* --- reading it --- */

static void check_code(const struct case_of *c, const struct event_code *code)
{
	if (code->config & ~c->covered[0] || code->config1 & ~c->covered[1] ||
		code->config2 & ~c->covered[2] || !code->via[0])
		abort();
}

static void check_pmu(const struct case_of *c, const struct pmu *pmu)
{
	struct event_code code = { 0 };
	char why[PAGE_TEXT_MAX] = "";
	int r;

	if (!pmu->why[0] && (!pmu->cpumask || hwloc_bitmap_iszero(pmu->cpumask)))
		abort();
	if (pmu->directory_fd < 0)
		return;
	r = event_encode(pmu, &c->choices, c->worth.scale.n ? &c->worth : NULL, &code, why);
	if (r == 0)
		check_code(c, &code);
	else if ((r != -ENOENT && r != -EDOM) || !why[0])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct case_of c = { 0 };
	struct pmu_list list = { 0 };

	make_root();
	empty_folder(root_fd, DEVICES);
	take_all(&c, (const char *)data, size_bytes);
	if (pmu_list_load(root_fd, &list) < 0)
		abort();
	if (list.n != (c.pmu[0] && c.pmu[0] != '.'))
		abort();
	for (unsigned i = 0; i < list.n; i++)
		check_pmu(&c, &list.pmus[i]);
	pmu_list_done(&list);
	return 0;
}
