#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the files of release 0.1.0 that are kept here; needs its history (a full clone) and root.
# `remake.sh all` makes everything anew. The dialogue, the page and its text come from one daemon of
# 0.1.0 on the stand-in machine with two CPUs, its library and its command; the counts and times in
# them differ each time.
#
#   uncored-0.1.0.tar.xz     its sources, as far as they are needed to build it
#   0.1.0/*.request          what its client sends
#   0.1.0/*.answer           what its daemon answers; -denied: to a user that is not root
#   0.1.0/page               the shared page that came with the answer to HELLO
#   0.1.0/page.txt           what its library read there, as probe.c prints it
set -euo pipefail

[[ ${1:-} == all ]] || { sed -n '3,12s/^# \?//p' "$0" && exit 2; }
cd "$(dirname "$(readlink -f "$0")")"
commit=08234c3
saved=$PWD/0.1.0
work=$(mktemp -d)
daemon=
trap '[[ -z $daemon ]] || kill "$daemon"; rm -rf "$work"' EXIT
chmod 755 "$work"

git -C ../.. archive "$commit" common client daemon conf/platforms/standin.conf LICENSE |
	xz -9e >uncored-0.1.0.tar.xz
bash build-release.sh uncored-0.1.0.tar.xz probe.c "$work/release" "$work/stamp"
python3 ../machines/mktree ../machines/standin.machine "$work/standin" --stamp "$work/machine.stamp"

touch "$work/conf"
"$work/release/uncored" --root "$work/standin" --platforms "$work/release/conf/platforms" \
	--config "$work/conf" --socket "$work/socket" &
daemon=$!
until [[ -S $work/socket ]]; do sleep 0.1; done

# Runs a client's command as user $1 for the daemon.
record() {
	local recorder
	python3 record.py "$work/socket" "$work/between" "$saved" "$1" &
	recorder=$!
	until [[ -S $work/between ]]; do sleep 0.1; done
	UNCORE_SOCKET=$work/between "$work/release/$2" "${@:3}" || true
	wait "$recorder"
	rm -f "$work/between"
}

rm -rf "$saved"
mkdir -m 777 "$saved"
chmod 777 "$work"
export UNCORE_SOCKET=$work/socket LD_LIBRARY_PATH=$work/release
"$work/release/uncore" stat -- true >"$work/log" 2>&1
record 0 probe dump "$work/between" >"$work/page.txt"
record 0 uncore info --json >"$work/log"
record 0 uncore owner 65534
record 65534 uncore owner 65534
rm "$saved"/*-denied.request "$saved/hello-denied.answer"
mv "$work/page.txt" "$saved"
chmod 755 "$saved"
chown -R 0:0 "$saved"
