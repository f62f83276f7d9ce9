/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc/cpuinfo differs by architecture: x86 has "vendor_id", "cpu family", "model" (and "model
 * name", which is another line), POWER has "cpu", Arm has "CPU implementer" and "CPU part". Labels
 * are compared whole, and only up to the first empty line: behind the processors POWER writes a
 * "model" of its own, the name of the box.
 */
#include "daemon/machine.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <hwloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

static bool same_text(const char *want, const char *have)
{
	return !strcmp(want, have);
}

static bool glob_matches(const char *want, const char *have)
{
	return !fnmatch(want, have, 0);
}

/* Leading zeros are decimal here, as in proc/cpuinfo; base 0 would make them octal. */
static bool read_number(const char **text, unsigned long *ret)
{
	int base = !strncmp(*text, "0x", 2) ? 16 : 10;
	const char *digits = *text + (base == 16 ? 2 : 0);
	char *end;

	if (!isxdigit((unsigned char)*digits))
		return false;
	errno = 0;
	*ret = strtoul(digits, &end, base);
	if (errno || end == digits)
		return false;
	*text = end;
	return true;
}

/* Takes one "6" or "0-4" and the blanks behind it off @list. */
static bool read_range(const char **list, unsigned long *ret_low, unsigned long *ret_high)
{
	if (!read_number(list, ret_low))
		return false;
	*ret_high = *ret_low;
	if (**list == '-') {
		++*list;
		if (!read_number(list, ret_high) || *ret_high < *ret_low)
			return false;
	}
	if (**list && **list != ' ' && **list != '\t')
		return false;
	*list += strspn(*list, " \t");
	return true;
}

bool machine_is_list(const char *list)
{
	unsigned long low, high;

	do {
		if (!read_range(&list, &low, &high))
			return false;
	} while (*list);
	return true;
}

static bool list_has(const char *list, const char *have)
{
	unsigned long number, low, high;

	if (!read_number(&have, &number) || *have)
		return false;
	while (*list && read_range(&list, &low, &high))
		if (number >= low && number <= high)
			return true;
	return false;
}

static const struct fact {
	const char *label; /* in proc/cpuinfo */
	const char *name;  /* in platform files */
	bool (*matches)(const char *want, const char *have);
} facts[MACHINE_N_FACTS] = {
	[MACHINE_VENDOR] = { "vendor_id", "vendor", same_text },
	[MACHINE_FAMILY] = { "cpu family", "family", list_has },
	[MACHINE_MODEL] = { "model", "model", list_has },
	[MACHINE_STEPPING] = { "stepping", "stepping", list_has },
	[MACHINE_CPU] = { "cpu", "cpu", glob_matches },
	[MACHINE_IMPLEMENTER] = { "CPU implementer", "implementer", list_has },
	[MACHINE_PART] = { "CPU part", "part", list_has },
};

bool machine_matches(const struct machine *machine, const struct machine_pattern *pattern)
{
	for (int i = 0; i < MACHINE_N_FACTS; i++) {
		const char *want = pattern->facts[i], *have = machine->facts[i];

		if (*want && (!*have || !facts[i].matches(want, have)))
			return false;
	}
	return !pattern->asks_memory_only_node ||
	       pattern->memory_only_node == machine->memory_only_node;
}

void machine_describe(const struct machine *machine, char *ret_text, size_t size_bytes)
{
	size_t length = 0;

	*ret_text = '\0';
	for (int i = 0; i < MACHINE_N_FACTS; i++)
		if (*machine->facts[i] && length < size_bytes)
			length += snprintf(ret_text + length, size_bytes - length, "%s%s %s",
				length ? ", " : "", facts[i].name, machine->facts[i]);
	if (!length)
		snprintf(ret_text, size_bytes, "proc/cpuinfo names no CPU");
}

/* --- reading --- */

static FILE *open_at(int root_fd, const char *path)
{
	_cleanup_close_ int fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
	FILE *file;

	if (fd < 0)
		return NULL;
	file = fdopen(fd, "r");
	if (file)
		take_fd(&fd);
	return file;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *c = strstr(words, word); c; c = strstr(c + 1, word))
		if ((c == words || c[-1] == ' ') && (!c[length] || c[length] == ' '))
			return true;
	return false;
}

static void take_line(struct machine *machine, const char *label, const char *value)
{
	for (int i = 0; i < MACHINE_N_FACTS; i++)
		if (!strcmp(facts[i].label, label))
			snprintf(machine->facts[i], sizeof machine->facts[i], "%s", value);
	if (!strcmp(label, "flags"))
		machine->is_guest = has_word(value, "hypervisor");
}

static int read_cpuinfo(int root_fd, struct machine *machine, struct fault *fault)
{
	_cleanup_file_ FILE *file = open_at(root_fd, "proc/cpuinfo");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (!file)
		return fault_set(fault, -errno, "Cannot open proc/cpuinfo: %m.");
	errno = 0;
	while (getline(&line, &size, file) >= 0) {
		char *value = strchr(line, ':');

		if (!*trim(line))
			break; /* the end of the first processor */
		if (!value)
			continue;
		*value++ = '\0';
		value = trim(value);
		take_line(machine, trim(line), value);
	}
	if (ferror(file))
		return fault_set(fault, errno ? -errno : -EIO, "Cannot read proc/cpuinfo: %m.");
	return 0;
}

/* Reads a list of NUMA nodes, "0-1,4"; empty where the kernel has no such file. */
static void read_nodes(int root_fd, const char *path, hwloc_bitmap_t ret)
{
	_cleanup_file_ FILE *file = open_at(root_fd, path);
	char line[256];

	hwloc_bitmap_zero(ret);
	if (file && fgets(line, sizeof line, file) && hwloc_bitmap_list_sscanf(ret, trim(line)) < 0)
		hwloc_bitmap_zero(ret);
}

static bool has_memory_only_node(int root_fd)
{
	hwloc_bitmap_t memory = hwloc_bitmap_alloc(), cpu = hwloc_bitmap_alloc();
	bool found = false;

	if (memory && cpu) {
		read_nodes(root_fd, "sys/devices/system/node/has_memory", memory);
		if (hwloc_bitmap_iszero(memory))
			read_nodes(root_fd, "sys/devices/system/node/has_normal_memory", memory);
		read_nodes(root_fd, "sys/devices/system/node/has_cpu", cpu);
		found = !hwloc_bitmap_iszero(cpu) && !hwloc_bitmap_isincluded(memory, cpu);
	}
	hwloc_bitmap_free(memory);
	hwloc_bitmap_free(cpu);
	return found;
}

int machine_read(int root_fd, struct machine *ret, struct fault *fault)
{
	struct machine machine = {};
	int r = read_cpuinfo(root_fd, &machine, fault);

	if (r < 0)
		return r;
	machine.memory_only_node = has_memory_only_node(root_fd);
	*ret = machine;
	return 0;
}

bool machine_is_guest(int root_fd)
{
	struct machine machine = {};
	struct fault fault;

	return read_cpuinfo(root_fd, &machine, &fault) == 0 && machine.is_guest;
}
