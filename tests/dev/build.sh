# SPDX-License-Identifier: BSD-3-Clause
# Build folders, each made once with its own options:
# build/ plain, build-asan/ and build-tsan/ with sanitizers, build-bench/ optimised,
# build-ppc64el/ for another architecture.

# Under sanitizers gcc warns of impossible cases, so warnings are errors in build/ only.
build_options() {
	case $1 in
	build) echo -Dwerror=true ;;
	build-asan) echo -Db_sanitize=address,undefined -Doptimization=0 ;; # compiles in a third of the time
	build-tsan) echo -Db_sanitize=thread ;;
	build-bench) echo -Dbuildtype=release ;;
	build-ppc64el) echo --cross-file build-ppc64el-system/cross.ini --prefix=/usr -Dpcp=disabled -Dwerror=true ;;
	esac
}

# $1: folder; the rest are targets, all unless told.
build_in() {
	local folder=$1 options
	shift

	read -ra options <<<"$(build_options "$folder")"
	if [[ ! -f $folder/build.ninja ]]; then
		quietly "configure $folder" meson setup "$folder" "${options[@]}"
	fi
	quietly "build $folder" ninja -C "$folder" "$@"
}

build_run() {
	setup_to_build
	say "Building into build/"
	build_in build
}
