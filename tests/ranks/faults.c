/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/ranks/faults.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t faults_machine(void)
{
	FILE *file = fopen("/proc/vmstat", "re");
	unsigned long long n, faults = 0;
	char name[64];

	if (!file)
		err(1, "/proc/vmstat");
	while (fscanf(file, "%63s %llu", name, &n) == 2)
		if (!strcmp(name, "pgfault"))
			faults = n;
	fclose(file);
	if (!faults)
		errx(1, "The kernel counts no faults.");
	return faults;
}

/* Huge pages are refused, since one fault would bring in many pages. */
void faults_touch(uint64_t pages)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = pages * page_bytes;
	volatile char *memory;

	if (!bytes)
		return;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "Cannot map %zu bytes", bytes);
	if (madvise((void *)memory, bytes, MADV_NOHUGEPAGE) < 0 && errno != EINVAL)
		err(1, "Cannot refuse huge pages");
	for (size_t i = 0; i < bytes; i += page_bytes)
		memory[i] = 1;
	munmap((void *)memory, bytes);
}
