# SPDX-License-Identifier: BSD-3-Clause
# ./dev upstream: do the defects that doc/upstream/ reports to other projects still exist here? It runs the block of each
# report that says so, in a copy of the folder. What these want, as PAPI or another perf, is in the environment: see there.

UPSTREAM_FOLDER=doc/upstream
UPSTREAM_FENCE='sh run by ./dev upstream'
UPSTREAM_REPAIRED=3
UPSTREAM_CANNOT=77

upstream_names() {
	basename -s .md "$UPSTREAM_FOLDER"/*.md | grep -vx README
}

# $1: the report. Prints its commands.
upstream_commands() {
	sed -n "\\:^\`\`\`$UPSTREAM_FENCE\$:,\\:^\`\`\`\$:{/^\`\`\`/d; p}" "$UPSTREAM_FOLDER/$1.md"
}

# $1: the commands. 0: it fails as described; UPSTREAM_REPAIRED: not any more; UPSTREAM_CANNOT; else it is broken.
upstream_run_one() (
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	cp "$UPSTREAM_FOLDER"/* "$folder"
	export PAPI=${PAPI:-$PWD/$PAPI_FOLDER}
	cd "$folder" || exit
	bash -euc "$1"
)

# [--list | NAME..]
upstream_run() {
	local name commands status closed=0

	if [[ $* == --list ]]; then
		upstream_names
		return
	fi
	# shellcheck disable=SC2046 # names have no spaces
	[[ $# -gt 0 ]] || set -- $(upstream_names)
	for name in "$@"; do
		commands=$(upstream_commands "$name" 2>/dev/null) && [[ -n $commands ]] ||
			fail "$UPSTREAM_FOLDER/$name.md is not a report with a block '$UPSTREAM_FENCE'."
		status=0
		printf '\n== %s\n' "$name"
		upstream_run_one "$commands" || status=$?
		case $status in
		0 | "$UPSTREAM_CANNOT") ;;
		"$UPSTREAM_REPAIRED") closed=1 ;;
		*) fail "The reproducer of $UPSTREAM_FOLDER/$name.md is broken: status $status." ;;
		esac
	done
	[[ $closed -eq 0 ]] || fail "What does not fail any more was repaired: close its report, or narrow down its versions."
}
