#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rpath.sh BINDIR LIBDIR: prints the run path by which a program in BINDIR finds a library in LIBDIR: none if ld.so looks there,
# also if LIBDIR does not exist yet; else the way from one to the other.
set -eu

case "$(PATH=$PATH:/usr/sbin:/sbin ldconfig -v -N -X 2>&1 | sed "s/.*Can't stat //")" in
"$2: "* | *"
$2: "*) exit ;;
esac
common=$1
up=
while [ "${2#"$common"/}" = "$2" ] && [ -n "$common" ]; do
	common=${common%/*}
	up=$up/..
done
printf '%s\n' "\$ORIGIN$up/${2#"$common"/}"
