/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the kernel's description of its PMUs: sys/bus/event_source/devices below a root. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/text-file.h"

/* The folder with an entry for each PMU, below the root. */
#define PMU_DEVICES "sys/bus/event_source/devices"

enum { PMU_NAME_MAX = 64, PMU_VALUE_MAX = 256, PMU_CPUMASK_MAX = TEXT_FILE_MAX + 1 };

enum { PMU_NO_PLACE = 1 << 16 /* greater than any number of sockets */ };

/* One PMU instance. @why is "" if it can be used, else a sentence that says why not. */
struct pmu {
	char name[PMU_NAME_MAX];
	uint32_t type;          /* for perf_event_attr.type */
	hwloc_bitmap_t cpumask; /* from `cpumask`, or `cpus`; NULL: not known */
	int number;             /* "uncore_imc_3", "nest_mba3_imc": 3; no digits: -1 */
	unsigned place;         /* 1 + the socket that it belongs to, whatever the cpumask says;
				   PMU_NO_PLACE: that is not known; 0: the cpumask says it */
	bool is_per_socket;     /* any CPU of a socket counts all of it, however many are offered */
	int directory_fd;
	char why[PAGE_TEXT_MAX];
};

struct pmu_list {
	unsigned n;
	struct pmu *pmus; /* in natural order of names: imc_2 before imc_10 */
};

/* All PMUs of the machine. Broken ones are listed with their .why. 0, -ENOENT (no such folder),
 * -ENOMEM, errno of openat(2). The caller owns *ret, for pmu_list_done(). */
int pmu_list_load(int root_fd, struct pmu_list *ret);

void pmu_list_done(struct pmu_list *list);

/* Adds the CPUs of a list like "0-1,28" to @cpus. False: @text is not a list, or out of memory. */
bool pmu_parse_cpus(const char *text, hwloc_bitmap_t cpus);

/* Reads `cpumask`, else `cpus`, of the PMU in this folder. Errors of text_file_read(). */
int pmu_read_cpumask(int directory_fd, char ret_text[static PMU_CPUMASK_MAX]);

static inline void bitmap_free(hwloc_bitmap_t *bitmap)
{
	hwloc_bitmap_free(*bitmap);
}
