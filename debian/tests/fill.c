/* SPDX-License-Identifier: BSD-3-Clause */
/* Touches 4096 new pages in a region: that many page faults, since none of them may be a huge one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <uncore.h>

int main(void)
{
	size_t bytes = 4096u * 4096u;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return EXIT_FAILURE;
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	uncore_region_begin("fill");
	memset(memory, 1, bytes);
	uncore_region_end("fill");
	munmap(memory, bytes);
	return EXIT_SUCCESS;
}
