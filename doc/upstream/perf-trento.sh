#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# perf-trento.md: which events does perf list for EPYC 7A53? PERF: the program, of Linux 6.3 or later.
perf=${PERF:-perf}

events() {
	PERF_CPUID=AuthenticAMD-25-$1-1 "$perf" list --details 2>/dev/null
}

cannot() {
	echo "Cannot run: $1"
	exit 77
}
version=$("$perf" --version 2>/dev/null) || cannot "there is no perf."
echo "$version"
events 11 | grep -q umc_ || cannot "this perf has no events of Zen 4's memory controllers, or is older than the defect."

for model in 1 30 11; do
	echo "model 0x$model: $(events $model | grep -cE '\bnps1_die_to_dram\b') x nps1_die_to_dram of Zen 3," \
		"$(events $model | grep -cE '\bumc_cas_cmd') lines with umc_cas_cmd of Zen 4"
done
events 30 | grep -q umc_ && echo "Fails as described." && exit 0
echo "Does not fail as described."
exit 3
