# SPDX-License-Identifier: BSD-3-Clause
"""The guest's memory controllers as a plugin of QEMU simulates them (tests/traffic), and wires, by which the on-chip
controllers that player.py plays post what those count.

A line is 64 bytes, as POWER9 fetches them: half a line of its caches. The plugin sees the chips' memory as QEMU's
machine powernv9 has it, one behind the other (pnv_chip_get_ram_size() of its hw/ppc/pnv.c).
"""
import dataclasses
import mmap
import os
import time

from case import CHECK_BYTES, CHECK_READ, CHECK_WRITE, READ, TRANSFER_BYTES, WRITE
from qemu import Failure

CHIPS, CPUS_OF_CHIP = 2, 2
CHANNELS = len(READ)
CACHE_BYTES = 1 << 20  # the last level of each chip

# struct traffic_counters of tests/traffic/counters.h
COUNTERS_BYTES = 1 << 13
KINDS = ("read", "write", "itom", "specitom")
CHANNELS_MAX = 16
WANTED, RUNNING, LINES = 1, 2, 8  # places of words

SWITCH_S = 60


class Simulation:
    """The counts lie in a file without a name, which is gone when this process and QEMU are. Nothing is counted before
    run(True)."""

    def __init__(self):
        self.file = os.memfd_create("counters")
        os.ftruncate(self.file, COUNTERS_BYTES)
        self.words = memoryview(mmap.mmap(self.file, COUNTERS_BYTES)).cast("Q")

    def plugin(self, path, ram_bytes):
        """Arguments of QEMU."""
        nodes = "+".join([str(ram_bytes // CHIPS)] * CHIPS)
        options = (f"counters=/proc/{os.getpid()}/fd/{self.file},wait=1,sockets={CHIPS},cpus={CPUS_OF_CHIP},"
                   f"nodes={nodes},joined=1,channels={CHANNELS},sectors=2,ll={CACHE_BYTES}")
        return ["-plugin", f"{path},{options}"]

    def run(self, yes):
        """Begins or ends the simulation."""
        self.words[WANTED] = int(yes)
        end = time.monotonic() + SWITCH_S
        while self.words[RUNNING] != int(yes):
            if time.monotonic() > end:
                raise Failure(f"not within {SWITCH_S} s: the simulator does what it was told")
            time.sleep(0.01)

    def lines(self, chip, kind):
        """Lines of a chip's memory so far."""
        return sum(self.words[word_of(chip, kind, channel)] for channel in range(CHANNELS))


def word_of(chip, kind, channel):
    return LINES + (chip * len(KINDS) + KINDS.index(kind)) * CHANNELS_MAX + channel


# --- wires ---

@dataclasses.dataclass(frozen=True)
class Wire:
    """Lines of memory, and the counter of an on-chip controller that counts them."""
    chip: int      # of the counter
    offset: int
    memory: int    # the chip with the memory
    kind: str
    channel: int
    scale: tuple = (1, 1)  # so many counts for so many lines


class Source:
    """What the wires of one chip carried since the last call: for Chip.source of player.py."""

    def __init__(self, words, wires):
        self.words = words
        self.wires = [(wire.offset, word_of(wire.memory, wire.kind, wire.channel), *wire.scale) for wire in wires]
        self.seen = [self.counts_of(wire) for wire in self.wires]

    def counts_of(self, wire):
        _, word, counts, lines = wire
        return self.words[word] * counts // lines

    def __call__(self):
        for i, wire in enumerate(self.wires):
            now = self.counts_of(wire)
            yield wire[0], now - self.seen[i]
            self.seen[i] = now


def right_wires():
    """Each channel has its counters of reads and writes, and half of a checking one."""
    checked = CHECK_BYTES // TRANSFER_BYTES
    for chip in range(CHIPS):
        for kind, offsets, checks in (("read", READ, CHECK_READ), ("write", WRITE, CHECK_WRITE)):
            for channel, offset in enumerate(offsets):
                yield Wire(chip, offset, chip, kind, channel)
                yield Wire(chip, checks[channel // 2], chip, kind, channel, (1, checked))


def connect(player, simulation, wires):
    """Makes the on-chip controllers count by these wires and no others. Their counts go on from where they are."""
    wires = list(wires)
    with player.lock:
        for number, chip in enumerate(player.chips):
            chip.source = Source(simulation.words, [wire for wire in wires if wire.chip == number])
