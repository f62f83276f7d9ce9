# SPDX-License-Identifier: BSD-3-Clause
# ./dev packages: Debian packages of a clean copy of the tree. ./dev test has the tests that belong to a package build.

PACKAGES_FOLDER=build-packages

# $1: a folder for them, which may be there with others.
packages_build() {
	say "Building packages into $1/"
	rm -rf "$1"
	DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" quietly "build packages" tests/packages/build-debs "$1"
}

packages_run() {
	setup_packages "${SETUP_TO_BUILD[@]}" "${SETUP_TO_PACKAGE[@]}"
	packages_build "$PACKAGES_FOLDER"
	printf '%s\n' "$PACKAGES_FOLDER"/*.deb
}
