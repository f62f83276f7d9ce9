# SPDX-License-Identifier: BSD-3-Clause
# ./dev papi power9: the POWER9 guest (tests/guests) with PCP, perf and PAPI.
#
# build-papi-power9/ holds  initrd.gz, ...  the guest's, with /papi/ in addition
#                           papi/           as build-papi/, for that architecture
#                           product/        the build folder of the agent and other programs
#                           system/         Debian's packages for that architecture

PAPI_POWER9=build-papi-power9
PAPI_POWER9_HAS=(libpcp3-dev libpcp-pmda3-dev linux-perf pcp)
PAPI_POWER9_PRODUCT=(pmda/pmdauncore tests/papers/run-kernel tests/pcp/uncore-reader)
PAPI_POWER9_SHARED=(flash.img memory-controller.so skiboot.lid vmlinux) # with the guest without PAPI

# The rest runs where the variables of other parts of ./dev stand for these folders.
papi_power9_set() {
	PAPI_FOLDER=$PAPI_POWER9/papi
	PAPI_WORK=$PAPI_FOLDER/work
	PAPI_CC=$PWD/$PAPI_POWER9/cc
	CROSS_FOLDER=$PAPI_POWER9/product
	CROSS_SYSTEM=$PAPI_POWER9/system
	CROSS_HAS+=("${PAPI_POWER9_HAS[@]}")
	PAPI_CONFIGURE=(
		--host=powerpc64le-linux-gnu --with-arch=ppc64le --with-OS=linux --with-CPU=POWER9 --with-ffsll
		--with-walltimer=clock_realtime --with-virtualtimer=clock_thread_cputime_id --with-tls=__thread
		"--with-pfm-incdir=$PWD/$CROSS_SYSTEM/root/usr/include"
		"--with-pfm-libdir=$PWD/$CROSS_SYSTEM/root/usr/lib/powerpc64le-linux-gnu"
	)
}

papi_power9_make_system() {
	mkdir -p "$CROSS_SYSTEM"
	guest_part "$CROSS_SYSTEM/stamp" "$(guest_fingerprint tests/dev/cross.sh -- "${CROSS_HAS[@]}")" cross_make_system
	ln -sf ../../pkgconfig/libpcp{,_pmda}.pc "$CROSS_SYSTEM/root/usr/lib/powerpc64le-linux-gnu/pkgconfig/"
	cross_write_meson_file
	# PAPI's makefiles take one word for a compiler.
	printf '#!/bin/sh\nexec powerpc64le-linux-gnu-gcc --sysroot=%s "$@"\n' "$PWD/$CROSS_SYSTEM/root" >"$PAPI_CC"
	chmod 755 "$PAPI_CC"
}

papi_power9_make_product() {
	[[ -f $CROSS_FOLDER/build.ninja ]] || quietly "configure $CROSS_FOLDER" \
		meson setup "$CROSS_FOLDER" --cross-file "$CROSS_SYSTEM/cross.ini" --prefix=/usr -Dpcp=enabled
	quietly "build $CROSS_FOLDER" ninja -C "$CROSS_FOLDER" "${PAPI_POWER9_PRODUCT[@]}"
}

papi_power9_make_initrd() {
	local root=$PAPI_POWER9/root system=$CROSS_SYSTEM/root programs library

	programs=(
		"$system"/usr/lib/pcp/bin/{pmcd,pmcpp} "$system/usr/bin/perf"
		"${PAPI_PROGRAMS[@]/#/$PAPI_FOLDER/bin/}" "$PAPI_FOLDER/bin/papi_native_avail"
		"${PAPI_POWER9_PRODUCT[@]/#/$CROSS_FOLDER/}"
	)
	rm -rf "$root"
	mkdir -p "$root"/{etc,papi/{bin,lib},usr/lib/pcp/bin}
	cp "${programs[@]}" "$root/papi/bin/"
	ln -s /papi/bin/pmcpp "$root/usr/lib/pcp/bin/"
	cp tests/papi/power9/inside/* "$root/papi/"
	cp -L "$system/var/lib/pcp/pmdas/pmcd/pmda_pmcd.so" "$root/papi/"
	cp "$system/etc/pcp.conf" "$root/etc/"
	LD_LIBRARY_PATH='' papi_power9_libraries "${programs[@]}" "$root/papi/pmda_pmcd.so" | while read -r library; do
		cp -L "$library" "$root/papi/lib/"
	done
	ln -s libpcp.so.3 "$root/papi/lib/libpcp.so"
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) | cat build-guest-power9/initrd.gz - \
		>"$PAPI_POWER9/initrd.gz"
	rm -rf "$root"
}

papi_power9_libraries() {
	local root=$CROSS_SYSTEM/root program

	for program in "$@"; do
		qemu-ppc64le -L "$root" "$root/lib64/ld64.so.2" --list --library-path \
			"$CROSS_FOLDER/client:$PAPI_FOLDER/lib:$root/usr/lib:$root/usr/lib/powerpc64le-linux-gnu" "$program"
	done | sed -n 's/.*=> \([^ ]*\) (.*/\1/p' | sort -u
}

papi_power9_make() (
	papi_power9_set
	mkdir -p "$PAPI_POWER9"
	papi_power9_make_system
	papi_power9_make_product
	papi_make
	papi_power9_make_initrd
	ln -sf "${PAPI_POWER9_SHARED[@]/#/../build-guest-power9/}" "$PAPI_POWER9/"
)

papi_power9_run() {
	./dev guest power9 --make
	papi_power9_make
	exec python3 -B tests/papi/power9/main.py "$PAPI_POWER9"
}
