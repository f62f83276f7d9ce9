# SPDX-License-Identifier: BSD-3-Clause
# The x86 guest: Debian's kernel and systemd, PCP, uncored as `meson install` lays it out or its packages, and the test
# module.
#
# build-guest-x86/ holds  vmlinux, initrd.gz     from the kernel's package
#                         base.squashfs          Debian, without anything of ours
#                         product.squashfs       uncored; lies over the base
#                         packages.squashfs      uncored's packages; lies there instead for suite packages
#                         tests.squashfs         the module and the suites; lies over both
#                         image.squashfs         base, product and tests as the image of a node, which nobody can write to
#                         memory-controller.so   the plugin of QEMU that simulates memory traffic (tests/traffic)
#                         product/               the build folder of what is installed; programs of tests are from build/

GUEST_X86_NEEDS=(
	busybox-static cpio kmod make mmdebstrap qemu-system-x86 squashfs-tools
	selinux-policy-dev semodule-utils
)
# The guest's packages beside Debian's minimum: systemd, PCP, the libraries that uncored and its tests are linked with, and
# a policy for SELinux, which only suite selinux loads.
GUEST_X86_HAS=(
	dbus kmod procps systemd-sysv udev
	libcmocka0 libhwloc15 libjson-c5 libmicrohttpd12 libpfm4 linux-perf pcp
	selinux-policy-default
)
# Modules for the initrd; modules that they depend on come with them.
GUEST_X86_MODULES=(virtio_pci virtio_blk squashfs overlay)
# Programs that systemd runs at a boot and at each daemon-reload, for things that no guest has. Of the others, one reads
# the kernel's command line, and one makes /var of an image.
GUEST_X86_IDLE_GENERATORS=(
	selinux-autorelabel-generator.sh
	systemd-{cryptsetup,getty,gpt-auto,hibernate-resume,integritysetup,rc-local,run,system-update,sysv,veritysetup}-generator
)
GUEST_X86_PACKAGES=(libuncore0 pcp-pmda-uncore uncore-tools uncored)
GUEST_X86_MACHINES=(icelake-sp sapphire-rapids sapphire-rapids-ddr granite-rapids knl zen4)
# In build/; the last one makes the trees of machines.
GUEST_X86_TESTS=(
	tests/hostile/test-hostile-crowds tests/pcp/{papi-client,uncore-reader} tests/ranks/member
	tests/traffic/{kernel,plugin/memory-controller.so} tests/machines/machines.stamp tests/unit/test-snapshot
)
GUEST_X86_SQUASHFS=(-noI -noD -noF -noX -no-progress -quiet -noappend) # emulated CPUs unpack slowly

# The version of the kernel that Debian ships at the moment: 6.1.0-40-amd64.
guest_x86_newest_kernel() {
	apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-\([0-9].*\)/\1/p' |
		head -n 1 | grep . || fail "apt knows no package linux-image-amd64: run apt-get update."
}

guest_x86_unpack_kernel() {
	local folder=$1 version=$2 unpacked=$1/unpacked module path

	say "Fetching the kernel $version"
	rm -rf "$unpacked" "$folder/modules"
	mkdir -p "$unpacked" "$folder/modules"
	(cd "$unpacked" && quietly "fetch the kernel" apt-get -q download "linux-image-$version")
	quietly "unpack the kernel" dpkg -x "$unpacked"/linux-image-*.deb "$unpacked"
	python3 tests/guests/x86/extract-kernel.py "$unpacked/boot/vmlinuz-$version" "$folder/vmlinux"
	/sbin/depmod -b "$unpacked" "$version"
	for module in "${GUEST_X86_MODULES[@]}"; do
		/sbin/modprobe -d "$unpacked" -S "$version" --show-depends "$module" | sed -n 's/^insmod *//p'
	done | awk '!seen[$1]++ { print $1 }' | while read -r path; do
		cp "$path" "$folder/modules/"
		basename "$path" >>"$folder/modules/order"
	done
	find "$unpacked/lib/modules" -name intel-uncore.ko -exec cp {} "$folder/" \;
	rm -rf "$unpacked"
}

guest_x86_make_initrd() {
	local folder=$1 root=$1/initrd

	rm -rf "$root"
	mkdir -p "$root/bin"
	cp /bin/busybox "$root/bin/"
	cp -r "$folder/modules" "$root/"
	install -m 755 tests/guests/x86/initrd-init "$root/init"
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$folder/initrd.gz"
	rm -rf "$root"
}

# PCP's package would start its services. Their first start would make PCP's name space, which takes long when
# emulated. The suites start the services that they need.
guest_x86_make_base() {
	local folder=$1 packages

	say "Making the guest's Debian, about a minute"
	packages=$(IFS=, && echo "${GUEST_X86_HAS[*]}")
	apt_sources >"$folder/sources.list"
	# shellcheck disable=SC2016
	quietly "make the guest's Debian" as_root env SYSTEMD_OFFLINE=1 mmdebstrap --variant=minbase \
		--include="$packages" --aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--customize-hook='rm -f "$1"/etc/systemd/system/*.wants/pm*.service' \
		--customize-hook='chroot "$1" sh -c "cd /var/lib/pcp/pmns && ./Rebuild -u && rm -f .NeedRebuild"' \
		bookworm "$folder/base.tar" "$folder/sources.list"
	# shellcheck disable=SC2016
	quietly "pack the guest's Debian" bash -c 'mksquashfs - "$1" -tar "${@:3}" <"$2"' pack \
		"$folder/base.squashfs" "$folder/base.tar" "${GUEST_X86_SQUASHFS[@]}"
	rm -f "$folder/base.tar"
}

guest_x86_build_module() {
	local folder=$1 version=$2

	rm -rf "$folder/module"
	cp -r tests/guests/x86/module "$folder/module"
	quietly "build the test module" make -C "$folder/module" "KERNEL=/usr/src/linux-headers-$version"
}

guest_x86_build_product() {
	local product=$1/product

	say "Building into $product/"
	if [[ ! -f $product/build.ninja ]]; then
		quietly "configure $product" meson setup "$product" --prefix=/usr --buildtype=release -Dwerror=true -Dtests=disabled
	fi
	quietly "build $product" ninja -C "$product"
	build_in build "${GUEST_X86_TESTS[@]}"
}

# Lays out the files as a package would: in Debian /lib is /usr/lib.
guest_x86_install_product() {
	local product=$1/product root=$2

	DESTDIR=$root quietly "install into $root" meson install -C "$product" --no-rebuild
	if [[ -d $root/lib ]]; then
		cp -a "$root/lib/." "$root/usr/lib/"
		rm -rf "$root/lib"
	fi
}

# Without PAPI its suite says so and skips.
guest_x86_install_papi() {
	if [[ -f $PAPI_FOLDER/programs.stamp ]]; then
		mkdir "$1/papi"
		cp -a "$PAPI_FOLDER"/{bin,lib} "$1/papi/"
	fi
}

# A program of suite hostile. Around it lies what it looks for in a build folder and in the sources.
guest_x86_install_crowds() {
	local crowds=$1/crowds

	mkdir -p "$crowds"/{conf,daemon,tests/machines}
	cp build/tests/hostile/test-hostile-crowds "$crowds/"
	cp -r build/tests/machines/standin "$crowds/tests/machines/"
	ln -s /usr/sbin/uncored "$crowds/daemon/uncored"
	ln -s /usr/share/uncored/platforms "$crowds/conf/platforms"
}

guest_x86_install_tests() {
	local folder=$1 tests=$2/usr/lib/uncored-tests machine generator

	mkdir -p "$tests/machines" "$2/usr/lib/sysusers.d" "$2/etc/systemd/system/multi-user.target.wants" \
		"$2/etc/systemd/system/serial-getty@ttyS0.service.d" "$2/etc/systemd/system-generators"
	for generator in "${GUEST_X86_IDLE_GENERATORS[@]}"; do
		ln -s /dev/null "$2/etc/systemd/system-generators/$generator"
	done
	cp tests/guests/x86/inside/{*.py,selinux.cil} tests/guests/x86/simulated.py tests/harness/tap.py tests/machines/events.csv \
		"$folder/module/test_pmu.ko" "$folder/intel-uncore.ko" build/tests/pcp/papi-client "$tests/"
	cp build/tests/{traffic/kernel,ranks/member,pcp/uncore-reader,unit/test-snapshot} \
		tests/harness/{talk,three_ways,timeline}.py "$tests/"
	guest_x86_install_papi "$tests"
	guest_x86_install_crowds "$tests"
	install -m 755 tests/guests/x86/inside/layout-init "$tests/"
	for machine in "${GUEST_X86_MACHINES[@]}"; do
		python3 tests/guests/x86/describe.py "build/tests/machines/$machine" >"$tests/machines/$machine"
	done
	cp -r build/tests/machines/icelake-sp "$tests/icelake-sp-tree"
	cp tests/guests/x86/inside/visitor.sysusers "$2/usr/lib/sysusers.d/visitor.conf"
	cp tests/guests/x86/inside/uncored-tests.service "$2/etc/systemd/system/"
	ln -s ../uncored-tests.service "$2/etc/systemd/system/multi-user.target.wants/"
	cp tests/guests/x86/inside/autologin.conf "$2/etc/systemd/system/serial-getty@ttyS0.service.d/"
	echo 0123456789abcdef0123456789abcdef >"$2/etc/machine-id" # else systemd takes this for a first boot
}

# Prints the names and contents of all files below a folder, as sums.
guest_x86_sums() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

# Packs a folder, which goes away, as the image of that name.
guest_x86_pack() {
	quietly "pack $2" mksquashfs "$1" "$2" "${GUEST_X86_SQUASHFS[@]}" -all-root
	rm -rf "$1"
}

guest_x86_make_tests() {
	local folder=$1 root=$PWD/$1/root

	rm -rf "$root"
	mkdir -p "$root"
	guest_x86_install_product "$folder" "$root"
	guest_x86_sums "$root" >"$folder/installed.sums"
	guest_x86_pack "$root" "$folder/product.squashfs"
	guest_x86_install_tests "$folder" "$root"
	guest_x86_sums "$root" >>"$folder/installed.sums"
	guest_x86_pack "$root" "$folder/tests.squashfs"
	cp build/tests/traffic/plugin/memory-controller.so "$folder/"
}

# What the packages are made of, one path a line. Nothing of tests/ is built into them.
guest_x86_packaged() {
	# shellcheck source=/dev/null
	source tests/format/sources.sh
	sources '*' | grep -Ev '^(dev$|doc/|packaging/|tests/)'
	printf '%s\n' tests/packages/{build-debs,pack-source}
}

# Writes package $1 as $2 with a higher version and the same files.
guest_x86_raise_version() {
	local unpacked=$2.unpacked

	dpkg-deb --raw-extract "$1" "$unpacked"
	sed -i 's/^Version: .*/&+newer/' "$unpacked/DEBIAN/control"
	quietly "pack $2" dpkg-deb --root-owner-group -Zgzip --build "$unpacked" "$2"
	rm -rf "$unpacked"
}

guest_x86_make_packages() {
	local folder=$1 root=$PWD/$1/root debs name

	rm -rf "$root"
	debs=$root/usr/lib/uncored-tests/debs
	mkdir -p "$debs"/{older,newer}
	packages_build "$folder/debs"
	for name in "${GUEST_X86_PACKAGES[@]}"; do
		cp "$folder/debs/$name"_*.deb "$debs/older/$name.deb"
		guest_x86_raise_version "$debs/older/$name.deb" "$debs/newer/$name.deb"
	done
	guest_x86_pack "$root" "$folder/packages.squashfs"
	rm -rf "$folder/debs"
}

# Finishes the image of a node in a root where no systemd runs: the steps of doc/install.md after `meson install`, a /tmp in
# memory, the policy for SELinux, and the label of each file. $1: the root of an installed guest
guest_x86_finish_image() {
	SYSTEMD_OFFLINE=1 chroot "$1" sh -euc '
		ldconfig
		systemd-sysusers
		systemctl enable uncored.socket /usr/share/systemd/tmp.mount
		sed -i s/^SELINUX=.*/SELINUX=enforcing/ /etc/selinux/config
		semodule --noreload --store default --install policy/uncored.pp /usr/lib/uncored-tests/selinux.cil'
	rm -rf "$1/policy"
	/sbin/setfiles -F -r "$1" "$1/etc/selinux/default/contexts/files/file_contexts" "$1"
}

# As root. $1: folder of the guest
guest_x86_pack_image() {
	local root=$1/image layer

	rm -rf "$root"
	for layer in base product tests; do
		unsquashfs -quiet -no-progress -force -dest "$root" "$1/$layer.squashfs"
	done
	cp -r packaging/selinux "$root/policy"
	make -C "$root/policy" -f /usr/share/selinux/devel/Makefile NAME=default uncored.pp
	guest_x86_finish_image "$root"
	mksquashfs "$root" "$1/image.squashfs" "${GUEST_X86_SQUASHFS[@]}"
	rm -rf "$root"
}

guest_x86_make_image() {
	say "Making the image of a node, half a minute"
	# shellcheck disable=SC2016
	quietly "make the image of a node" as_root bash -euc "$(declare -p GUEST_X86_SQUASHFS
		declare -f guest_x86_finish_image guest_x86_pack_image)"'
		guest_x86_pack_image "$1"' image "$1"
}

# Installs what it is made with, and writes down the version of its kernel. $1: folder
guest_x86_setup() {
	local folder=$1 version

	setup_packages "${SETUP_TO_BUILD[@]}" "${SETUP_TO_PACKAGE[@]}" "${GUEST_X86_NEEDS[@]}"
	version=$(cat "$folder/version" 2>/dev/null || guest_x86_newest_kernel)
	setup_packages "linux-headers-$version"
	echo "$version" >"$folder/version"
}

guest_x86_make() {
	local folder=$1 version packaged

	./dev papi || say "There will be no PAPI in the guest."
	version=$(<"$folder/version")
	guest_part "$folder/kernel.stamp" "$(guest_fingerprint tests/guests/x86/extract-kernel.py -- "$version" \
		"${GUEST_X86_MODULES[@]}")" guest_x86_unpack_kernel "$folder" "$version"
	guest_part "$folder/base.stamp" "$(guest_fingerprint -- "${GUEST_X86_HAS[@]}" \
		"$(declare -f guest_x86_make_base)")" guest_x86_make_base "$folder"
	guest_part "$folder/module.stamp" "$(guest_fingerprint tests/guests/x86/module/* -- "$version")" \
		guest_x86_build_module "$folder" "$version"
	mapfile -t packaged < <(guest_x86_packaged)
	guest_part "$folder/packages.stamp" "$(guest_fingerprint "${packaged[@]}" -- "${GUEST_X86_PACKAGES[@]}" \
		"$(declare -f packages_build guest_x86_raise_version guest_x86_make_packages)")" guest_x86_make_packages "$folder"
	guest_x86_make_initrd "$folder"
	guest_x86_build_product "$folder"
	guest_x86_make_tests "$folder"
	guest_part "$folder/image.stamp" "$(guest_fingerprint "$folder"/{base.stamp,installed.sums} packaging/selinux/* -- \
		"$(declare -f guest_x86_finish_image guest_x86_pack_image)")" guest_x86_make_image "$folder"
}
