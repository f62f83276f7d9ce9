# SPDX-License-Identifier: BSD-3-Clause
# Functions for every command of ./dev.

say() {
	printf '%s\n' "$*" >&2
}

fail() {
	say "$@"
	exit 1
}

is_root() {
	[[ $EUID -eq 0 ]]
}

# Runs a command as root; sudo may ask for a password.
as_root() {
	if is_root; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "This needs root for '$1', and there is no sudo: run ./dev as root."
	fi
}

# Runs a command with its output in a log, which is shown only if the command fails.
# $1: the action, in words that complete "Could not ...".
quietly() {
	local what=$1 log
	shift

	log=$(mktemp)
	if "$@" >"$log" 2>&1 </dev/null; then
		rm -f "$log"
		return 0
	fi
	cat "$log" >&2
	rm -f "$log"
	fail "Could not $what: '$*' failed; its output is above."
}
