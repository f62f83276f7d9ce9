/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touch-pages N [CPU]: pins itself to CPU and touches N new pages of memory, one fault each.
 *
 * On the stand-in machine that is N x 4096 bytes of dram.read on the socket of CPU. Huge pages are
 * refused, since one fault would then bring in many pages.
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COUNT_MAX = 1 << 24 };

static long number(const char *text, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 0 || n > max)
		errx(2, "'%s' is not a number from 0 to %ld.", text, max);
	return n;
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		err(1, "Cannot run on CPU %d", cpu);
}

static void touch(size_t n, size_t page_bytes)
{
	volatile char *memory = mmap(
		NULL, n * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "Cannot map %zu pages", n);
	if (madvise((void *)memory, n * page_bytes, MADV_NOHUGEPAGE) < 0 && errno != EINVAL)
		err(1, "Cannot refuse huge pages");
	for (size_t i = 0; i < n; i++)
		memory[i * page_bytes] = 1;
}

int main(int argc, char *argv[])
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t n;

	if (argc < 2 || argc > 3)
		errx(2, "Usage: touch-pages N [CPU]");
	n = (size_t)number(argv[1], COUNT_MAX);
	if (argc == 3)
		pin_to((int)number(argv[2], CPU_SETSIZE - 1));
	if (n > 0)
		touch(n, page_bytes);
	printf("touched %zu new pages of %zu bytes", n, page_bytes);
	if (argc == 3)
		printf(" on CPU %s", argv[2]);
	printf("\n");
	return 0;
}
