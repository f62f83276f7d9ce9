# SPDX-License-Identifier: BSD-3-Clause
# ./dev packages: Debian packages of a clean copy of the tree. ./dev test has the tests that belong to a package build.

PACKAGES_FOLDER=build-packages

packages_run() {
	setup_packages "${SETUP_TO_BUILD[@]}" "${SETUP_TO_PACKAGE[@]}"
	say "Building packages into $PACKAGES_FOLDER/"
	rm -rf "$PACKAGES_FOLDER"
	DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
		quietly "build packages" tests/packages/build-debs "$PACKAGES_FOLDER"
	printf '%s\n' "$PACKAGES_FOLDER"/*.deb
}
