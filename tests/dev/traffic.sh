# SPDX-License-Identifier: BSD-3-Clause
# ./dev traffic: a program of the user on the simulated machine of tests/traffic.

traffic_can_run() {
	[[ $(uname -m) == x86_64 ]]
}

# [KEY=VALUE...] -- PROGRAM [ARGS...]
traffic_run() {
	local root=$PWD

	traffic_can_run || fail "The simulation runs programs of x86-64 on such a computer, and this is $(uname -m)."
	build_run
	setup_packages "${SETUP_TO_SIMULATE[@]}"
	cd "$OLDPWD" # ./dev left it; the program and its files may be there
	exec python3 -B "$root/tests/traffic/run.py" "$root/build" "$@"
}
