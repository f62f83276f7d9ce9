/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore report` of many nodes takes: report.py makes the files and measures. */
#include "tests/bench/ranks/bench.h"

#include <err.h>
#include <stdio.h>

void report_10000(void)
{
	FILE *out = popen(REPORT_COMMAND, "re");
	double ratio, memory_mb;

	if (!out || fscanf(out, "%lf %lf", &ratio, &memory_mb) != 2 || pclose(out) != 0)
		errx(1, "Cannot measure `uncore report`.");
	figure_add(&(struct figure){ "ratio", "CPU time / that of json.load", "x", ratio, 0.3 });
	figure_add(&(struct figure){ "memory", "largest memory", "MB", memory_mb, 64 });
}
