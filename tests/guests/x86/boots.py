# SPDX-License-Identifier: BSD-3-Clause
"""The boots of the x86 guest: one for each of its suites, and the one that gives a shell."""
import dataclasses
import pathlib

SHORT_S, LONG_S = 600, 1800  # at most, on a busy computer


@dataclasses.dataclass
class Suite:
    limit_s: int
    cpu: str = "Nehalem"
    append: str = "systemd.mask=serial-getty@ttyS0.service"  # to the kernel's command line


SUITES = {
    "counts": Suite(LONG_S),
    "privilege": Suite(SHORT_S),
    "sandbox": Suite(SHORT_S),
    "hotplug": Suite(SHORT_S),
    "contention": Suite(SHORT_S),
    "policy": Suite(SHORT_S),
    "continuity": Suite(LONG_S),
    "restart": Suite(SHORT_S),
    # The kernel's own driver for Ice Lake's memory controllers looks for them only where the processor shows no
    # hypervisor.
    "layout": Suite(SHORT_S, "Icelake-Server-v4,-hypervisor", "init=/usr/lib/uncored-tests/layout-init"),
}


@dataclasses.dataclass
class Boot:
    suite: str
    command: list             # of QEMU; the report comes on its stdout
    console: pathlib.Path     # output of the kernel and systemd
    complaints: pathlib.Path  # messages of QEMU itself
    limit_s: int


class Guest:
    """Two packages of two CPUs, Debian's kernel and systemd, uncored as installed, and PMUs of test_pmu.c."""

    def __init__(self, images):
        self.images = images

    def qemu(self, cpu, serial, append):
        return ["qemu-system-x86_64", "-accel", "tcg,thread=multi,tb-size=512", "-machine", "q35",
                "-cpu", cpu, "-smp", "4,sockets=2,cores=2,threads=1", "-m", "1024", "-nodefaults",
                "-nic", "none", "-display", "none", "-no-reboot", *serial,
                "-kernel", str(self.images / "vmlinux"), "-initrd", str(self.images / "initrd.gz"),
                *self.disk("base.squashfs"), *self.disk("tests.squashfs"),
                "-append", f"console=ttyS0 panic=-1 mitigations=off {append}"]

    def disk(self, name):
        return ["-drive", f"file={self.images / name},format=raw,if=virtio,readonly=on"]

    def boot(self, name, limit_s=None):
        suite = SUITES[name]
        console = self.images / f"console-{name}.log"
        serial = ["-serial", f"file:{console}", "-serial", "stdio"]
        return Boot(name, self.qemu(suite.cpu, serial, f"uncored.suite={name} {suite.append}"),
                    console, self.images / f"qemu-{name}.log", limit_s or suite.limit_s)

    def shell(self):
        """The command line of QEMU; Ctrl-A X ends it."""
        serial = ["-serial", "mon:stdio", "-serial", "null"]
        append = "systemd.mask=uncored-tests.service systemd.wants=serial-getty@ttyS0.service"
        return self.qemu("Nehalem", serial, append)
