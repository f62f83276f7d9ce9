#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# needed.sh LIBRARY PKGCONFIG: does the library bring nothing into a program but the C library's own?
# Another library could be of another version than the program's, or be overridden by the program's symbols.
set -eu
needed=$(readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
case $needed in
*libc.so*) ;;
*) echo "$1 needs no C library: was it read?"; exit 1 ;;
esac
status=0
for name in $needed; do
	case $name in
	libc.so.* | libm.so.* | libpthread.so.* | ld-linux*.so.* | ld64.so.*) ;;
	*)
		echo "$1 needs $name"
		status=1
		;;
	esac
done
if grep '^Requires' "$2"; then
	echo "$2 asks for packages"
	status=1
fi
exit $status
