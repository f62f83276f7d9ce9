/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/compare/compare.h"

static const struct option_row rows[] = {
	{ "within", 0, OPTION_PERCENT, "PERCENT",
		"call ratios alike if they surely differ by less than PERCENT (default: 5)",
		OPTION_AT(compare_options, within), 0.01, 100 },
	{ "fail-above", 0, OPTION_PERCENT, "PERCENT",
		"exit with 1 if B moves more than PERCENT more than A, and with 3 if that cannot "
		"be told",
		OPTION_AT(compare_options, fail_above), 0.01, 100 },
};

const struct option_table compare_table = {
	.command = "uncore compare",
	.brief = "compare the runs of two programs, with the error of the ratio",
	.usage = "[OPTION...] A.FILE B.FILE",
	.about = "Compare what two programs moved: A and B are outputs of `uncore stat -r 5 "
		 "--json`, or of `uncore report --json`, of which each region is compared. The "
		 "ratio B / A comes with an interval that holds 95 % for all metrics "
		 "together (Welch's test of logarithms, Holm's order), if both have 3 runs or "
		 "more.",
	.exits = "0; with --fail-above 1 if B moves more, 3 if that cannot be told; 2 for a wrong "
		 "option, or a file that is not such an output.",
	OPTION_ROWS(rows),
};
