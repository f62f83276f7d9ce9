# SPDX-License-Identifier: BSD-3-Clause
# ./dev guest: virtual machines with the counters that this one lacks. Fetched and made parts are kept in
# build-guest-KIND/; a part is made again when its sources change.

GUEST_KINDS=(x86 power9)
GUEST_SPACE_MB=1300

# Prints a fingerprint of the contents of files, and of the words after "--".
guest_fingerprint() {
	local files=()

	while [[ $# -gt 0 && $1 != -- ]]; do
		files+=("$1")
		shift
	done
	{ cat /dev/null "${files[@]}" && printf '%s\n' "$@"; } | sha256sum
}

# Makes a part of a guest unless it is there with the same fingerprint. A part that fails leaves no stamp.
# $1: its stamp; $2: its fingerprint; the rest is the command that makes it.
guest_part() {
	local stamp=$1 fingerprint=$2
	shift 2

	[[ ! -f $stamp || $(<"$stamp") != "$fingerprint" ]] || return 0
	rm -f "$stamp"
	"$@"
	printf '%s\n' "$fingerprint" >"$stamp"
}

# $1: folder. The first time it fills it takes some space.
guest_check_space() {
	local free_mb

	[[ ! -f $1/complete ]] || return 0
	free_mb=$(($(stat -f -c '%a * %S' "$1") / 1048576))
	[[ $free_mb -ge $GUEST_SPACE_MB ]] ||
		fail "A guest needs $GUEST_SPACE_MB MB of disk space while it is made, and here are $free_mb MB."
}

guest_check_machine() {
	[[ $(dpkg --print-architecture) == amd64 ]] ||
		fail "The guests are made on an amd64 Debian 12, and this is $(dpkg --print-architecture)."
}

# Makes sure that the guest can be made, and installs what it is made with. $1: kind
guest_setup() {
	local folder=build-guest-$1

	guest_check_machine
	mkdir -p "$folder"
	guest_check_space "$folder"
	"guest_${1}_setup" "$folder"
}

# $1: kind
guest_make() {
	local folder=build-guest-$1

	guest_setup "$1"
	rm -f "$folder/complete"
	"guest_${1}_make" "$folder"
	touch "$folder/complete"
}

# $1: kind; the rest are arguments of the program that boots it. That program checks them first.
guest_run() {
	local kind=${1:-} boot

	[[ " ${GUEST_KINDS[*]} " == *" $kind "* && -n $kind ]] || {
		say "./dev guest takes one of: ${GUEST_KINDS[*]}."
		exit 2
	}
	shift
	boot=(python3 -B "tests/guests/$kind/main.py" "build-guest-$kind" "$@")
	! command -v python3 >/dev/null || "${boot[@]}" --make
	[[ ! " $* " =~ \ (-h|--help)\  ]] || return 0
	guest_make "$kind"
	[[ " $* " != *" --make "* ]] || return 0
	say "Booting; the guest is emulated, so this takes minutes"
	exec "${boot[@]}"
}
