#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# hardening.sh CPU FORTIFY LIBRARY -- BINARY..: checks that compiler and linker have hardened the binaries.
# FORTIFY is `none` where the build does not ask for it. LIBRARY holds the project's own objects. The notes
# of control-flow protection are read there, because the linker drops them from a program as soon as one
# object lacks them, as the C library's start files often do.
set -euo pipefail

cpu=$1 fortify=$2 library=$3
shift 4
failed=0

complain() {
	printf '%s\n' "$1" >&2
	failed=1
}

# expect FILE WHAT PATTERN READELF-OPTION..
expect() {
	local file=$1 what=$2 pattern=$3 text

	text=$(readelf --wide "${@:4}" "$file")
	grep -qE "$pattern" <<<"$text" || complain "$file: $what is missing"
}

for binary; do
	expect "$binary" "position independence" 'Type: +DYN' --file-header
	expect "$binary" "read-only relocation (-z relro)" 'GNU_RELRO' --program-headers
	expect "$binary" "binding at the start (-z now)" 'BIND_NOW' --dynamic
	expect "$binary" "the stack protector" '__stack_chk_fail' --dyn-syms
	[[ $fortify == none ]] ||
		expect "$binary" "_FORTIFY_SOURCE" '__(snprintf|fprintf|memcpy)_chk' --dyn-syms
done

if [[ $cpu == x86_64 ]]; then
	n_objects=$(ar t "$library" | wc -l)
	n_marked=$(readelf --wide --notes "$library" | grep -c 'IBT, SHSTK' || true)
	((n_objects > 0 && n_marked == n_objects)) ||
		complain "$library: $n_marked of $n_objects objects have control-flow protection"
fi
exit $failed
