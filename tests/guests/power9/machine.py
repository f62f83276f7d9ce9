# SPDX-License-Identifier: BSD-3-Clause
"""A POWER9 machine of two chips in QEMU, its console, and commands in there. Its memory controllers are simulated when
a suite asks for it (simulation.py)."""
import os
import pathlib
import re
import selectors
import time

import player
from qemu import Failure, start_piped, stop
from simulation import Simulation

RAM_BYTES = 3 << 30
BOOT_S = 300
COMMAND_S = 120
PROMPT = "@ready"
PLUGIN = "memory-controller.so"  # among the images
# The firmware writes to the same console at any time: "[ 27.233759881,3] SBE: Timer stuck".
FIRMWARE = re.compile(r"\[ *\d+\.\d{9},\d\] [^\n]*\n")


def loader(address, value):
    """A word of memory at the machine's start, which the start of the on-chip controllers would leave behind."""
    return ["-device", f"loader,addr={address:#x},data={value:#x},data-be=on,data-len=8"]


def command_line(images, memory, serial, append):
    words = ["qemu-system-ppc64", "-accel", "tcg,thread=multi",
             "-machine", "powernv9,memory-backend=ram", "-m", f"{RAM_BYTES >> 20}M",
             "-smp", "4,sockets=2,cores=2,threads=1", "-nodefaults", "-nic", "none",
             "-display", "none", "-monitor", "none", "-no-reboot", "-serial", serial,
             "-object", f"memory-backend-file,id=ram,size={RAM_BYTES},mem-path={memory},share=on",
             "-device", "ipmi-bmc-sim,id=bmc0", "-device", "isa-ipmi-bt,bmc=bmc0,irq=10",
             "-bios", str(images / "skiboot.lid"),
             "-drive", f"file={images / 'flash.img'},format=raw,if=mtd,snapshot=on",
             "-kernel", str(images / "vmlinux"), "-initrd", str(images / "initrd.gz"),
             # A tmpfs takes half of the memory at most, and a page of 64 KiB for each file of the machines.
             "-append", f"console=hvc0 quiet rootfstype=ramfs panic=-1 {append}"]
    for homer in player.HOMERS:
        words += loader(homer + player.STATUS, player.RUNNING)
        words += loader(homer + player.AVAILABLE, player.UNITS)
    return words


class Machine:
    """Boots at once. Its output goes to console.log."""

    def __init__(self, images, append=""):
        self.images = pathlib.Path(images)
        self.memory = self.images / "memory"
        self.console = self.images / "console.log"
        self.n_commands = 0
        self.text = ""
        with open(self.memory, "wb") as file:
            file.truncate(RAM_BYTES)
        self.log = open(self.console, "wb")
        self.simulation = Simulation()
        command = (command_line(self.images, self.memory, "stdio", append) +
                   self.simulation.plugin(self.images / PLUGIN, RAM_BYTES))
        self.process = start_piped(command, self.images / "qemu.log")
        self.player = player.Player(self.memory)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def stop(self):
        stop(self.process)
        self.player.stop()
        self.memory.unlink(missing_ok=True)
        self.log.close()

    def read_until(self, pattern, seconds, what):
        """The match and the output before it; both are removed from the buffer."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text, re.M | re.S)
            if found:
                before, self.text = self.text[:found.start()], self.text[found.end():]
                return found, before
            if time.monotonic() > end:
                raise Failure(f"not within {seconds} s: {what}")
            if self.selector.select(0.5):
                data = self.process.stdout.read()
                if not data:
                    raise Failure(f"The guest has ended before {what}.")
                self.log.write(data)
                self.log.flush()
                self.text = FIRMWARE.sub("", self.text + data.decode(errors="replace").replace("\r", ""))

    def wait_for_boot(self):
        self.read_until(PROMPT + "$", BOOT_S, "the guest has booted")

    def run(self, command, check=True, seconds=COMMAND_S):
        """The output of a shell command in the guest; with check=False, its status and its output."""
        self.n_commands += 1
        number = self.n_commands
        self.process.stdin.write(f"{number} {command}\n".encode())
        self.process.stdin.flush()
        self.read_until(f"^@begin {number}$\n", seconds, f"the guest has begun `{command}`")
        found, said = self.read_until(f"^@end {number} (\\d+)$\n", seconds, f"`{command}` has ended")
        status = int(found[1])
        if not check:
            return status, said
        if status != 0:
            raise AssertionError(f"`{command}` ended with {status}: {said}")
        return said

    def wait_for(self, command, what, seconds=COMMAND_S):
        end = time.monotonic() + seconds
        while self.run(command, check=False)[0] != 0:
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}")
            time.sleep(0.1)
