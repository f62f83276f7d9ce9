# SPDX-License-Identifier: BSD-3-Clause
# The POWER9 guest: Debian's ppc64el kernel with its own driver of the nest counters, on emulated bare metal.
#
# build-guest-power9/ holds  vmlinux               from the kernel's package
#                            skiboot.lid           QEMU's firmware, which finds the controllers' memory where
#                                                  homer.s says
#                            flash.img             with the catalogue of counters
#                            initrd.gz             the whole guest: busybox, uncored and its libraries
#                            memory-controller.so  the plugin of QEMU that simulates memory traffic (tests/traffic)
#                            accesses-power        a program that tries it

GUEST_POWER9_NEEDS=(cpio device-tree-compiler qemu-system-ppc)
GUEST_POWER9_FIRMWARE=/usr/share/qemu/skiboot.lid

guest_power9_unpack_kernel() {
	local folder=$1 version unpacked=$1/unpacked

	version=$(APT_CONFIG=$PWD/$CROSS_SYSTEM/apt/apt.conf apt-cache depends linux-image-powerpc64le |
		sed -n 's/.*Depends: linux-image-\([0-9].*\)/\1/p' | head -n 1)
	[[ -n $version ]] || fail "apt knows no package linux-image-powerpc64le for ppc64el."
	say "Fetching the kernel $version"
	rm -rf "$unpacked"
	mkdir -p "$unpacked"
	(cd "$unpacked" && APT_CONFIG=$OLDPWD/$CROSS_SYSTEM/apt/apt.conf quietly "fetch the kernel" \
		apt-get -q download "linux-image-$version")
	quietly "unpack the kernel" dpkg -x "$unpacked"/linux-image-*.deb "$unpacked"
	mv "$unpacked/boot/vmlinux-$version" "$folder/vmlinux"
	rm -rf "$unpacked"
}

guest_power9_make_firmware() {
	local folder=$1

	[[ -f $GUEST_POWER9_FIRMWARE ]] || fail "There is no $GUEST_POWER9_FIRMWARE: QEMU's package has it."
	powerpc64le-linux-gnu-as -mbig -mpower9 -o "$folder/homer.o" tests/guests/power9/homer.s
	powerpc64le-linux-gnu-objcopy -O binary -j .text "$folder/homer.o" "$folder/homer.bin"
	python3 tests/guests/power9/patch-firmware.py "$GUEST_POWER9_FIRMWARE" "$folder/homer.bin" \
		"$folder/skiboot.lid"
}

# The libraries of some programs, as the other architecture's own loader finds them.
guest_power9_libraries() {
	local root=$CROSS_SYSTEM/root program

	for program in "$@"; do
		qemu-ppc64le -L "$root" "$root/lib64/ld64.so.2" --list \
			--library-path "$CROSS_FOLDER/client:$root/usr/lib/powerpc64le-linux-gnu" "$program"
	done | sed -n 's/.*=> \([^ ]*\) (.*/\1/p' | sort -u
}

guest_power9_fill_root() {
	local root=$1 programs=(
		"$CROSS_FOLDER/daemon/uncored" "$CROSS_FOLDER/client/uncore" "$CROSS_SYSTEM/root/usr/bin/setpriv"
	) library

	mkdir -p "$root"/{bin,etc,lib64,usr/bin,usr/lib/powerpc64le-linux-gnu,usr/share/uncored}
	cp "${programs[@]}" "$root/usr/bin/"
	cp "$CROSS_SYSTEM/root/bin/busybox" "$root/bin/"
	guest_power9_libraries "${programs[@]}" | while read -r library; do
		cp -L "$library" "$root/usr/lib/powerpc64le-linux-gnu/"
	done
	cp -L "$CROSS_SYSTEM/root/lib64/ld64.so.2" "$root/lib64/"
	ln -s usr/lib "$root/lib"
	cp -r conf/platforms "$root/usr/share/uncored/"
	cp tests/guests/power9/inside/passwd "$root/etc/passwd"
	cp tests/guests/power9/inside/group "$root/etc/group"
	install -m 755 tests/guests/power9/inside/init "$root/init"
}

# The machines that unit tests name. All of them would be 10,000 files more.
guest_power9_machines() {
	local machine

	for machine in tests/machines/*.machine; do
		machine=$(basename "$machine" .machine)
		! grep -rqF "\"$machine\"" tests/unit || echo "$machine"
	done
}

# The unit tests, with the files that they read at the same places below /uncored as in the tree.
guest_power9_add_unit_tests() {
	local root=$1/uncored library machine program programs=()

	for program in "$CROSS_FOLDER"/tests/unit/test-*; do
		[[ ! -f $program || ! -x $program ]] || programs+=("$program")
	done
	mkdir -p "$root/build/client" "$root/build/tests/unit" "$root/build/tests/machines" "$root/conf"
	cp "${programs[@]}" "$root/build/tests/unit/"
	cp "$CROSS_FOLDER/client/uncore" "$root/build/client/"
	cp -r conf/platforms conf/uncored.conf "$root/conf/"
	guest_power9_machines | while read -r machine; do
		cp -r "$CROSS_FOLDER/tests/machines/$machine" "$root/build/tests/machines/"
	done
	guest_power9_libraries "${programs[@]}" | while read -r program; do
		cp -L "$program" "$1/usr/lib/powerpc64le-linux-gnu/"
	done
	# These two are opened while programs run: by uncored, and by pthread_cancel(3).
	for library in libpfm.so.4 libgcc_s.so.1; do
		cp -L "$CROSS_SYSTEM/root/usr/lib/powerpc64le-linux-gnu/$library" "$1/usr/lib/powerpc64le-linux-gnu/"
	done
}

guest_power9_make_initrd() {
	local folder=$1 root=$1/root

	rm -rf "$root"
	guest_power9_fill_root "$root"
	guest_power9_add_unit_tests "$root"
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$folder/initrd.gz"
	rm -rf "$root"
}

guest_power9_add_simulator() {
	local folder=$1 plugin=tests/traffic/plugin/memory-controller.so

	build_in build "$plugin"
	install "build/$plugin" "$CROSS_FOLDER/tests/traffic/accesses-power" "$folder/"
}

guest_power9_setup() {
	setup_packages "${GUEST_POWER9_NEEDS[@]}"
}

guest_power9_make() {
	local folder=$1

	cross_build
	guest_part "$folder/kernel.stamp" "$(guest_fingerprint "$CROSS_SYSTEM/stamp")" \
		guest_power9_unpack_kernel "$folder"
	guest_power9_make_firmware "$folder"
	python3 tests/guests/power9/catalog.py "$CROSS_FOLDER/tests/machines/power9" "$folder/flash.img"
	guest_power9_make_initrd "$folder"
	guest_power9_add_simulator "$folder"
}
