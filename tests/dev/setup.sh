# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages that building and testing need (Debian 12 names).

SETUP_TO_BUILD=(
	gcc libc6-dev pkg-config meson ninja-build xz-utils
	libpfm4-dev libhwloc-dev libsystemd-dev libinih-dev libjson-c-dev scdoc
	libpcp3-dev libpcp-pmda3-dev
	libcmocka-dev python3 # for the tests, which are built with the rest
)
SETUP_TO_PACKAGE=(debhelper dpkg-dev systemd) # with systemd.pc
SETUP_TO_TEST=(
	abigail-tools # suite abi
	binutils clang clang-format cppcheck g++ git libclang-rt-14-dev llvm mandoc
	musl-tools # suites ranks, containers and musl: another C library
	systemd util-linux valgrind linux-perf faketime
	fish zsh # for suite unit: what they complete
	pcp python3-pcp
	prometheus prometheus-node-exporter # for suite monitor
	qemu-system-x86 # for the guest of suite traffic
	gfortran # for suite papers: a program of CloverLeaf's shape
	libopenmpi-dev openmpi-bin # for suite quiet: an MPI, whose launcher and faults are its own
	slurmctld slurmd slurm-client munge iproute2 procps jq # for suite jobs: a private Slurm
	lintian rpm cpio mmdebstrap selinux-policy-dev semodule-utils selint # for suite packages
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

# Packages pcp, prometheus, munge, slurmd and podman would start services, and pcp fails where systemd is not PID 1; the tests start their
# own. systemctl obeys SYSTEMD_OFFLINE. Without systemd invoke-rc.d starts what belongs to the runlevel; this one is
# that of a single user.
setup_apt() {
	as_root env DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 RUNLEVEL=1 \
		apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

# $@: the packages that must be there.
setup_packages() {
	local missing

	command -v dpkg-query apt-get >/dev/null ||
		fail "This is not a Debian system: install the equivalents of $* by hand, then use meson."
	mapfile -t missing < <(setup_missing "$@")
	[[ ${#missing[@]} -gt 0 ]] || return 0
	say "Installing ${missing[*]}"
	is_root || as_root true # asks for a password, if it must, before output is hidden
	quietly "refresh the package lists" setup_apt update
	quietly "install packages" setup_apt install -y --no-install-recommends "${missing[@]}"
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

setup_to_test() {
	setup_packages "${SETUP_TO_BUILD[@]}" "${SETUP_TO_PACKAGE[@]}" "${SETUP_TO_TEST[@]}" "${SETUP_TO_SIMULATE[@]}"
}
