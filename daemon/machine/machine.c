/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc/cpuinfo differs by architecture: x86 has "vendor_id", "cpu family" and "model" (and a
 * separate line "model name"), POWER has "cpu", Arm has "CPU implementer" and "CPU part". Labels
 * are compared whole, and only up to the first empty line: after the processors, POWER has another
 * "model", the name of the computer.
 */
#include "daemon/machine/machine.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "common/text.h"
#include "daemon/base/text-file.h"
#include "daemon/machine/pmu.h"

#define NODES "sys/devices/system/node/"
enum { KIB_PER_GIB = 1 << 20 };

static bool same_text(const char *want, const char *have)
{
	return !strcmp(want, have);
}

static bool glob_matches(const char *want, const char *have)
{
	return !fnmatch(want, have, 0);
}

/* A number with leading zeros is decimal, as in proc/cpuinfo; base 0 would make it octal. */
static const char *machine_read_number(const char *text, uint64_t *ret)
{
	return number_parse(text, strncmp(text, "0x", 2) ? 10 : 16, UINT64_MAX, ret);
}

/* Parses one "6" or "0-4" of *@list, and moves *@list past it and the blanks after it. */
static bool read_range(const char **list, uint64_t *ret_low, uint64_t *ret_high)
{
	const char *rest = machine_read_number(*list, ret_low);

	*ret_high = *ret_low;
	if (rest && *rest == '-')
		rest = machine_read_number(rest + 1, ret_high);
	if (!rest || *ret_high < *ret_low || (*rest && *rest != ' ' && *rest != '\t'))
		return false;
	*list = rest + strspn(rest, " \t");
	return true;
}

bool machine_is_list(const char *list)
{
	uint64_t low = 0, high = 0;

	do {
		if (!read_range(&list, &low, &high))
			return false;
	} while (*list);
	return true;
}

static bool list_has(const char *list, const char *have)
{
	uint64_t number, low = 0, high = 0;
	const char *rest = machine_read_number(have, &number);

	if (!rest || *rest)
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
	[MACHINE_CPULESS_GIB] = { NULL, "cpuless_gib", list_has },
};

static bool machine_has_pmu(const struct machine *machine, const char *glob)
{
	_cleanup_(directory_close) DIR *directory = NULL;
	const struct dirent *entry;

	if (directory_open(machine->root_fd, PMU_DEVICES, &directory) < 0)
		return false;
	while ((entry = readdir(directory)))
		if (!fnmatch(glob, entry->d_name, FNM_PERIOD))
			return true;
	return false;
}

bool machine_matches(const struct machine *machine, const struct machine_pattern *pattern)
{
	bool cpuless_node = *machine->facts[MACHINE_CPULESS_GIB];

	for (int i = 0; i < MACHINE_N_FACTS; i++) {
		const char *want = pattern->facts[i], *have = machine->facts[i];

		if (*want && (!*have || !facts[i].matches(want, have)))
			return false;
	}
	if (pattern->asks_cpuless_node && pattern->cpuless_node != cpuless_node)
		return false;
	if (*pattern->with_pmu && !machine_has_pmu(machine, pattern->with_pmu))
		return false;
	return !*pattern->without_pmu || !machine_has_pmu(machine, pattern->without_pmu);
}

void machine_describe(const struct machine *machine, char *ret_text, size_t size_bytes)
{
	*ret_text = '\0';
	for (int i = 0; i < MACHINE_N_FACTS; i++)
		if (*machine->facts[i])
			text_append(ret_text, size_bytes, "%s%s %s", *ret_text ? ", " : "",
				facts[i].name, machine->facts[i]);
	if (!*ret_text)
		snprintf(ret_text, size_bytes, "proc/cpuinfo names no CPU");
}

/* --- reading --- */

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

static bool machine_has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *c = strstr(words, word); c; c = strstr(c + 1, word))
		if ((c == words || c[-1] == ' ') && (!c[length] || c[length] == ' '))
			return true;
	return false;
}

static void machine_take_line(struct machine *machine, const char *label, const char *value)
{
	for (int i = 0; i < MACHINE_N_FACTS; i++)
		if (facts[i].label && !strcmp(facts[i].label, label))
			snprintf(machine->facts[i], sizeof machine->facts[i], "%s", value);
	if (!strcmp(label, "flags"))
		machine->is_guest = machine_has_word(value, "hypervisor");
}

static int read_cpuinfo(int root_fd, struct machine *machine, struct fault *fault)
{
	int fd = text_file_open(root_fd, "proc/cpuinfo");
	_cleanup_file_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (fd == -EINVAL)
		return fault_set(fault, fd, "proc/cpuinfo cannot be read.");
	if (fd < 0)
		return fault_set(fault, fd, "Cannot open proc/cpuinfo: %s.", strerror(-fd));
	if (!file) {
		close(fd);
		return fault_set(fault, -ENOMEM, "Out of memory.");
	}
	errno = 0;
	while (getline(&line, &size, file) >= 0) {
		char *value = strchr(line, ':');

		if (!*trim(line))
			break; /* the end of the first processor */
		if (!value)
			continue;
		*value++ = '\0';
		value = trim(value);
		machine_take_line(machine, trim(line), value);
	}
	if (ferror(file))
		return fault_set(fault, errno ? -errno : -EIO, "Cannot read proc/cpuinfo: %m.");
	return 0;
}

/* Adds the NUMA nodes of a list like "0-1,4" to @nodes. False: the kernel has no such list. */
static bool read_nodes(int root_fd, const char *path, hwloc_bitmap_t nodes)
{
	char text[PMU_CPUMASK_MAX];

	return text_file_read(root_fd, path, text, sizeof text) == 0 && pmu_parse_cpus(text, nodes);
}

/* Memory of a node in KiB; 0: it has none, or the kernel does not say. */
static uint64_t memory_kib(int root_fd, int node)
{
	char path[64], text[TEXT_FILE_MAX + 1];
	const char *total = NULL;
	uint64_t kib = 0;

	snprintf(path, sizeof path, NODES "node%d/meminfo", node);
	if (text_file_read(root_fd, path, text, sizeof text) == 0)
		total = strstr(text, "MemTotal:");
	if (total)
		sscanf(total, "MemTotal: %" SCNu64, &kib);
	return kib;
}

/*
 * Reads NUMA nodes that have only memory, and nodes of accelerators ("generic initiators"): the
 * nodes of a GPU exist before its driver gives them memory.
 */
static void read_cpuless_nodes(int root_fd, struct machine *machine)
{
	_cleanup_(bitmap_free) hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	_cleanup_(bitmap_free) hwloc_bitmap_t cpu = hwloc_bitmap_alloc();
	uint64_t kib = 0;
	int node;

	if (!nodes || !cpu || !read_nodes(root_fd, NODES "has_cpu", cpu) ||
		hwloc_bitmap_iszero(cpu))
		return;
	if (!read_nodes(root_fd, NODES "has_memory", nodes))
		read_nodes(root_fd, NODES "has_normal_memory", nodes);
	read_nodes(root_fd, NODES "has_generic_initiator", nodes);
	hwloc_bitmap_andnot(nodes, nodes, cpu);
	if (hwloc_bitmap_iszero(nodes))
		return;
	for (node = hwloc_bitmap_first(nodes); node >= 0; node = hwloc_bitmap_next(nodes, node))
		kib += memory_kib(root_fd, node);
	snprintf(machine->facts[MACHINE_CPULESS_GIB], MACHINE_TEXT_MAX, "%" PRIu64,
		(kib + KIB_PER_GIB / 2) / KIB_PER_GIB);
}

/* The socket of the first CPU of a node; negative: the node has no CPU, or that is not known. */
static int socket_of_node(int root_fd, int node, const struct topology *topology)
{
	_cleanup_(bitmap_free) hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	char path[96];
	int cpu;

	snprintf(path, sizeof path, NODES "node%d/cpulist", node);
	cpu = cpus && read_nodes(root_fd, path, cpus) ? hwloc_bitmap_first(cpus) : -1;
	return cpu >= 0 && (unsigned)cpu < topology->n_cpus ? topology->socket_of_cpu[cpu] : -1;
}

bool machine_is_divided(int root_fd, const struct topology *topology)
{
	_cleanup_(bitmap_free) hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	_cleanup_(bitmap_free) hwloc_bitmap_t sockets = hwloc_bitmap_alloc();
	const bool are_known = nodes && sockets && read_nodes(root_fd, NODES "has_cpu", nodes);
	int node = -1;

	while (are_known && (node = hwloc_bitmap_next(nodes, node)) >= 0) {
		int socket = socket_of_node(root_fd, node, topology);

		if (socket >= 0 && hwloc_bitmap_isset(sockets, (unsigned)socket))
			return true;
		if (socket >= 0)
			hwloc_bitmap_set(sockets, (unsigned)socket);
	}
	return false;
}

int machine_read(int root_fd, struct machine *ret, struct fault *fault)
{
	struct machine machine = { .root_fd = root_fd };
	int r = read_cpuinfo(root_fd, &machine, fault);

	if (r < 0)
		return r;
	read_cpuless_nodes(root_fd, &machine);
	*ret = machine;
	return 0;
}

bool machine_is_guest(int root_fd)
{
	struct machine machine = {};
	struct fault fault;

	return read_cpuinfo(root_fd, &machine, &fault) == 0 && machine.is_guest;
}
