# SPDX-License-Identifier: BSD-3-Clause
"""Plays the on-chip controllers of a POWER9 machine, whose 24x7 microcode works in the guest's memory.

Each chip has a control block and an array of counters (skiboot include/imc.h; open-power/occ src/occ_gpe1/gpe1_24x7.c).
The kernel's driver, through the firmware, asks the microcode to run when the first event of a chip is opened, and to
pause when the last is closed. While it runs, it posts the counts every 4 ms. Here a test sets the counts, or a
simulation does (simulation.py).
"""
import contextlib
import mmap
import os
import struct
import threading
import time

HOMERS = (0x70000000, 0x72000000)  # the same as in homer.s
COUNTERS = 0x180000
CONTROL = 0x1bfc00
STATUS, COMMAND, AVAILABLE = CONTROL, CONTROL + 8, CONTROL + 0x18
RUNNING, PAUSED = 1, 2
UNITS = 0xffff800000000000  # powerbus0, mcs0-7, mba0-7: one bit each from the left
POST_S = 0.004
CLOCK_HZ = 1_200_000_000
WORD_BYTES = 8


def in_big_endian(value):
    return struct.unpack("=Q", struct.pack(">Q", value))[0]


class Chip:
    """The counts of one chip, whether posted or not: {offset: count}."""

    def __init__(self, words, homer):
        self.words = words  # the guest's memory
        self.homer = homer
        self.counts = {}
        self.clocks = []  # offsets of events that count time
        self.source = tuple  # a function: pairs of an offset and what to add to its count
        self.is_broken = False
        self.n_posts = 0
        self.longest_gap_s = 0  # between two posts

    def read(self, offset):
        return in_big_endian(self.words[(self.homer + offset) // WORD_BYTES])

    def write(self, offset, value):
        """All eight bytes at once: the guest may be reading them."""
        self.words[(self.homer + offset) // WORD_BYTES] = in_big_endian(value & (1 << 64) - 1)

    def post(self, elapsed_s):
        for offset in self.clocks:
            self.counts[offset] = self.counts.get(offset, 0) + int(elapsed_s * CLOCK_HZ)
        for offset, n in self.source():
            self.counts[offset] = self.counts.get(offset, 0) + n
        for offset, value in self.counts.items():
            self.write(COUNTERS + offset, value)
        self.n_posts += 1
        self.longest_gap_s = max(self.longest_gap_s, elapsed_s)

    def tick(self, elapsed_s):
        command = self.read(COMMAND)
        if command in (RUNNING, PAUSED):
            self.write(STATUS, command)
            self.write(COMMAND, 0)
        if self.read(STATUS) == RUNNING and not self.is_broken:
            self.post(elapsed_s)


def be_prompt():
    """The controllers of a machine post in time, whatever runs on its CPUs. Without privilege a busy computer may delay
    this thread."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


class Player:
    """All chips, every 4 ms, in a thread of its own until it is stopped."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            words = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")
        self.chips = [Chip(words, homer) for homer in HOMERS]
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def play(self):
        be_prompt()
        before = time.monotonic()
        while not self.is_over.wait(POST_S):
            now = time.monotonic()
            with self.lock:
                for chip in self.chips:
                    chip.tick(now - before)
            before = now

    def stop(self):
        self.is_over.set()
        self.thread.join()

    def count(self, chip, counts):
        """Adds {offset: count}, and waits until it has been posted, if the chip posts."""
        chip = self.chips[chip]
        with self.lock:
            for offset, n in counts.items():
                chip.counts[offset] = chip.counts.get(offset, 0) + n
        self.wait_for_posts(chip)

    def wait_for_posts(self, chip, n=2):
        enough = chip.n_posts + n
        while chip.n_posts < enough and chip.read(STATUS) == RUNNING and not chip.is_broken:
            time.sleep(POST_S)

    def zero(self, chip):
        """As after a reset of the controller: all its counts begin at 0 again."""
        with self.lock:
            self.chips[chip].counts = dict.fromkeys(self.chips[chip].counts, 0)
        self.wait_for_posts(self.chips[chip])

    @contextlib.contextmanager
    def broken(self, chip):
        """The microcode stops silently, and afterwards goes on where it was."""
        self.chips[chip].is_broken = True
        try:
            yield
        finally:
            self.chips[chip].is_broken = False

    def take_longest_gaps(self):
        """The longest gap between posts of each chip since the last call."""
        gaps_s = [chip.longest_gap_s for chip in self.chips]
        for chip in self.chips:
            chip.longest_gap_s = 0
        return gaps_s

    def watch_clocks(self, offsets):
        for chip in self.chips:
            chip.clocks = list(offsets)
