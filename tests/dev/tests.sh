# SPDX-License-Identifier: BSD-3-Clause
# ./dev test: which suites run in which build folder, at which stage, and as which user.
#
# The first stage is for each change; it takes 25 minutes on two CPUs. The second stage belongs to CI and
# releases: it has what a change rarely breaks, and what takes long.
# A stage has two lanes. Suites in the foreground mostly wait. Meanwhile the background builds what comes later, and then
# runs the suites whose cases only compute, on CPUs that nothing else wants. There a process may stand still for minutes,
# so a suite with uncored is not among them: its clients would give up.
# quiet comes first: page faults of what is built in the background are noise, and it would measure again and again.

TESTS_BUILDS=(build build-asan build-tsan build-ppc64el "$FUZZ_COVERAGE_FOLDER")
TESTS_SUITES=(
	quiet ranks unit platforms traffic validate papers system policy jobs continuity compat hostile pcp monitor
	docs units packages containers guest analysis fuzz-replay abi build man format
)
TESTS_SECOND_STAGE=(musl reproducible guests) # and some of the others, in builds with sanitizers
TESTS_COMPUTING=" analysis fuzz-replay abi build man format "
TESTS_AHEAD=       # the process that is the background
TESTS_AHEAD_TO_DO= # a folder with a file for each of its parts, which it removes when it is through

# Sanitizers see nothing new in man pages, symbols, layout and units; threads matter in three suites.
# $1: folder, $2: stage, 1 or 2
tests_suites_of() {
	case $1-$2 in
	build-1) echo "${TESTS_SUITES[@]}" ;;
	build-2) echo musl reproducible guests ;;
	build-asan-1) echo unit fuzz-replay ;;
	build-asan-2) echo system policy ;;
	build-tsan-2) echo unit system policy ;;
	build-ppc64el-1) echo unit ;;
	"$FUZZ_COVERAGE_FOLDER-1") echo fuzz-replay ;;
	esac
}

tests_environment() {
	printf '%s\n' \
		ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1
}

# In these suites uncored opens perf events, or a case mounts a folder. Without root, and without a sudo that asks
# nothing, such tests say so and skip.
TESTS_AS_ROOT=" quiet ranks validate system policy jobs continuity compat hostile pcp monitor docs packages containers "

tests_prefix() {
	if [[ $TESTS_AS_ROOT == *" $1 "* ]] && ! is_root && sudo -n true 2>/dev/null; then
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
# $3: by how much the limits of tests are multiplied, 3 unless told
tests_run_suite() {
	local folder=$1 suite=$2 patience=${3:-3} prefix environment

	printf '\n== %s: %s\n' "$folder" "$suite"
	rm -f "$folder/meson-logs/$suite."{json,txt,junit.xml}
	read -ra prefix <<<"$(tests_prefix "$suite")"
	mapfile -t environment < <(tests_environment)
	"${prefix[@]}" env "${environment[@]}" ${CI:+CI="$CI"} \
		meson test -C "$folder" --no-rebuild --suite "$suite" --logbase "$suite" \
		--num-processes "$(tests_at_once "$suite")" --print-errorlogs --timeout-multiplier "$patience" </dev/null || true
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
	[[ " $* " =~ " guest"s?" " ]] || return 0
	for kind in "${GUEST_KINDS[@]}"; do
		(guest_setup "$kind") || say "There will be no tests in the $kind guest."
	done
}

# $1: a build folder, "guests", "papi", or a build folder and a suite
tests_build() {
	case $1 in
	guests) tests_make_guests ;;
	papi) tests_make_papi ;;
	"$CROSS_FOLDER") cross_build ;;
	"$FUZZ_COVERAGE_FOLDER")
		say "Building into $1/"
		fuzz_build_coverage
		;;
	*\ *) tests_run_ahead "${1% *}" "${1#* }" ;;
	*)
		say "Building into $1/"
		build_in "$1"
		;;
	esac
}

# Runs a suite whose cases only compute. It is printed in its turn. It may get no CPU for long.
tests_run_ahead() {
	local said=$1/meson-logs/$2.said

	tests_run_suite "$@" 20 >"$said.new" 2>&1 && mv "$said.new" "$said"
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

	[[ $* != --all ]] || return 0
	for name in "$@"; do
		[[ " $all " == *" $name "* ]] || {
			say "There is no suite '$name'; the suites are: $all."
			exit 2
		}
	done
}

# Does all parts, one after the other, on CPUs that nothing else wants. A failure shows when the part is built, or
# printed, in its turn. $@: as for tests_build
tests_begin_ahead() {
	local part

	[[ $# -gt 0 ]] || return 0
	TESTS_AHEAD_TO_DO=$(mktemp -d)
	touch "${@/#/$TESTS_AHEAD_TO_DO/}"
	set -m # a process group of its own, which can be ended as a whole
	{
		chrt --idle --pid 0 "$BASHPID" || exit 0
		for part in "$@"; do
			(tests_build "$part")
			rm -f "$TESTS_AHEAD_TO_DO/$part"
		done
	} >/dev/null 2>&1 </dev/null &
	set +m
	TESTS_AHEAD=$!
	trap 'kill -- "-$TESTS_AHEAD" 2>/dev/null; rm -rf "$TESTS_AHEAD_TO_DO"' EXIT
}

# $1: a process. Tests of meson have process groups of their own.
tests_descendants() {
	local child

	for child in $(pgrep -P "$1"); do
		echo "$child"
		tests_descendants "$child"
	done
}

# $1: --other or --idle, of chrt. The kernel lets only root leave --idle; others wait longer.
tests_schedule_ahead() {
	local pid

	for pid in "$TESTS_AHEAD" $(tests_descendants "$TESTS_AHEAD"); do
		chrt "$1" --pid 0 "$pid" 2>/dev/null || true
	done
}

# Waits for a part of the background, if it has it. Meanwhile it gets its share of the CPUs, for it may have to compete.
tests_wait_for() {
	tests_is_ahead "$1" || return 0
	say "Waiting for $1 in the background"
	while tests_is_ahead "$1"; do
		tests_schedule_ahead --other
		sleep 1
	done
	tests_schedule_ahead --idle
}

tests_is_ahead() {
	[[ -e $TESTS_AHEAD_TO_DO/$1 ]] && kill -0 "$TESTS_AHEAD" 2>/dev/null
}

tests_end_ahead() {
	[[ -n $TESTS_AHEAD ]] || return 0
	wait "$TESTS_AHEAD" || true
	rm -rf "$TESTS_AHEAD_TO_DO"
	TESTS_AHEAD=
	trap - EXIT
}

# Prints the suites of a build folder that are among the others. $1: stages, $2: folder; the rest are suites
tests_wanted() {
	local stages=$1 folder=$2 stage suite
	shift 2

	tests_can_build "$folder" || return 0
	for stage in $stages; do
		for suite in $(tests_suites_of "$folder" "$stage"); do
			[[ " $* " != *" $suite "* ]] || echo "$suite"
		done
	done
}

# Waits for what a suite needs beside its build folder, and makes it if it is not there.
tests_prepare() {
	case $1 in
	pcp) tests_wait_for papi && tests_make_papi ;;
	guest | guests) tests_wait_for guests && tests_make_guests ;;
	esac
}

# Does a task, "FOLDER SUITE", and notes its report in the caller's `reports`.
tests_do() {
	local folder=${1% *} suite=${1#* }

	tests_wait_for "$1"
	tests_prepare "$suite"
	tests_show_suite "$folder" "$suite"
	reports+=("$folder/meson-logs/$suite")
}

# Shares the tasks of the named suites among the caller's lists: `waiting` for the foreground, `ahead` for the
# background. If there is none for the foreground, it does all. $1: stages; the rest are suites
tests_share() {
	local folder suite

	for folder in "${TESTS_BUILDS[@]}"; do
		for suite in $(tests_wanted "$1" "$folder" "${@:2}"); do
			if [[ $folder == "${TESTS_BUILDS[0]}" && $TESTS_COMPUTING == *" $suite "* ]]; then
				ahead+=("$folder $suite")
			else
				waiting+=("$folder $suite")
			fi
		done
	done
	[[ ${#waiting[@]} -gt 0 ]] || { waiting=("${ahead[@]}") && ahead=(); }
}

# Prints the parts of the background: what the caller's tasks `waiting` need, and the tasks `ahead`.
tests_parts() {
	[[ " ${waiting[*]} " != *" pcp "* ]] || echo papi
	printf '%s\n' "${waiting[@]% *}" | uniq | sed 1d
	# A guest is made as root, and nobody could give sudo a password there.
	[[ ! " ${waiting[*]} " =~ " guest"s?" " ]] || ! is_root || echo guests
	[[ ${#ahead[@]} -eq 0 ]] || printf '%s\n' "${ahead[@]}"
}

# Runs the named suites in each build folder that has them. $1: stages; the rest are suites
tests_run_stages() {
	local waiting=() ahead=() parts task built=

	rm -f "${TESTS_BUILDS[0]}"/meson-logs/*.said
	tests_share "$@"
	mapfile -t parts < <(tests_parts)
	for task in "${waiting[@]}"; do
		[[ ${task% *} == "$built" ]] || { tests_wait_for "${task% *}" && tests_build "${task% *}"; }
		built=${task% *}
		[[ $task == *" quiet" ]] || { tests_begin_ahead "${parts[@]}" && parts=(); }
		tests_do "$task"
	done
	for task in "${ahead[@]}"; do
		tests_do "$task"
	done
	tests_end_ahead
}

# Without names the suites of the first stage; with --all those of both.
tests_run() {
	local reports=()

	tests_check_names "$@"
	if [[ $# -eq 0 || $* == --all ]]; then
		tests_setup "${TESTS_SUITES[@]}" "${TESTS_SECOND_STAGE[@]}"
		tests_run_stages 1 "${TESTS_SUITES[@]}"
		[[ $# -eq 0 ]] || tests_run_stages 2 "${TESTS_SUITES[@]}" "${TESTS_SECOND_STAGE[@]}"
	else
		tests_setup "$@"
		tests_run_stages "1 2" "$@"
	fi
	python3 tests/dev/summary.py HACKING.md "${reports[@]}"
}
