#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# archive.sh OUTPUT ARCHIVE..: makes one archive of several, in which a program sees the public functions alone. The
# others have plain names, which the program may have given to functions of its own.
set -eu
output=$1
shift
$CC -r -nostdlib -o "$output.o" -Wl,--whole-archive "$@" -Wl,--no-whole-archive
"$OBJCOPY" --localize-hidden "$output.o"
rm -f "$output"
"$AR" -crsD "$output" "$output.o"
