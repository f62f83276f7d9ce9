# SPDX-License-Identifier: BSD-3-Clause
# ./dev test: which suites run in which build folder, and as which user.
# The second stage belongs to CI and releases: it builds what a change rarely breaks.
# ranks comes first: page faults of what is built in the background are noise for its estimates.

TESTS_BUILDS=(build build-asan build-tsan build-ppc64el "$FUZZ_COVERAGE_FOLDER")
TESTS_SUITES=(
	ranks unit platforms traffic validate papers system policy jobs continuity compat hostile pcp monitor
	docs fuzz-replay abi build man format analysis units packages containers guests
)
TESTS_SECOND_STAGE=(musl reproducible)
TESTS_AHEAD= # the process that builds in the background

# Sanitizers see nothing new in man pages, symbols, layout and units; threads matter in three suites.
tests_suites_of() {
	case $1 in
	build) echo "${TESTS_SUITES[@]}" "${TESTS_SECOND_STAGE[@]}" ;;
	build-asan) echo unit system policy fuzz-replay ;;
	build-tsan) echo unit system policy ;;
	build-ppc64el) echo unit ;;
	"$FUZZ_COVERAGE_FOLDER") echo fuzz-replay ;;
	esac
}

tests_environment() {
	printf '%s\n' \
		ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1
}

# In the suites system, policy, ranks, jobs, continuity, compat, hostile, pcp, monitor, docs, packages and containers uncored opens perf events;
# one case of validate mounts a folder. Without root, and without a sudo that asks nothing, these tests say so and skip.
tests_prefix() {
	local suite=$1

	if [[ $suite =~ ^(validate|system|policy|ranks|jobs|continuity|compat|hostile|pcp|monitor|docs|packages|containers)$ ]] && ! is_root && sudo -n true 2>/dev/null; then
		echo sudo -n
	fi
}

# Unit tests mostly wait, for time limits that they try: more of them run at once than there are CPUs.
tests_at_once() {
	local n

	n=$(nproc)
	[[ $1 != unit ]] || n=$((3 * n))
	echo "$n"
}

# Runs one suite of one build folder. Failures are in its report, so meson's status is not used.
tests_run_suite() {
	local folder=$1 suite=$2 prefix environment

	printf '\n== %s: %s\n' "$folder" "$suite"
	rm -f "$folder/meson-logs/$suite."{json,txt,junit.xml}
	read -ra prefix <<<"$(tests_prefix "$suite")"
	mapfile -t environment < <(tests_environment)
	"${prefix[@]}" env "${environment[@]}" ${CI:+CI="$CI"} \
		meson test -C "$folder" --no-rebuild --suite "$suite" --logbase "$suite" \
		--num-processes "$(tests_at_once "$suite")" --print-errorlogs --timeout-multiplier 3 </dev/null || true
}

# A computer that cannot make a guest runs the other suites; the guests' suite says so and skips.
tests_make_guests() {
	local kind

	for kind in "${GUEST_KINDS[@]}"; do
		./dev guest "$kind" --make || say "There will be no tests in the $kind guest."
	done
}

# Where PAPI cannot be had, the tests with it say so and skip.
tests_make_papi() {
	./dev papi || say "There will be no tests with PAPI itself."
}

# The other architecture's build is made on amd64 only.
tests_can_build() {
	[[ $1 != "$CROSS_FOLDER" || $(dpkg --print-architecture) == amd64 ]]
}

# Installs all packages, so that nothing is installed while suites run.
tests_setup() {
	local kind

	setup_to_test
	tests_can_build "$CROSS_FOLDER" || { say "There will be no $CROSS_FOLDER: it is made on amd64." && return 0; }
	setup_packages "${CROSS_NEEDS[@]}"
	[[ " $* " == *" guests "* ]] || return 0
	for kind in "${GUEST_KINDS[@]}"; do
		(guest_setup "$kind") || say "There will be no tests in the $kind guest."
	done
}

# $1: a build folder, "guests", or a suite of the first folder that runs in the background
tests_build() {
	case $1 in
	guests) tests_make_guests ;;
	analysis) tests_run_ahead "${TESTS_BUILDS[0]}" "$1" ;;
	"$CROSS_FOLDER") cross_build ;;
	"$FUZZ_COVERAGE_FOLDER")
		say "Building into $1/"
		fuzz_build_coverage
		;;
	*)
		say "Building into $1/"
		build_in "$1"
		;;
	esac
}

# Runs a suite whose cases only compute. It is printed in its turn.
tests_run_ahead() {
	local said=$1/meson-logs/$2.said

	tests_run_suite "$@" >"$said.new" 2>&1 && mv "$said.new" "$said"
}

# Prints a suite that has run in the background, or runs it.
tests_show_suite() {
	local said=$1/meson-logs/$2.said

	if [[ -e $said ]]; then
		cat "$said"
		rm "$said"
	else
		tests_run_suite "$@"
	fi
}

tests_check_names() {
	local all="${TESTS_SUITES[*]} ${TESTS_SECOND_STAGE[*]}" name

	for name in "$@"; do
		[[ " $all " == *" $name "* ]] || {
			say "There is no suite '$name'; the suites are: $all."
			exit 2
		}
	done
}

# Builds in the background, on CPUs that nothing else wants: many suites of the first folder mostly wait.
# A failure shows when the part is built, or printed, in its turn. $@: as for tests_build
tests_build_ahead() {
	local part

	[[ $# -gt 0 ]] || return 0
	set -m # a process group of its own, which can be ended as a whole
	{
		chrt --idle --pid 0 "$BASHPID" || exit 0
		for part in "$@"; do
			(tests_build "$part")
		done
	} >/dev/null 2>&1 </dev/null &
	set +m
	TESTS_AHEAD=$!
	trap 'kill -- "-$TESTS_AHEAD" 2>/dev/null' EXIT
}

# Nothing else may install packages or build meanwhile.
tests_wait_for_builds() {
	[[ -n $TESTS_AHEAD ]] || return 0
	! kill -0 "$TESTS_AHEAD" 2>/dev/null || say "Waiting for what is built in the background, some minutes at most"
	wait "$TESTS_AHEAD" || true
	TESTS_AHEAD=
	trap - EXIT
}

# Prints the suites of a build folder that are among the others.
tests_wanted() {
	local folder=$1 suite
	shift

	tests_can_build "$folder" || return 0
	for suite in $(tests_suites_of "$folder"); do
		[[ " $* " != *" $suite "* ]] || echo "$suite"
	done
}

# What a suite needs beside its build folder.
tests_prepare() {
	case $1 in
	analysis) tests_wait_for_builds ;;
	pcp) tests_wait_for_builds && tests_make_papi ;;
	guests) tests_wait_for_builds && tests_make_guests ;;
	esac
}

# Runs the named suites in each build folder that has them, and notes their reports in the caller's `reports`.
tests_run_stage() {
	local folders=() later folder suite

	rm -f "${TESTS_BUILDS[0]}"/meson-logs/*.said
	for folder in "${TESTS_BUILDS[@]}"; do
		[[ -z $(tests_wanted "$folder" "$@") ]] || folders+=("$folder")
	done
	later=("${folders[@]:1}")
	[[ $# -eq 1 || " $* " != *" analysis "* ]] || later+=(analysis)
	# A guest is made as root, and nobody could give sudo a password there.
	[[ " $* " != *" guests "* ]] || ! is_root || later+=(guests)
	for folder in "${folders[@]}"; do
		tests_wait_for_builds
		tests_build "$folder"
		for suite in $(tests_wanted "$folder" "$@"); do
			[[ $suite == ranks ]] || { tests_build_ahead "${later[@]}" && later=(); }
			tests_prepare "$suite"
			tests_show_suite "$folder" "$suite"
			reports+=("$folder/meson-logs/$suite")
		done
	done
	tests_wait_for_builds
}

# Without names the suites of the first stage; with --all those of both.
tests_run() {
	local stages=("${TESTS_SUITES[*]}") stage reports=()

	if [[ $* == --all ]]; then
		stages+=("${TESTS_SECOND_STAGE[*]}")
	elif [[ $# -gt 0 ]]; then
		tests_check_names "$@"
		stages=("$*")
	fi
	tests_setup "${stages[@]}"
	for stage in "${stages[@]}"; do
		# shellcheck disable=SC2086
		tests_run_stage $stage
	done
	python3 tests/dev/summary.py HACKING.md "${reports[@]}"
}
