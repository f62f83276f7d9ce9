#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# likwid-trento.md: does LIKWID know RAPL on Milan, Trento and Genoa, as qemu-user shows them?
# LIKWID: the folder with its include/ and its libraries; LOADER: what starts a program with these, if not the system.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(dirname "$(readlink -f "$0")")

cannot() {
	echo "Cannot run: $1"
	exit 77
}
[[ $EUID -eq 0 ]] || cannot "only root may mount another /proc/cpuinfo."
[[ -e ${LIKWID:=/usr}/include/likwid.h ]] || cannot "there is no LIKWID in $LIKWID: set LIKWID."
command -v qemu-x86_64 >/dev/null || cannot "Debian's package qemu-user is not installed."
libraries=$(dirname "$(find "$LIKWID/lib" -name liblikwid.so | head -n 1)")
cc -I"$LIKWID/include" -o "$work/rapl" "$here/likwid-trento.c" -L"$libraries" -llikwid -Wl,-rpath,"$libraries" \
	-Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
export LOADER

# $1: the model's number. LIKWID asks the processor and the kernel.
rapl_of() {
	sed "s/^vendor_id.*/vendor_id\t: AuthenticAMD/; s/^cpu family.*/cpu family\t: 25/; s/^model\t.*/model\t\t: $1/" \
		/proc/cpuinfo >"$work/cpuinfo"
	unshare -m bash -c 'mount --bind "$1/cpuinfo" /proc/cpuinfo
		exec qemu-x86_64 -cpu EPYC-Milan,model="$2" $LOADER "$1/rapl"' - "$work" "$1" 2>&1 | grep hasRAPL
}

for model in 1 48 17; do
	echo "model $model: $(rapl_of $model)" | tee -a "$work/out"
done
grep -q "^model 1: .*Zen3.*hasRAPL 1" "$work/out" || cannot "this LIKWID does not find RAPL on Milan."
grep -q "^model 48: .*Zen3" "$work/out" || cannot "this LIKWID is too old for Trento."
grep -q "^model 48: .*hasRAPL 0" "$work/out" && echo "Fails as described." && exit 0
echo "Does not fail as described."
exit 3
