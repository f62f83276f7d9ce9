/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists PMUs. On a real machine the entries of bus/event_source/devices are relative symbolic links
 * into devices/; every path here is opened below a descriptor, so a copy of the tree works, too.
 *
 * A PMU that counts for a whole socket says in `cpumask` (some drivers: `cpus`) on which CPU it may
 * be opened. Core PMUs have neither file; they are listed with the reason why they cannot be used.
 */
#include "daemon/machine/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "common/array.h"
#include "common/macro.h"
#include "common/number.h"

enum { CPU_MAX = 65535 }; /* NR_CPUS is at most 8192 so far */

/* "0-1", "0,28": the kernel's %*pbl. hwloc's own parser also accepts "3-", a range without an
 * end. */
bool pmu_parse_cpus(const char *text, hwloc_bitmap_t cpus)
{
	uint64_t first, last;

	for (;;) {
		text = number_parse_range(text, CPU_MAX, &first, &last);
		if (!text || hwloc_bitmap_set_range(cpus, (unsigned)first, (int)last) < 0)
			return false;
		if (*text != ',')
			return *text == '\0';
		text++;
	}
}

int pmu_read_cpumask(int directory_fd, char ret_text[static PMU_CPUMASK_MAX])
{
	int r = text_file_read(directory_fd, "cpumask", ret_text, PMU_CPUMASK_MAX);

	return r == -ENOENT ? text_file_read(directory_fd, "cpus", ret_text, PMU_CPUMASK_MAX) : r;
}

/* 0: pmu->cpumask is known (it may be empty), or pmu->why says why it is not known; -ENOMEM. */
static int load_cpumask(struct pmu *pmu)
{
	char text[PMU_CPUMASK_MAX] = "";
	int r = pmu_read_cpumask(pmu->directory_fd, text);

	if (r == -ENOENT)
		snprintf(pmu->why, sizeof pmu->why,
			"%s has no cpumask file, so it is not known on which CPUs it counts",
			pmu->name);
	else if (r < 0 && r != -ENODATA)
		snprintf(pmu->why, sizeof pmu->why, "the cpumask of %s cannot be read: %s",
			pmu->name, strerror(-r));
	if (r < 0 && r != -ENODATA)
		return 0;
	pmu->cpumask = hwloc_bitmap_alloc();
	if (!pmu->cpumask)
		return -ENOMEM;
	if (r == -ENODATA) {
		snprintf(pmu->why, sizeof pmu->why,
			"the cpumask of %s is empty: every CPU it could count on is offline",
			pmu->name);
	} else if (!pmu_parse_cpus(text, pmu->cpumask)) {
		snprintf(pmu->why, sizeof pmu->why,
			"the cpumask of %s says \"%.32s\", which is not a list of CPUs", pmu->name,
			text);
		hwloc_bitmap_free(pmu->cpumask);
		pmu->cpumask = NULL;
	}
	return 0;
}

static void load_type(struct pmu *pmu)
{
	char text[PMU_VALUE_MAX] = "";
	uint64_t type;
	int r = text_file_read(pmu->directory_fd, "type", text, sizeof text);

	if (r < 0)
		snprintf(pmu->why, sizeof pmu->why, "the type of %s cannot be read: %s", pmu->name,
			strerror(-r));
	else if (!number_parse_whole(text, 10, UINT32_MAX, &type))
		snprintf(pmu->why, sizeof pmu->why,
			"the type of %s says \"%.32s\", which is not a number", pmu->name, text);
	else
		pmu->type = type;
}

/* The last run of digits: "nest_mba3_imc" is 3, "uncore_type_14_7" is 7. */
static int pmu_number_of(const char *name)
{
	const char *digits = NULL;
	uint64_t n;

	for (const char *c = name; *c; c++)
		if (isdigit((unsigned char)*c) && (c == name || !isdigit((unsigned char)c[-1])))
			digits = c;
	return digits && number_parse(digits, 10, INT_MAX, &n) ? (int)n : -1;
}

static int load_pmu(int devices_fd, const char *name, struct pmu *pmu)
{
	int length = snprintf(pmu->name, sizeof pmu->name, "%s", name);

	pmu->number = pmu_number_of(name);
	if (length >= PMU_NAME_MAX) {
		snprintf(pmu->why, sizeof pmu->why, "%s... has a name longer than %d characters",
			pmu->name, PMU_NAME_MAX - 1);
		return 0;
	}
	pmu->directory_fd = openat(devices_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (pmu->directory_fd < 0) {
		snprintf(pmu->why, sizeof pmu->why, "%s cannot be opened: %s", pmu->name,
			strerror(errno));
		return 0;
	}
	load_type(pmu);
	return pmu->why[0] ? 0 : load_cpumask(pmu);
}

static int pmu_append(struct pmu_list *list, int devices_fd, const char *name)
{
	if (array_room(&list->pmus, list->n, sizeof *list->pmus) < 0)
		return -ENOMEM;
	list->pmus[list->n] = (struct pmu){ .directory_fd = -1 };
	return load_pmu(devices_fd, name, &list->pmus[list->n++]);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

int pmu_list_load(int root_fd, struct pmu_list *ret)
{
	_cleanup_(pmu_list_done) struct pmu_list list = { 0 };
	_cleanup_(directory_close) DIR *directory = NULL;
	const struct dirent *entry;
	int r = directory_open(root_fd, PMU_DEVICES, &directory);

	while (r >= 0 && (errno = 0, entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			r = pmu_append(&list, dirfd(directory), entry->d_name);
	if (r < 0)
		return r;
	if (errno)
		return -errno;
	if (list.n)
		qsort(list.pmus, list.n, sizeof *list.pmus, by_name);
	*ret = list;
	list = (struct pmu_list){ 0 };
	return 0;
}

void pmu_list_done(struct pmu_list *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		close_fd(&list->pmus[i].directory_fd);
		hwloc_bitmap_free(list->pmus[i].cpumask);
	}
	free(list->pmus);
	*list = (struct pmu_list){ 0 };
}
