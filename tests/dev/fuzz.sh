# SPDX-License-Identifier: BSD-3-Clause
# ./dev fuzz: every target of tests/fuzz with libFuzzer, for its share of the time.
#
# The build is clang's, with address and undefined-behaviour sanitizers and with the counters that libFuzzer goes
# by in the project's own files. What is found goes to build-fuzz/found-TARGET/, which the next run begins with.

FUZZ_FOLDER=build-fuzz
FUZZ_DEFAULT_S=60
FUZZ_INPUT_MAX=8192    # bytes
FUZZ_INPUT_TIMEOUT_S=5 # for one input: then it is a finding

fuzz_build() {
	if [[ ! -f $FUZZ_FOLDER/build.ninja ]]; then
		CC=clang quietly "configure $FUZZ_FOLDER" meson setup "$FUZZ_FOLDER" -Dfuzz=true \
			-Db_sanitize=address,undefined -Db_lundef=false \
			-Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=undefined'
	fi
	quietly "build $FUZZ_FOLDER" ninja -C "$FUZZ_FOLDER" fuzzers
}

# libFuzzer's list of functions, one "reached total file" a line for each file of the project that is linked.
# The target itself, and the rest of tests/, do not count.
fuzz_edges_by_file() {
	sed -nE "s|^(UN)?COVERED_FUNC: hits: [0-9]+ edges: ([0-9]+)/([0-9]+) [^ ]+ (.*/\.\./)?(.*):[0-9]+\$|\2 \3 \5|p" "$1" |
		awk '$3 ~ /^(common|daemon|client|pmda)\// { reached[$3] += $1; all[$3] += $2 }
			END { for (file in all) print reached[file], all[file], file }' | sort -k3
}

# $1: target. Replays what is saved and found, once, to count edges.
fuzz_print_coverage() {
	local target=$1 log=$FUZZ_FOLDER/coverage-$1.txt

	"$FUZZ_FOLDER/tests/fuzz/fuzz-$target" -runs=0 -print_coverage=1 -max_len="$FUZZ_INPUT_MAX" \
		"$FUZZ_FOLDER/found-$target" "tests/fuzz/corpus-$target" >"$log" 2>&1 </dev/null || true
	fuzz_edges_by_file "$log" | awk '
		{ reached += $1; all += $2; lines = lines sprintf("    %4d of %4d  %s\n", $1, $2, $3) }
		END {
			if (!all) { print "    edges: not known, llvm-symbolizer is missing"; exit }
			printf "    %4d of %4d edges (%d %%), in\n%s", reached, all, 100 * reached / all, lines
		}'
}

# $1: target, $2: seconds. Its log is shown if it finds something.
fuzz_one() {
	local target=$1 seconds=$2 found=$FUZZ_FOLDER/found-$1 log=$FUZZ_FOLDER/fuzz-$1.log environment crash

	mkdir -p "$found"
	mapfile -t environment < <(tests_environment)
	if env "${environment[@]}" "$FUZZ_FOLDER/tests/fuzz/fuzz-$target" -print_final_stats=1 \
		-max_total_time="$seconds" -timeout="$FUZZ_INPUT_TIMEOUT_S" -max_len="$FUZZ_INPUT_MAX" \
		-artifact_prefix="$FUZZ_FOLDER/found-by-$target-" \
		"$found" "tests/fuzz/corpus-$target" >"$log" 2>&1 </dev/null; then
		printf '%s: %s executions, %s inputs saved and %s found\n' "$target" \
			"$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
			"$(find "tests/fuzz/corpus-$target" -type f | wc -l)" "$(find "$found" -type f | wc -l)"
		fuzz_print_coverage "$target"
		return 0
	fi
	tail -n 60 "$log" >&2
	crash=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	say "$target: the fuzzer has found a fault; the input is ${crash:-not known, see $log}." \
		"Fix it, and save the input in tests/fuzz/corpus-$target/."
	return 1
}

fuzz_run() {
	local seconds=${1:-$FUZZ_DEFAULT_S} targets=() program share target status=0

	[[ $# -le 1 && $seconds =~ ^[1-9][0-9]*$ ]] || {
		say "./dev fuzz takes one number of seconds, for all targets together."
		exit 2
	}
	setup_to_test
	say "Building into $FUZZ_FOLDER/"
	fuzz_build
	for program in "$FUZZ_FOLDER"/tests/fuzz/fuzz-*; do
		[[ ! -f $program || ! -x $program ]] || targets+=("${program##*/fuzz-}")
	done
	share=$((seconds / ${#targets[@]}))
	for target in "${targets[@]}"; do
		fuzz_one "$target" "$((share > 0 ? share : 1))" || status=1
	done
	return "$status"
}
