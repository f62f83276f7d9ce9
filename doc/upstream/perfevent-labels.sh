#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# perfevent-labels.md: pmdaperfevent counts on the last CPU alone; which CPU does its label name?
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
agent=/var/lib/pcp/pmdas/perfevent/pmdaperfevent
cpu=$(($(nproc --all) - 1))

cannot() {
	echo "Cannot run: $1"
	exit 77
}
[[ -x $agent ]] || cannot "Debian's package pcp is not installed."
[[ $EUID -eq 0 ]] || cannot "only root may count on a CPU."
[[ $cpu -gt 0 ]] || cannot "this machine has one CPU."

mkdir "$work/perfevent"
printf '[perf]\nPAGE-FAULTS %d\n' "$cpu" >"$work/perfevent/perfevent.conf"
printf 'root { perfevent 127:*:* }\n' >"$work/names"
PCP_PMDAS_DIR=$work timeout 60 dbpmda -n "$work/names" -ie >"$work/out" 2>&1 <<-END
	open pipe $agent -d 127 -U root -l $work/log
	instance 127.0
	label instances 127.0
	quit
END
cat "$work/out"
grep -q "name: \"cpu$cpu\"" "$work/out" || cannot "the agent does not count here: $(tail -n 3 "$work/log")"
grep -q "^ *cpu=0$" "$work/out" && echo "Fails as described." && exit 0
echo "Does not fail as described."
exit 3
