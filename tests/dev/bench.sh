# SPDX-License-Identifier: BSD-3-Clause
# ./dev bench: the benchmark, as root because it opens counters itself to compare with.

bench_run() {
	setup_packages
	say "Building into build-bench/"
	build_in build-bench
	as_root build-bench/tests/bench/uncore-bench "$@"
}
