# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages that building and testing need (Debian 12 names).

SETUP_TO_BUILD=(
	gcc libc6-dev pkg-config meson ninja-build xz-utils
	dpkg-dev # without dpkg-architecture, meson installs into lib64, where neither pkg-config nor ld.so looks
	libpfm4-dev libhwloc-dev libmicrohttpd-dev libsystemd-dev scdoc
	libpcp3-dev libpcp-pmda3-dev
	libcmocka-dev libjson-c-dev python3 # for the tests, which are built with the rest
)
SETUP_TO_PACKAGE=(
	build-essential debhelper dpkg-dev dh-apparmor dh-python systemd # with systemd.pc
	checkpolicy selinux-policy-dev semodule-utils
)
# What the gate needs beside, which is small.
SETUP_TO_PASS_GATE=(
	abigail-tools # suite abi
	binutils clang-format g++ git mandoc
	musl-tools # suite ranks: another C library
	libopenmpi-dev openmpi-bin # for suites docs and ranks
	faketime pcp python3-pcp # for suites jobs-alone and pcp-agent
	systemd util-linux valgrind linux-perf
	fish zsh # for suite unit: what they complete
	strace iproute2 procps jq
)
SETUP_TO_TEST=(
	clang cppcheck libclang-rt-14-dev llvm
	tmux # for suite terminal
	prometheus prometheus-node-exporter # for suite monitor
	qemu-system-x86 # for the guest of suite traffic
	gfortran # for suite papers: a program of CloverLeaf's shape
	python3-numpy python3-pandas mypy flake8 python3-pip python3-setuptools python3-wheel python3-venv python3-ipython # for suite python
	cmake make libbenchmark-dev rustc flang-19 # for suites cplusplus and flang
	likwid libtbb-dev libtrilinos-kokkos-dev # for suites markers and markers-all: libraries whose marks programs carry, and examples
	libmpich-dev mpich libomp-dev # for suite markers: a second MPI, and OpenMP's runtime with OMPT
	libopen-trace-format2-dev otf2-tools # for suite markers: traces, as Score-P writes them
	slurmctld slurmd slurm-client munge # for suite jobs: a private Slurm
	lintian rpm cpio mmdebstrap selint apparmor # for suite packages
	chromium-headless-shell # for suite pages
	bubblewrap charliecloud-runtime podman crun uidmap yq # for suite containers
)
# The emulator whose plugin simulates a memory controller: ./dev traffic, ./dev demo, suite traffic.
SETUP_TO_SIMULATE=(qemu-user)

# Prints the packages among its arguments that are not installed.
setup_missing() {
	local package

	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || printf '%s\n' "$package"
	done
}

# $@: the packages that must be there.
setup_packages() {
	local missing

	command -v dpkg-query apt-get >/dev/null ||
		fail "This is not a Debian system: install the equivalents of $* by hand, then use meson."
	mapfile -t missing < <(setup_missing "$@")
	[[ ${#missing[@]} -gt 0 ]] || return 0
	say "Installing ${missing[*]}"
	as_root "$PWD/tests/dev/install-packages" "${missing[@]}"
	setup_look_again
}

# A folder that was configured before does not know the new packages.
setup_look_again() {
	local file

	for file in build*/build.ninja; do
		[[ ! -f $file ]] || quietly "configure ${file%/*} again" meson setup --reconfigure "${file%/*}"
	done
}

setup_to_build() {
	setup_packages "${SETUP_TO_BUILD[@]}"
}

setup_to_pass_gate() {
	setup_packages "${SETUP_TO_BUILD[@]}" "${SETUP_TO_PASS_GATE[@]}" "${SETUP_TO_SIMULATE[@]}"
}

setup_to_test() {
	setup_packages "${SETUP_TO_BUILD[@]}" "${SETUP_TO_PASS_GATE[@]}" "${SETUP_TO_SIMULATE[@]}" \
		"${SETUP_TO_PACKAGE[@]}" "${SETUP_TO_TEST[@]}"
	setup_axe
	setup_openmp
}

# Accessibility of pages, for suite pages. Without npm, or where it reaches nothing, that suite says so and skips.
setup_axe() {
	[[ ! -e build-axe/node_modules/axe-core/axe.min.js ]] || return 0
	command -v npm >/dev/null || return 0
	mkdir -p build-axe
	cp tests/pages/axe/package{,-lock}.json build-axe/
	quietly "fetch axe-core" npm ci --prefix build-axe --ignore-scripts --no-audit --no-fund || rm -rf build-axe
}

# A second version of LLVM's OpenMP, for suite markers: Debian's packages of two versions exclude each other.
setup_openmp() {
	[[ ! -e build-openmp/usr ]] || return 0
	mkdir -p build-openmp
	(cd build-openmp && quietly "fetch libomp5-19" apt-get -q -y download libomp5-19 && dpkg-deb -x libomp5-19*.deb .) ||
		say "Suite markers will not try OpenMP's runtime of LLVM 19."
}

# What ./dev build needs or, with --tests, also what ./dev test needs.
setup_run() {
	case $* in
	"") setup_to_build ;;
	--tests) setup_to_test ;;
	*) say "./dev setup: the only option is --tests." && return 2 ;;
	esac
	say "All packages are installed."
}
