# SPDX-License-Identifier: BSD-3-Clause
# ./dev test: which suites run in which build folder, and what is made before them.
#
# The gate is for each change: 10 minutes on two CPUs. The rest belongs to releases: it has what measures times, what a
# change rarely breaks, and what takes long. tests/dev/suites.py runs the suites.

TESTS_GATE=(
	build unit platforms system policy continuity ranks traffic docs validate pcp-agent jobs-alone hostile-facts fuzz-replay abi
	man format units
)
TESTS_REST=(
	long validate-beside papers jobs compat hostile pcp papi monitor terminal pages python cplusplus fortran markers
	guest by-read musl newcomer crowds packages containers guests flang markers-all analysis
)
# Sanitizers see nothing new in man pages, symbols, layout and units; threads matter in three suites.
TESTS_BUILDS=(build build-asan build-tsan build-ppc64el "$FUZZ_COVERAGE_FOLDER")
declare -A TESTS_GATE_OF=([build]="${TESTS_GATE[*]}" [build-asan]="unit")
declare -A TESTS_REST_OF=(
	[build]="${TESTS_REST[*]}"
	[build-asan]="long fuzz-replay system policy"
	[build-tsan]="unit long system policy"
	[build-ppc64el]="unit"
	["$FUZZ_COVERAGE_FOLDER"]="fuzz-replay"
)

tests_environment() {
	printf '%s\n' \
		ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		TSAN_OPTIONS=halt_on_error=1
}

# Prints FOLDER=SUITE,SUITE.. for each folder that runs some of the suites. $1: gate, rest or both; the rest are suites
tests_tasks() {
	local stages=$1 folder suite suites
	shift

	for folder in "${TESTS_BUILDS[@]}"; do
		[[ $folder != "$CROSS_FOLDER" || $(dpkg --print-architecture) == amd64 ]] || continue # it is made on amd64
		suites=()
		for suite in $(tests_of "$stages" "$folder"); do
			[[ " $* " != *" $suite "* ]] || suites+=("$suite")
		done
		[[ ${#suites[@]} -eq 0 ]] || (IFS=, && echo "$folder=${suites[*]}")
	done
}

# $1: gate, rest or both; $2: folder
tests_of() {
	[[ $1 == rest ]] || echo "${TESTS_GATE_OF[$2]:-}"
	[[ $1 == gate ]] || echo "${TESTS_REST_OF[$2]:-}"
}

tests_check_names() {
	local all="${TESTS_GATE[*]} ${TESTS_REST[*]}" name

	for name in "$@"; do
		[[ " $all " == *" $name "* ]] || {
			say "There is no suite '$name'; the suites are: $all."
			exit 2
		}
	done
}

# Prints the kinds of guests that suites boot.
tests_guests_of() {
	case " $* " in
	*" guests "*) echo "${GUEST_KINDS[@]}" ;;
	*" guest "*) echo x86 ;;
	esac
}

# Installs all packages, so that nothing is installed while suites run. The arguments are suites.
tests_setup() {
	local suite

	setup_to_pass_gate
	for suite in "$@"; do
		[[ " ${TESTS_GATE[*]} " == *" $suite "* ]] || { setup_to_test && break; }
	done
}

# Makes what suites need beside their build folders. Where it cannot be had, its tests say so and skip.
tests_prepare() {
	local kind

	[[ ! " $* " =~ " "(pcp|papi|guests)" " ]] || ./dev papi || say "There will be no tests with PAPI itself."
	for kind in $(tests_guests_of "$@"); do
		./dev guest "$kind" --make || say "There will be no tests in the $kind guest."
	done
}

# $1: a task. The unit tests alone need half of a build.
tests_build() {
	say "Building into ${1%%=*}/"
	case $1 in
	"$CROSS_FOLDER"=*) cross_build ;;
	"$FUZZ_COVERAGE_FOLDER"=*) fuzz_build_coverage ;;
	*=unit) build_in "${1%%=*}" unit-tests ;;
	*) build_in "${1%%=*}" ;;
	esac
}

# Builds, runs what could be built, and prints the summary. The arguments are tasks.
tests_run_tasks() {
	local environment options=() task built=()

	for task in "$@"; do
		if ! (tests_build "$task"); then
			[[ $task != build=* ]] || return 1 # what the plain build refuses, no other takes
			task=${task%%=*}= # without suites: it could not be built
		fi
		built+=("$task")
	done
	mapfile -t environment < <(tests_environment)
	is_root || ! sudo -n true 2>/dev/null || options=(--sudo)
	env "${environment[@]}" python3 -B tests/dev/suites.py HACKING.md "${options[@]}" "${built[@]}"
}

# Without names the gate; with --all also the rest. A suite that is named runs in every build that has it.
tests_run() {
	local stages=both suites=("$@") tasks

	[[ $# -gt 0 ]] || { stages=gate && suites=("${TESTS_GATE[@]}"); }
	[[ $* != --all ]] || suites=("${TESTS_GATE[@]}" "${TESTS_REST[@]}")
	tests_check_names "${suites[@]}"
	tests_setup "${suites[@]}"
	tests_prepare "${suites[@]}"
	mapfile -t tasks < <(tests_tasks "$stages" "${suites[@]}")
	tests_run_tasks "${tasks[@]}"
}
