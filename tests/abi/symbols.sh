#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# symbols.sh LIBRARY MAP: do both name the same public symbols, under the same versions?
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "uncore_open@@LIBUNCORE_0.1"; the version nodes themselves are absolute symbols (A).
nm -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' |
	LC_ALL=C sort >"$work/library"
awk '/^LIBUNCORE/ { node = $1 } /^\tuncore_[a-z0-9_]+;/ { sub(/;.*/, "", $1); print $1 "@@" node }' \
	"$2" | LC_ALL=C sort >"$work/map"
[ -s "$work/map" ] || { echo "$2 lists no symbol"; exit 1; }
if diff -u "$work/map" "$work/library"; then
	exit 0
fi
echo "$1 and $2 differ: lines with + are exported and not listed, with - the reverse"
exit 1
