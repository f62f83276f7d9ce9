# SPDX-License-Identifier: BSD-3-Clause
# ./dev fuzz: every target of tests/fuzz with libFuzzer, for its share of the time.
#
# The build is clang's, with address and undefined-behaviour sanitizers and with the counters that libFuzzer goes by in
# the project's own files. Inputs that it finds go to build-fuzz/found-TARGET/, with which the next run begins. Another
# build measures how far inputs reach, in percent of the branches of the files that a target is meant for
# (tests/fuzz/meant). ./dev fuzz coverage does only that. Each build unpacks the saved inputs, tests/fuzz/corpora/TARGET,
# into its tests/fuzz/corpus-TARGET/.

FUZZ_FOLDER=build-fuzz
FUZZ_COVERAGE_FOLDER=build-coverage
FUZZ_DEFAULT_S=60
FUZZ_INPUT_MAX=8192    # bytes
FUZZ_INPUT_TIMEOUT_S=30 # for one input, on a busy machine: then it is a finding

fuzz_build() {
	if [[ ! -f $FUZZ_FOLDER/build.ninja ]]; then
		CC=clang quietly "configure $FUZZ_FOLDER" meson setup "$FUZZ_FOLDER" -Dfuzz=true \
			-Db_sanitize=address,undefined -Db_lundef=false \
			-Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined'
	fi
	quietly "build $FUZZ_FOLDER" ninja -C "$FUZZ_FOLDER" fuzzers
}

# The build of clang that says which branches inputs reach; meson's option leaves the flags to us. Meson runs a program
# to see whether the compiler works, which would leave its profile in the tree.
fuzz_build_coverage() {
	if [[ ! -f $FUZZ_COVERAGE_FOLDER/build.ninja ]]; then
		LLVM_PROFILE_FILE=/dev/null CC=clang quietly "configure $FUZZ_COVERAGE_FOLDER" meson setup "$FUZZ_COVERAGE_FOLDER" \
			-Dfuzz_coverage=true -Dc_args='-fprofile-instr-generate -fcoverage-mapping' \
			-Dc_link_args=-fprofile-instr-generate
	fi
	quietly "build $FUZZ_COVERAGE_FOLDER" ninja -C "$FUZZ_COVERAGE_FOLDER" replays
}

# $1: target. A file below its number is a complaint here, and a failure in suite fuzz-replay.
fuzz_print_coverage() {
	local target=$1 folders=("$FUZZ_COVERAGE_FOLDER/tests/fuzz/corpus-$1") lines

	if compgen -G "$FUZZ_FOLDER/found-$target/*" >/dev/null; then
		folders+=("$FUZZ_FOLDER/found-$target")
	fi
	lines=$(python3 tests/fuzz/coverage.py tests/fuzz/meant "$target" \
		"$FUZZ_COVERAGE_FOLDER/tests/fuzz/replay-$target" "${folders[@]}") || true
	sed -nE 's/^# /    /p; s/^not ok [0-9]+ - /    MISSED: /p' <<<"$lines"
}

# $1: target, $2: seconds. Its log is shown if it finds something.
fuzz_one() {
	local target=$1 seconds=$2 found=$FUZZ_FOLDER/found-$1 log=$FUZZ_FOLDER/fuzz-$1.log environment crash
	local saved=$FUZZ_FOLDER/tests/fuzz/corpus-$1

	mkdir -p "$found"
	mapfile -t environment < <(tests_environment)
	if env "${environment[@]}" "$FUZZ_FOLDER/tests/fuzz/fuzz-$target" -print_final_stats=1 \
		-max_total_time="$seconds" -timeout="$FUZZ_INPUT_TIMEOUT_S" -max_len="$FUZZ_INPUT_MAX" \
		-artifact_prefix="$FUZZ_FOLDER/found-by-$target-" \
		"$found" "$saved" >"$log" 2>&1 </dev/null; then
		printf '%s: %s executions, %s inputs saved and %s found\n' "$target" \
			"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
			"$(find "$saved" -type f | wc -l)" "$(find "$found" -type f | wc -l)"
		fuzz_print_coverage "$target"
		return 0
	fi
	tail -n 60 "$log" >&2
	crash=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	say "$target: the fuzzer has found a fault; the input is ${crash:-not known, see $log}." \
		"Fix it, and save the input: python3 tests/fuzz/corpus.py add tests/fuzz/corpora/$target INPUT NAME."
	return 1
}

# The targets that could be built, one a line.
fuzz_targets() {
	local program

	for program in "$1"/tests/fuzz/"$2"-*; do
		[[ ! -f $program || ! -x $program ]] || printf '%s\n' "${program##*/"$2"-}"
	done
}

fuzz_coverage() {
	local target

	setup_to_test
	say "Building into $FUZZ_COVERAGE_FOLDER/"
	fuzz_build_coverage
	for target in $(fuzz_targets "$FUZZ_COVERAGE_FOLDER" replay); do
		printf '%s\n' "$target"
		fuzz_print_coverage "$target"
	done
}

fuzz_run() {
	local seconds=${1:-$FUZZ_DEFAULT_S} targets share target status=0

	[[ $# -le 1 && $seconds =~ ^([1-9][0-9]*|coverage)$ ]] || {
		say "./dev fuzz takes one number of seconds, for all targets together, or the word coverage."
		exit 2
	}
	if [[ $seconds == coverage ]]; then
		fuzz_coverage
		return
	fi
	setup_to_test
	say "Building into $FUZZ_FOLDER/ and $FUZZ_COVERAGE_FOLDER/"
	fuzz_build
	fuzz_build_coverage
	mapfile -t targets < <(fuzz_targets "$FUZZ_FOLDER" fuzz)
	share=$((seconds / ${#targets[@]}))
	for target in "${targets[@]}"; do
		fuzz_one "$target" "$((share > 0 ? share : 1))" || status=1
	done
	return "$status"
}
