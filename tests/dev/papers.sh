# SPDX-License-Identifier: BSD-3-Clause
# ./dev papers: the experiments of the papers (doc/papers.md) on the simulated memory controller.

# Are these arguments "--all", and no experiment by its name?
papers_wants_guests() {
	local all=false

	while [[ $# -gt 0 ]]; do
		case $1 in
		--all) all=true ;;
		--csv) shift ;;
		--csv=*) ;;
		*) return 1 ;;
		esac
		shift
	done
	$all
}

# The machines with NUMA nodes, tiers of memory and channels of their own.
papers_run_guests() {
	local status=0

	say "Now whole machines: every kernel and every planted defect on each of them"
	./dev guest x86 --all traffic validate tiers papi || status=1
	./dev guest power9 --all traffic || status=1
	return $status
}

# [--all] [--csv FILE] [EXPERIMENT...]
# --cloverleaf [--uncored] [--cells N] [--steps N] [--ranks N] DIR
papers_run() {
	local program=run_experiments.py status=0

	if [[ ${1:-} == --cloverleaf ]]; then
		program=cloverleaf/measure.py
		shift
		setup_packages gfortran
	fi
	traffic_can_run || [[ " $* " == *" --uncored "* ]] ||
		fail "The simulation runs programs of x86-64 on such a computer, and this is $(uname -m)."
	build_run
	setup_packages "${SETUP_TO_SIMULATE[@]}"
	UNCORE_SOURCE_ROOT=$PWD UNCORE_BUILD_ROOT=$PWD/build python3 -B "tests/papers/$program" "$@" || status=$?
	! papers_wants_guests "$@" || papers_run_guests || status=1
	return $status
}
