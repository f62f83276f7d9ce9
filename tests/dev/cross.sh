# SPDX-License-Identifier: BSD-3-Clause
# ./dev cross ppc64el: everything but PCP's agent for POWER, little-endian, and the unit tests under qemu-user.
#
# build-ppc64el/         the build folder
# build-ppc64el-system/  Debian's libraries for that architecture, and apt's lists of them; this machine's
#                        own apt and dpkg know nothing of it

CROSS_FOLDER=build-ppc64el
CROSS_SYSTEM=build-ppc64el-system
CROSS_NEEDS=(gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross qemu-user xz-utils)
# The guest of that architecture runs these, too.
CROSS_HAS=(
	libc6-dev libcmocka-dev libhwloc-dev libjson-c-dev libpfm4-dev libsystemd-dev
	busybox-static util-linux
)

# Runs apt-get for the other architecture.
cross_apt() {
	APT_CONFIG=$PWD/$CROSS_SYSTEM/apt/apt.conf apt-get -q "$@"
}

# Makes links relative: absolute links would lead out of the folder.
cross_unpack() {
	local root=$CROSS_SYSTEM/root package link name

	rm -rf "$root"
	for name in bin sbin lib lib64; do
		mkdir -p "$root/usr/$name"
		ln -s "usr/$name" "$root/$name"
	done
	for package in "$CROSS_SYSTEM"/apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
	done
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfnr "$root$(readlink "$link")" "$link"
	done
}

# Not every part of Debian's archive has every architecture, so a missing list is not a failure.
cross_make_system() {
	say "Fetching Debian's ppc64el libraries"
	rm -rf "$CROSS_SYSTEM/apt"
	apt_write_conf "$CROSS_SYSTEM/apt" deb 'APT::Architecture "ppc64el";' 'APT::Architectures { "ppc64el"; };' \
		'APT::Install-Recommends "false";'
	cross_apt update >/dev/null 2>&1 || true
	quietly "fetch ppc64el packages" cross_apt --download-only -y install "${CROSS_HAS[@]}"
	quietly "unpack ppc64el packages" cross_unpack
}

cross_write_meson_file() {
	local root=$PWD/$CROSS_SYSTEM/root

	cat >"$CROSS_SYSTEM/cross.ini" <<-END
		[binaries]
		c = ['powerpc64le-linux-gnu-gcc', '--sysroot=$root']
		ar = 'powerpc64le-linux-gnu-ar'
		strip = 'powerpc64le-linux-gnu-strip'
		pkgconfig = 'pkg-config'
		exe_wrapper = ['qemu-ppc64le', '-cpu', 'power9', '-L', '$root']

		[properties]
		sys_root = '$root'
		pkg_config_libdir = '$root/usr/lib/powerpc64le-linux-gnu/pkgconfig:$root/usr/share/pkgconfig'

		[host_machine]
		system = 'linux'
		cpu_family = 'ppc64'
		cpu = 'ppc64le'
		endian = 'little'
	END
}

cross_build() {
	guest_check_machine
	setup_packages "${SETUP_TO_BUILD[@]}" "${CROSS_NEEDS[@]}"
	mkdir -p "$CROSS_SYSTEM"
	guest_part "$CROSS_SYSTEM/stamp" "$(guest_fingerprint tests/dev/{apt,cross}.sh)" cross_make_system
	cross_write_meson_file
	build_in "$CROSS_FOLDER"
}

cross_run() {
	[[ $# -eq 1 && $1 == ppc64el ]] || {
		say "./dev cross takes the name of an architecture; there is one: ppc64el."
		exit 2
	}
	tests_run_tasks "$CROSS_FOLDER=unit"
}
