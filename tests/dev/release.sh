# SPDX-License-Identifier: BSD-3-Clause
# ./dev release: what a release consists of, ready to be tagged and uploaded. It changes nothing that git knows, but for a
# description of a new libuncore, which has to be committed.

RELEASE_SUITES=(unit abi man format)

release_version() {
	sed -n "s/^  version: '\(.*\)',\$/\1/p" meson.build
}

# Of the newest entry.
release_packaged_version() {
	sed -n '1s/.*(\(.*\)-.*).*/\1/p' debian/changelog
}

release_check_tree() {
	local changes

	changes=$(git status --porcelain)
	[[ -z $changes ]] || fail "A release is made of what is committed, and this is not:"$'\n'"$changes"
}

# $1: version
release_check_version() {
	local tagged

	grep -q "^## $1 - " CHANGELOG.md ||
		fail "CHANGELOG.md has no section '## $1 - DATE'. Give 'Unreleased' this name, or meson.build another version."
	[[ $(release_packaged_version) == "$1" ]] ||
		fail "debian/changelog begins with version '$(release_packaged_version)'. Give it an entry for $1."
	tagged=$(git rev-parse -q --verify "v$1^{commit}" || git rev-parse HEAD)
	[[ $tagged == "$(git rev-parse HEAD)" ]] ||
		fail "The tag v$1 is another commit. Give meson.build another version."
}

# What programs of this release will rely on: later releases are compared with it.
# $1: version
release_check_library() {
	local saved=tests/abi/libuncore-$1.abi

	if [[ ! -f $saved ]]; then
		python3 -B tests/abi/abi.py save build/client/libuncore.so client/libuncore/uncore.h "$saved"
		fail "$saved now describes the libuncore of this release. Commit it, and call ./dev release again."
	fi
	python3 -B tests/abi/abi.py same build/client/libuncore.so client/libuncore/uncore.h "$saved" ||
		fail "libuncore is not what $saved says of $1. Give meson.build another version, if that was released."
}

release_test() {
	local suites=("${RELEASE_SUITES[@]/#/--suite=}")

	say "Testing: ${RELEASE_SUITES[*]}"
	quietly "pass the tests" meson test -C build --no-rebuild --print-errorlogs "${suites[@]}"
}

# $1: version; $2: folder
release_pack() {
	local files

	quietly "make the tarball" meson dist -C build --no-tests --formats xztar
	packages_build "$PACKAGES_FOLDER"
	files=("build/meson-dist/uncored-$1.tar.xz" "$PACKAGES_FOLDER"/*)
	mkdir -p "$2"
	cp "${files[@]}" "$2/"
	(cd "$2" && sha256sum "${files[@]##*/}" >SHA256SUMS)
}

# [FOLDER]
release_run() {
	local version folder

	[[ $# -le 1 ]] || { say "./dev release takes one folder at most." && exit 2; }
	version=$(release_version)
	folder=${1:-build-release-$version}
	release_check_tree
	release_check_version "$version"
	setup_to_test
	say "Building into build/"
	build_in build
	release_check_library "$version"
	release_test
	release_pack "$version" "$folder"
	say "$folder/ has the tarball, Debian's packages, and their checksums. Next: git tag -s -m 'uncored $version' v$version," \
		"push the tag, and upload these files."
}
