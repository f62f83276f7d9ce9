# SPDX-License-Identifier: BSD-3-Clause
# The files that a person wrote: known to git or about to be; in an unpacked archive, all but builds.

# $@: patterns as of git and find, like '*.c'. Prints paths below the root of the tree, one a line.
sources() {
	local pattern names=()

	if git -c safe.directory='*' rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" |
			while read -r path; do
				[[ ! -f $path ]] || printf '%s\n' "$path"
			done
		return
	fi
	for pattern in "$@"; do
		names+=(-o -name "$pattern")
	done
	find . -path './build*' -prune -o -type f \( "${names[@]:1}" \) -print | sed 's|^\./||'
}
