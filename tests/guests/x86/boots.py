# SPDX-License-Identifier: BSD-3-Clause
"""The boots of the x86 guest: those that run its suites, and the one that gives a shell."""
import dataclasses
import pathlib


@dataclasses.dataclass
class Boot:
    title: str
    command: list          # of QEMU; the report comes on its stdout
    console: pathlib.Path  # what the kernel and systemd say
    complaints: pathlib.Path  # what QEMU itself says
    limit_s: int


def chosen(suites, wanted):
    """In the order in which they run."""
    unknown = [name for name in wanted if name not in suites]
    if unknown:
        raise ValueError(f"There is no suite {unknown[0]!r} in this guest; there are: "
                         f"{' '.join(suites)}.")
    return [name for name in suites if not wanted or name in wanted]


class Guest:
    """Two packages of two CPUs, Debian's kernel and systemd, uncored as installed, and PMUs of test_pmu.c."""

    SUITES = ["counts", "privilege", "sandbox", "hotplug", "contention", "continuity", "layout"]
    # The kernel's own driver for Ice Lake's memory controllers: it looks for them only where no
    # hypervisor says that it is there. Its PMUs have the names of ours, so it has a boot of its own.
    ALONE = {"layout": ("Icelake-Server-v4,-hypervisor", "init=/usr/lib/uncored-tests/layout-init")}
    # It kills uncored for minutes, and has systemd execute itself anew.
    APART = {"continuity": 1200}
    LIMIT_S = 900
    ALONE_LIMIT_S = 180

    def __init__(self, images):
        self.images = images

    def qemu(self, cpu, serial, append):
        return ["qemu-system-x86_64", "-accel", "tcg,thread=multi,tb-size=128", "-machine", "q35",
                "-cpu", cpu, "-smp", "4,sockets=2,cores=2,threads=1", "-m", "1024", "-nodefaults",
                "-nic", "none", "-display", "none", "-no-reboot", *serial,
                "-kernel", str(self.images / "vmlinux"), "-initrd", str(self.images / "initrd.gz"),
                *self.disk("base.squashfs"), *self.disk("tests.squashfs"),
                "-append", f"console=ttyS0 panic=-1 {append}"]

    def disk(self, name):
        return ["-drive", f"file={self.images / name},format=raw,if=virtio,readonly=on"]

    def boot(self, title, cpu, append, limit_s):
        console = self.images / f"console-{title.split(',')[0]}.log"
        complaints = self.images / "qemu.log"
        serial = ["-serial", f"file:{console}", "-serial", "stdio"]
        return Boot(title, self.qemu(cpu, serial, append), console, complaints, limit_s)

    def boots(self, wanted):
        names = chosen(self.SUITES, wanted)
        together = ",".join(name for name in names if name not in {*self.ALONE, *self.APART})
        if together:
            yield self.suites(together, self.LIMIT_S)
        for name in names:
            if name in self.APART:
                yield self.suites(name, self.APART[name])
            elif name in self.ALONE:
                yield self.boot(name, *self.ALONE[name], self.ALONE_LIMIT_S)

    def suites(self, names, limit_s):
        return self.boot(names, "Nehalem", f"uncored.suites={names} systemd.mask=serial-getty@ttyS0.service",
                         limit_s)

    def shell(self):
        """The command line of QEMU; Ctrl-A X ends it."""
        serial = ["-serial", "mon:stdio", "-serial", "null"]
        append = "systemd.mask=uncored-tests.service systemd.wants=serial-getty@ttyS0.service"
        return self.qemu("Nehalem", serial, append)
