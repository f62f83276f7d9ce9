# SPDX-License-Identifier: BSD-3-Clause
# ./dev papi: PAPI with its component pcp, which Debian's libpapi is built without, and with our component uncored
# (contrib/papi), from Debian's source package or the checkout that PAPI_SOURCE names; and comparisons of the ways to read
# counters: this machine's, or those of the POWER9 guest.
#
# build-papi/ holds  include/, lib/  PAPI itself
#                    bin/            its tools that list components and events, and the programs of tests/papi/
#                    work/           while it is made: apt's lists of source packages, of which this machine's own
#                                    apt knows nothing, and the sources

PAPI_FOLDER=build-papi
PAPI_WORK=$PAPI_FOLDER/work
PAPI_NEEDS=(dpkg-dev)
PAPI_LINKED_WITH=(libpcp3-dev libpfm4-dev) # the component takes PCP's headers, and loads PCP's library
PAPI_COMPONENTS="uncored pcp io sde"
PAPI_OWN=contrib/papi # the sources of component uncored
PAPI_TOOLS=(papi_avail papi_command_line papi_component_avail papi_native_avail)
PAPI_TESTS=(cmpinfo get_event_component)
PAPI_PROGRAMS=(papi-reader papi-timeline papi-talk papi-overflow)
PAPI_SCRIPTS=(papi-report three-ways)
PAPI_SOURCE=${PAPI_SOURCE:-}
PAPI_CC=gcc
PAPI_CONFIGURE=() # of another architecture
PAPI_FLAGS=(-g -O2 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wvla -Werror)

# shellcheck source=/dev/null
source tests/papi/power9/make.sh

papi_fetch() {
	local apt=(env APT_CONFIG="$PWD/$PAPI_WORK/apt/apt.conf" apt-get -q)

	if [[ -n $PAPI_SOURCE ]]; then
		cp -a "$PAPI_SOURCE" "$PAPI_WORK/papi-checkout"
		return
	fi
	apt_write_conf "$PAPI_WORK/apt" deb-src
	quietly "fetch the lists of Debian's source packages" "${apt[@]}" update
	(cd "$PAPI_WORK" && quietly "fetch PAPI's source package" "${apt[@]}" source papi)
}

# $1: the folder src/ of PAPI's sources
papi_add_own() {
	cp -a "$PAPI_OWN" "$1/components/uncored"
	mkdir "$PAPI_WORK/include"
	cp client/libuncore/uncore.h "$PAPI_WORK/include/"
}

# $1: the same. Its makefiles leave out what configure was not told.
papi_build() {
	export PAPI_UNCORED_ROOT=$PWD/$PAPI_WORK
	cd "$1" || return
	./configure --with-components="$PAPI_COMPONENTS" --with-perf-events --with-pfm-incdir=/usr/include \
		--with-pfm-libdir="/usr/lib/$(gcc -print-multiarch)" --with-shared-lib=yes --with-static-lib=no \
		--with-shlib-tools --with-tests=no "${PAPI_CONFIGURE[@]}"
	make -j"$(nproc)" shared
	make libsde
	make -C testlib libtestlib.a do_loops.o
	make -C utils "${PAPI_TOOLS[@]}"
	make -C ctests "${PAPI_TESTS[@]}"
	make -C components/uncored/tests uncored_tests
}

# $1: the same
papi_copy() {
	mkdir -p "$PAPI_FOLDER"/{bin,include/sde_lib,lib}
	cp -a "$1"/libpapi.so* "$PAPI_FOLDER/lib/"
	cp "$1/sde_lib/libsde.so.1.0" "$PAPI_FOLDER/lib/libsde.so.1"
	ln -s libsde.so.1 "$PAPI_FOLDER/lib/libsde.so"
	cp "$1"/papi{,StdEventDefs}.h "$PAPI_FOLDER/include/"
	cp "$1"/papi_components_config_event_defs.h "$PAPI_FOLDER/include/" 2>/dev/null || true # of newer releases
	cp "$1/sde_lib/sde_lib.h" "$PAPI_FOLDER/include/sde_lib/"
	cp "${PAPI_TOOLS[@]/#/$1/utils/}" "${PAPI_TESTS[@]/#/$1/ctests/}" "$1/components/uncored/tests/uncored_basic" \
		"$PAPI_FOLDER/bin/"
}

papi_make_library() {
	local source

	say "Making PAPI with its components pcp and uncored, half a minute"
	rm -rf "$PAPI_FOLDER"
	mkdir -p "$PAPI_WORK"
	papi_fetch
	source=$(echo "$PAPI_WORK"/papi-*/src)
	papi_add_own "$source"
	quietly "build PAPI" bash -c "$(declare -f papi_build)
		$(declare -p PAPI_COMPONENTS PAPI_CONFIGURE PAPI_TESTS PAPI_TOOLS PAPI_WORK)
		set -e; export CC='$PAPI_CC'; papi_build '$source'"
	papi_copy "$source"
	rm -rf "$PAPI_WORK"
}

papi_make_programs() {
	local name

	for name in "${PAPI_PROGRAMS[@]}"; do
		quietly "build $name" "$PAPI_CC" "${PAPI_FLAGS[@]}" -I. -I"$PAPI_FOLDER/include" -o "$PAPI_FOLDER/bin/$name" \
			"tests/papi/$name.c" tests/papi/events.c -L"$PAPI_FOLDER/lib" -lpapi -lsde
	done
	cp "${PAPI_SCRIPTS[@]/#/tests/papi/}" "$PAPI_FOLDER/bin/"
}

# What the library is made by and of, but for the version of PAPI: delete the folder to get a newer one.
papi_recipe() {
	declare -f apt_sources apt_write_conf papi_fetch papi_add_own papi_build papi_copy
	declare -p PAPI_CC PAPI_COMPONENTS PAPI_CONFIGURE PAPI_SOURCE PAPI_TESTS PAPI_TOOLS
	dpkg-query -W "${PAPI_LINKED_WITH[@]}"
}

papi_make() {
	setup_packages "${SETUP_TO_BUILD[@]}" "${PAPI_NEEDS[@]}"
	mkdir -p "$PAPI_FOLDER"
	guest_part "$PAPI_FOLDER/library.stamp" "$(guest_fingerprint client/libuncore/uncore.h "$PAPI_OWN"/*.* \
		"$PAPI_OWN"/tests/* -- "$(papi_recipe)")" papi_make_library
	guest_part "$PAPI_FOLDER/programs.stamp" "$(guest_fingerprint \
		tests/papi/*.[ch] tests/harness/program.h "${PAPI_SCRIPTS[@]/#/tests/papi/}" "$PAPI_FOLDER/library.stamp" -- \
		"$(declare -f papi_make_programs)" "${PAPI_FLAGS[@]}")" papi_make_programs
}

# Runs a command, and compares the ways to read this machine's counters meanwhile; uncored and pmcd must run.
# Options of three-ways, --, and the command
papi_compare() {
	local options=()

	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	build_run
	as_root env PYTHONPATH=tests/harness LD_LIBRARY_PATH="$PAPI_FOLDER/lib:build/client" python3 -B \
		"$PAPI_FOLDER/bin/three-ways" "${options[@]}" build/tests/pcp/uncore-reader "$PAPI_FOLDER/bin/papi-reader" \
		"${@:2}"
}

# Makes the patch series of doc/upstream anew from contrib/papi: each keeps what it says, and its files.
papi_series() {
	local folder patch

	folder=$(mktemp -d)
	mkdir -p "$folder/src/components"
	cp -r "$PAPI_OWN" "$folder/src/components/uncored"
	git -C "$folder" init -q
	for patch in doc/upstream/papi-uncored-*.patch; do
		# shellcheck disable=SC2046 # names have no spaces
		git -C "$folder" add $(sed -n 's|^diff --git a/\([^ ]*\) .*|\1|p' "$patch")
		{ sed '/^diff --git/,$d' "$patch" && git -C "$folder" diff --cached; } >"$folder/new"
		git -C "$folder" -c user.name=- -c user.email=- commit -qm -
		cp "$folder/new" "$patch"
	done
	rm -rf "$folder"
}

# [[--readings N] [--busy N] -- COMMAND [ARGS...] | series | power9]
papi_run() {
	if [[ $# -eq 0 ]]; then
		papi_make
		say "PAPI is in $PAPI_FOLDER/."
	elif [[ " $*" == *" -- "* ]]; then
		papi_make
		papi_compare "$@"
	elif [[ $* == series ]]; then
		papi_series
	elif [[ $* == power9 ]]; then
		papi_power9_run
	else
		say "./dev papi takes nothing, or -- and a command, or 'series', or 'power9'."
		exit 2
	fi
}
