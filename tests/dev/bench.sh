# SPDX-License-Identifier: BSD-3-Clause
# ./dev bench: the benchmarks, as root because they open counters themselves to compare with.

# $1: "pcp" for the benchmark through PCP, "ranks" for jobs and users, "heap" for libuncore-heap.so;
# the other arguments are the program's.
bench_run() {
	local program=uncore-bench

	if [[ ${1:-} == pcp ]]; then
		program=pcp/uncore-bench-pcp
		shift
		setup_to_test # PCP itself, to compare with
	elif [[ ${1:-} == ranks ]]; then
		program=ranks/uncore-bench-ranks
		shift
		setup_to_build
	elif [[ ${1:-} == heap ]]; then
		program=heap/uncore-bench-heap
		shift
		setup_to_build
	else
		setup_to_build
	fi
	say "Building into build-bench/"
	build_in build-bench
	[[ -x build-bench/tests/bench/$program ]] || fail "It was not built: PCP's libraries are missing."
	as_root env UNCORE_SOURCE_ROOT="$PWD" UNCORE_BUILD_ROOT="$PWD/build-bench" \
		"build-bench/tests/bench/$program" "$@"
}
