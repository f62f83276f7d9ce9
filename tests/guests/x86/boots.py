# SPDX-License-Identifier: BSD-3-Clause
"""The boots of the x86 guest: those for its suites, and the one that gives a shell."""
import dataclasses
import itertools
import os
import pathlib

import simulated

SHORT_S, LONG_S = 600, 1800  # at most, on a busy computer
PLAIN = ("-smp", "4,sockets=2,cores=2,threads=1", "-m", "1024")
# Where times are compared: a CPU that waits for one of the computer below holds up others in the guest's kernel.
TWO_CPUS = ("-smp", "2", "-m", "1024")
KERNEL = "console=ttyS0 panic=-1 mitigations=off cryptomgr.notests"
PLUGIN = "memory-controller.so"
PRODUCT, PACKAGES = (("base.squashfs", f"{name}.squashfs", "tests.squashfs") for name in ("product", "packages"))
IMAGE = ("image.squashfs",)
# Half of a boot of Debian is work for devices, users and filesystems that no guest has.
NOT_NEEDED = (
    "serial-getty@ttyS0.service", "systemd-logind.service", "systemd-update-utmp.service", "e2scrub_reap.service",
    "systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket",
    "systemd-udev-trigger.service", "systemd-tmpfiles-setup-dev.service", "systemd-modules-load.service",
    "systemd-random-seed.service",
    *(f"modprobe@{name}.service" for name in ("configfs", "dm_mod", "drm", "efi_pstore", "fuse", "loop")),
    "dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-tracing.mount",
)
LEAN = " ".join(f"systemd.mask={unit}" for unit in NOT_NEEDED)
ONLY_TESTS = f"{LEAN} systemd.unit=uncored-tests.service"  # and what that needs
NODE = f"{LEAN} ro systemd.volatile=state"


@dataclasses.dataclass
class Suite:
    limit_s: int
    cpu: str = "Nehalem"
    append: str = ONLY_TESTS  # to the kernel's command line
    machines: tuple = ()  # of simulated.py, with a boot for each; the others are booted only if all are wanted
    no_others: bool = False  # not even then
    user_only: bool = False  # the simulator does not look at the guest's kernel
    shares: bool = False  # leaves the guest as it was: suites in a row that do so share a boot
    disks: tuple = PRODUCT
    hardware: tuple = PLAIN  # unless a machine is simulated


SUITES = {
    "counts": Suite(LONG_S),
    "privilege": Suite(SHORT_S, shares=True),
    "sandbox": Suite(SHORT_S, shares=True),
    "contention": Suite(SHORT_S, shares=True),
    "policy": Suite(SHORT_S, shares=True),
    "restart": Suite(SHORT_S, shares=True),
    "hotplug": Suite(SHORT_S),
    "crowds": Suite(LONG_S, hardware=TWO_CPUS),
    "continuity": Suite(LONG_S),
    "packages": Suite(LONG_S, disks=PACKAGES),
    "image": Suite(SHORT_S, append=NODE, disks=IMAGE),
    "selinux": Suite(SHORT_S, append=f"{NODE} security=selinux enforcing=1", disks=IMAGE),
    "traffic": Suite(LONG_S, machines=("icelake-sp", "knl")),
    "validate": Suite(LONG_S, machines=("icelake-sp", "sapphire-rapids-snc")),
    "teams": Suite(LONG_S, machines=("sapphire-rapids",), user_only=True),
    "papi": Suite(LONG_S, machines=("icelake-sp",), no_others=True),
    "tiers": Suite(SHORT_S, machines=("knl",), no_others=True),
    # The kernel's own driver for Ice Lake's memory controllers looks for them only where the processor shows no
    # hypervisor.
    "layout": Suite(SHORT_S, "Icelake-Server-v4,-hypervisor", "init=/usr/lib/uncored-tests/layout-init"),
}


@dataclasses.dataclass
class Boot:
    name: str
    command: list             # of QEMU; the report comes on its stdout
    console: pathlib.Path     # output of the kernel and systemd
    complaints: pathlib.Path  # messages of QEMU itself
    limit_s: int


class Guest:
    """Two packages of two CPUs unless a machine is simulated, Debian's kernel and systemd, uncored as installed or
    its packages, and PMUs of the test module."""

    def __init__(self, images, limit_s=None, append=""):
        self.images = images
        self.limit_s = limit_s  # None: that of each suite
        self.append = append    # to the kernel's command line

    def qemu(self, suite, hardware, serial, append):
        return ["qemu-system-x86_64", "-accel", "tcg,thread=multi,tb-size=512", "-machine", "q35",
                "-cpu", suite.cpu, *hardware, "-nodefaults",
                "-nic", "none", "-display", "none", "-no-reboot", *serial,
                "-kernel", str(self.images / "vmlinux"), "-initrd", str(self.images / "initrd.gz"),
                *(word for name in suite.disks for word in self.disk(name)),
                "-append", f"{KERNEL} {append} {self.append}"]

    def disk(self, name):
        return ["-drive", f"file={self.images / name},format=raw,if=virtio,readonly=on"]

    def simulated(self, machine, user_only):
        """The counts lie in a file without a name, which is gone when this process and QEMU are."""
        counters = os.memfd_create("counters")
        os.ftruncate(counters, simulated.COUNTERS_BYTES)
        path = f"/proc/{os.getpid()}/fd/{counters}"
        return [*simulated.topology(machine), *simulated.simulator(machine, self.images / PLUGIN, path, user_only)]

    def boot(self, suite, append, hardware, name, n_suites=1):
        console = self.images / f"console-{name}.log"
        serial = ["-serial", f"file:{console}", "-serial", "stdio"]
        return Boot(name, self.qemu(suite, hardware, serial, f"{append} {suite.append}"),
                    console, self.images / f"qemu-{name}.log", self.limit_s or n_suites * suite.limit_s)

    @staticmethod
    def machines(suite, is_all):
        return simulated.MACHINES if suite.machines and is_all and not suite.no_others else suite.machines

    def boots(self, names, is_all=False):
        """The boots of suites, in their order."""
        for _, group in itertools.groupby(names, lambda name: SUITES[name].shares or name):
            yield from self.boots_of_group(list(group), is_all)

    def boots_of_group(self, names, is_all):
        name, suite, words = names[0], SUITES[names[0]], f"uncored.suite={','.join(names)} uncored.all={int(is_all)}"
        if not suite.machines:
            yield self.boot(suite, words, suite.hardware, name, len(names))
        for machine in self.machines(suite, is_all):
            yield self.boot(suite, f"{words} uncored.machine={machine}",
                            self.simulated(simulated.MACHINES[machine], suite.user_only), f"{name}-{machine}")

    def shell(self):
        """The command line of QEMU; Ctrl-A X ends it."""
        serial = ["-serial", "mon:stdio", "-serial", "null"]
        append = "systemd.mask=uncored-tests.service systemd.wants=serial-getty@ttyS0.service"
        return self.qemu(Suite(SHORT_S), PLAIN, serial, append)
