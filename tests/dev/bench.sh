# SPDX-License-Identifier: BSD-3-Clause
# ./dev bench: the benchmark, as root because it opens counters itself to compare with.

bench_run() {
	setup_packages
	say "Building into build-bench/"
	build_in build-bench
	as_root env UNCORE_SOURCE_ROOT="$PWD" UNCORE_BUILD_ROOT="$PWD/build-bench" \
		build-bench/tests/bench/uncore-bench "$@"
}
