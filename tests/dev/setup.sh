# SPDX-License-Identifier: BSD-3-Clause
# Installs the packages that building and testing need (Debian 12 names).

SETUP_PACKAGES=(
	# to build
	gcc libc6-dev pkg-config meson ninja-build
	libpfm4-dev libhwloc-dev libsystemd-dev libinih-dev libjson-c-dev scdoc
	# to test
	libcmocka-dev binutils clang clang-format g++ git libclang-rt-14-dev mandoc python3
	systemd util-linux
)

# Prints those of SETUP_PACKAGES that are not installed.
setup_missing() {
	local package

	for package in "${SETUP_PACKAGES[@]}"; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || printf '%s\n' "$package"
	done
}

setup_packages() {
	local missing
	local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)

	command -v dpkg-query apt-get >/dev/null ||
		fail "This is not a Debian system: install the equivalents of ${SETUP_PACKAGES[*]} by hand, then use meson."
	mapfile -t missing < <(setup_missing)
	[[ ${#missing[@]} -gt 0 ]] || return 0
	say "Installing ${missing[*]}"
	is_root || as_root true # asks for a password, if it must, before output is hidden
	quietly "refresh the package lists" as_root "${apt[@]}" update
	quietly "install packages" as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}
