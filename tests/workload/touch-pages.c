/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touch-pages N [CPU]: pins itself to CPU and touches N new pages of memory, one fault each.
 *
 * On the stand-in machine that is N x 4096 bytes of dram.read on the socket of CPU. Huge pages are
 * refused, since one fault would then bring in many pages.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harness/program.h"

enum { COUNT_MAX = 1 << 24 };

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
	n = (size_t)program_number(argv[1], COUNT_MAX);
	if (argc == 3)
		program_run_on((int)program_number(argv[2], CPU_SETSIZE - 1));
	if (n > 0)
		touch(n, page_bytes);
	printf("touched %zu new pages of %zu bytes", n, page_bytes);
	if (argc == 3)
		printf(" on CPU %s", argv[2]);
	printf("\n");
	return 0;
}
