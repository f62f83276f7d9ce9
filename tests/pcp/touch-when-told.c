/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touch-when-told CPU: for every line with a number N that it reads, touches N new pages on that
 * CPU and answers "done". It is started long before, so that its own start is not in the counts.
 */
#include "tests/harness/daemon-process.h"

#include <err.h>
#include <stdio.h>

enum { AT_ONCE = 25600 }; /* 100 MiB */

static void touch(unsigned n)
{
	for (; n > AT_ONCE; n -= AT_ONCE)
		touch_pages(AT_ONCE);
	touch_pages(n);
}

int main(int argc, char *argv[])
{
	char line[32];

	if (argc != 2)
		errx(2, "Usage: touch-when-told CPU");
	pin_to_cpu(atoi(argv[1]));
	touch(1);
	while (puts("done"), fflush(stdout), fgets(line, sizeof line, stdin))
		touch((unsigned)strtoul(line, NULL, 10));
	return 0;
}
