#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# code.sh LIBRARY BYTES: has it at most so much code, in section .text?
set -eu
bytes=$(size --format=sysv "$1" | awk '$1 == ".text" { print $2 }')
echo "$1 has $bytes bytes of code; at most $2 are meant."
[ "$bytes" -gt 0 ] && [ "$bytes" -le "$2" ]
