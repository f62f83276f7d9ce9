#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# build-release.sh TARBALL PROBE.C FOLDER STAMP: builds the daemon, the library and the command of
# an earlier release from its own sources, and the probe against its header. Where that cannot be
# done, STAMP says why and the suite skips, so that this release can still be built.
set -uo pipefail

tarball=$(realpath "$1") probe=$(realpath "$2") folder=$3 stamp=$(realpath -m "$4")
needs=(hwloc inih json-c libsystemd)

unpack() {
	rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" && tar -xf "$tarball"
}

compile() {
	${CC:-cc} -std=gnu11 -O1 -w -fPIC -fvisibility=hidden -D_GNU_SOURCE -I. \
		-D{UNCORED,UNCORE}_VERSION='"0.1.0"' -DUNCORED_CONFIG='"/nonexistent"' \
		-DUNCORED_{SITE_,}PLATFORMS='"/nonexistent"' "$@" "${libraries[@]}" -lm -ldl -pthread
}

build() {
	unpack &&
		pkg-config --print-errors --exists "${needs[@]}" &&
		read -ra libraries <<<"$(pkg-config --cflags --libs "${needs[@]}")" &&
		compile -o uncored common/*.c daemon/*.c &&
		compile -shared -o libuncore.so.0 -Wl,-soname,libuncore.so.0 -Wl,-z,nodelete \
			-Wl,--version-script=client/libuncore.sym common/*.c client/*.c &&
		compile -o uncore client/uncore/*.c client/format.c libuncore.so.0 &&
		compile -Iclient -o probe "$probe" libuncore.so.0
}

if problem=$(build 2>&1); then
	problem=
fi
printf '%s' "$problem" >"$stamp"
