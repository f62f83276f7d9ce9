# SPDX-License-Identifier: BSD-3-Clause
# ./dev soak: months of the daemon's life in minutes. As root, because it opens counters.

SOAK_DEFAULT_MIN=10

# [MINUTES] [--hotplug]
soak_run() {
	local minutes=$SOAK_DEFAULT_MIN hotplug=()

	while [[ $# -gt 0 ]]; do
		case $1 in
		--hotplug) hotplug=(UNCORE_SOAK_HOTPLUG=1) ;;
		[1-9] | [1-9][0-9] | [1-9][0-9][0-9]*) minutes=$1 ;;
		*)
			say "./dev soak takes a number of minutes and --hotplug, not '$1'."
			exit 2
			;;
		esac
		shift
	done
	setup_to_build
	say "Building into build/"
	build_in build
	say "$minutes minutes; a line every ten seconds."
	as_root env UNCORE_SOURCE_ROOT="$PWD" UNCORE_BUILD_ROOT="$PWD/build" UNCORE_SOAK_S=$((minutes * 60)) \
		CMOCKA_MESSAGE_OUTPUT=TAP "${hotplug[@]}" build/tests/soak/uncore-soak
}
