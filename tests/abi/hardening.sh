#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# hardening.sh CPU FORTIFY CONTROL-FLOW LIBRARY -- BINARY..: checks that compiler and linker have hardened the
# binaries. FORTIFY and CONTROL-FLOW are `none` where the build does not ask for them. LIBRARY holds the project's own
# objects, which have the notes of control-flow protection on every machine; a binary has them only if each object
# that the linker put into it does, or common/landing.S is in it.
set -euo pipefail

cpu=$1 fortify=$2 control_flow=$3 library=$4
shift 5
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

# expect_fortify FILE: unless it calls no function that could be checked.
expect_fortify() {
	local calls

	calls=$(readelf --wide --dyn-syms "$1")
	if grep -qE ' (snprintf|fprintf|memcpy)@' <<<"$calls"; then
		expect "$1" "_FORTIFY_SOURCE" '__(snprintf|fprintf|memcpy)_chk' --dyn-syms
	fi
}

# expect_pad FILE WHAT ADDRESS: an indirect jump or call may land there.
expect_pad() {
	local code

	code=$(objdump --disassemble --start-address="$3" --stop-address="$(($3 + 4))" "$1")
	grep -q 'endbr64' <<<"$code" || complain "$1: $2 begins without a landing pad"
}

# expect_control_flow FILE: it has the notes, and what they promise where the loader enters it.
expect_control_flow() {
	local address

	expect "$1" "control-flow protection ($control_flow)" "x86 feature: $control_flow" --notes
	address=$(readelf --file-header "$1" | sed -n 's/.*Entry point address: *//p')
	((address == 0)) || expect_pad "$1" "the program" "$address"
	while read -r _ name address; do
		expect_pad "$1" "$name" "$address"
	done < <(readelf --wide --dynamic "$1" | grep -E '\((INIT|FINI)\)')
}

for binary; do
	expect "$binary" "position independence" 'Type: +DYN' --file-header
	expect "$binary" "read-only relocation (-z relro)" 'GNU_RELRO' --program-headers
	expect "$binary" "binding at the start (-z now)" 'BIND_NOW' --dynamic
	expect "$binary" "the stack protector" '__stack_chk_fail' --dyn-syms
	[[ $fortify == none ]] || expect_fortify "$binary"
	[[ $control_flow == none ]] || expect_control_flow "$binary"
done

declare -A notes=([x86_64]='IBT, SHSTK' [aarch64]='BTI, PAC')
if [[ ${notes[$cpu]-} ]]; then
	n_objects=$(ar t "$library" | wc -l)
	n_marked=$(readelf --wide --notes "$library" | grep -c "${notes[$cpu]}" || true)
	((n_objects > 0 && n_marked == n_objects)) ||
		complain "$library: $n_marked of $n_objects objects have control-flow protection"
fi
exit $failed
