# SPDX-License-Identifier: BSD-3-Clause
# ./dev papers: the experiments of the papers (doc/papers.md) on the simulated memory controller.

# [--all] [--csv FILE] [EXPERIMENT...]
# --cloverleaf [--uncored] [--cells N] [--steps N] [--ranks N] DIR
papers_run() {
	local program=run_experiments.py

	if [[ ${1:-} == --cloverleaf ]]; then
		program=cloverleaf/measure.py
		shift
		setup_packages gfortran
	fi
	traffic_can_run || [[ " $* " == *" --uncored "* ]] ||
		fail "The simulation runs programs of x86-64 on such a computer, and this is $(uname -m)."
	build_run
	setup_packages "${SETUP_TO_SIMULATE[@]}"
	UNCORE_SOURCE_ROOT=$PWD UNCORE_BUILD_ROOT=$PWD/build exec python3 -B "tests/papers/$program" "$@"
}
