# SPDX-License-Identifier: BSD-3-Clause
"""What programs move between the simulated caches and memory of each chip is what a user without privilege sees of the
nest's counters: so many bytes as the loops of the programs say.

Nothing here is memory traffic of a machine: a model of caches counts (tests/traffic).
"""
import csv
import dataclasses
import io
import json
import os
import subprocess
import tempfile
import time
import unittest

import simulation
from case import CHECK_BYTES, CHECK_READ, Case
from kernels import KERNELS, LINE, LONG_KERNELS, TOLD_CACHE_BYTES
from simulation import CHIPS, CPUS_OF_CHIP, KINDS

VALIDATE_S = 300
CALM = {
    # The kernel would move pages from chip to chip: that is traffic, too, but not of the program that is measured.
    "/proc/sys/kernel/numa_balancing": 0,
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag": 0,
    "/proc/sys/vm/compaction_proactiveness": 0,
}
# Each chip's CPUs with the memory of the other one, as hwloc describes it to programs: `uncore validate` then binds
# threads of chip 0 to memory of chip 1, and the other way round.
EXCHANGED = f'HWLOC_SYNTHETIC="pack:2 [numa(indexes=1,0)] core:{CPUS_OF_CHIP} pu:1" HWLOC_THISSYSTEM=1'


def say(text):
    """A comment of the report."""
    print("#", text, flush=True)


# --- single instructions ---

STRAY_LINES = 3  # of the stack, which is not always in the same place of its lines

# Lines that instructions move: of accesses-power.c of tests/traffic.
ACCESSES = {
    "load_across_lines": {"read": 256},
    "store_across_lines": {"read": 256, "write": 256},
    "load_vectors": {"read": 256},
    "store_vectors": {"read": 256, "write": 256},
    "load_length_across_lines": {"read": 256},
    "store_length_across_lines": {"read": 256, "write": 256},
    "load_quad": {"read": 256},
    "store_quad": {"read": 256, "write": 256},
    "load_reserved": {"read": 256},
    "store_conditional": {"read": 256, "write": 256},
    "clear": {"itom": 256, "write": 256},
    "clear_by_sum": {"itom": 256, "write": 256},
    "clear_and_load": {"itom": 256, "write": 256},
    "load_and_clear": {"read": 256, "write": 256},
    "clear_at_end": {"itom": 256, "write": 256},
}


class Accesses(unittest.TestCase):
    """A program under qemu-user, with the plugin that simulates the guest's memory."""

    title = "traffic: "
    machine = None

    def moved(self, name):
        images = self.machine.images
        with tempfile.NamedTemporaryFile(prefix="uncored-traffic-") as counters:
            said = subprocess.run(
                ["qemu-ppc64le", "-cpu", "power9", "-plugin",
                 f"{images / 'memory-controller.so'},counters={counters.name},ll=256K,sectors=2",
                 images / "accesses-power", name],
                env={**os.environ, "TRAFFIC_COUNTERS": counters.name}, capture_output=True, text=True, check=True)
        return {kind: n // LINE for kind, n in json.loads(said.stdout)[0].items()}

    def test_accesses(self):
        """every line that an instruction touches is counted: vectors across lines, pairs of words, dcbz"""
        idle = self.moved("nothing")
        for name, lines in ACCESSES.items():
            found = self.moved(name)
            for kind in KINDS:
                with self.subTest(case=name, kind=kind):
                    self.assertAlmostEqual(found[kind] - idle[kind], lines.get(kind, 0), delta=STRAY_LINES)


# --- the guest ---

class Simulated(Case):
    """While the guest's memory is simulated."""

    title = "traffic: "

    @classmethod
    def setUpClass(cls):
        for path, value in CALM.items():
            cls.machine.run(f"[ ! -e {path} ] || echo {value} >{path}")
        super().setUpClass()
        cls.machine.simulation.run(True)
        cls.connect(simulation.right_wires())

    @classmethod
    def tearDownClass(cls):
        cls.connect(())
        cls.machine.simulation.run(False)
        super().tearDownClass()

    @classmethod
    def connect(cls, wires):
        simulation.connect(cls.machine.player, cls.machine.simulation, wires)

    def validate(self, options, surroundings=""):
        """(exit status, output) of `uncore validate` of a visitor."""
        command = f"{surroundings} uncore validate {options}"
        return self.machine.run(f"su visitor -s /bin/sh -c '{command}'", check=False, seconds=VALIDATE_S)


class Counted(Simulated):
    def test_every_line(self):
        """`uncore stat` shows every line that the simulation counted meanwhile, and no other"""
        def lines():
            return {(chip, kind): self.machine.simulation.lines(chip, kind) for chip in range(CHIPS)
                    for kind in ("read", "write")}

        def act():
            inner.append(lines())
            self.machine.run("dd if=/dev/zero of=/tmp/zeros bs=1M count=4 2>/dev/null")
            inner.append(lines())
            self.player.wait_for_posts(self.player.chips[0])
        inner, outer = [], [lines()]
        found = self.measure(act)
        outer.append(lines())
        self.assertNotEqual(*inner)
        for chip, kind in inner[0]:
            least, most = (LINE * (after[chip, kind] - before[chip, kind]) for before, after in (inner, outer))
            shown, check = (found[chip, f"{prefix}dram.{kind}"]["bytes"] for prefix in ("", "check."))
            rounded = CHECK_BYTES * len(CHECK_READ)
            with self.subTest(chip=chip, kind=kind, shown=shown, check=check, least=least, most=most):
                self.assertTrue(least <= shown <= most)
                self.assertTrue(least - rounded <= check <= most + rounded)


# What others move, `uncore validate` measures in at most half a second without the kernel, and takes it off in
# proportion to the kernel's time. So its error is as large as itself, which is added to a kernel's
# tolerance. It is small but for kernels that move little in their time, as gemm.
BACKGROUND_MOST = 0.15  # with the tolerance less than one of the four arrays that gemm moves
KERNEL_S = 2  # then three repetitions are enough


@dataclasses.dataclass(frozen=True)
class Where:
    """The chip on which a kernel runs, and that with its memory."""
    chip: int
    memory: int

    @property
    def options(self):
        return f"--node {self.memory}"

    @property
    def surroundings(self):
        return "" if self.chip == self.memory else EXCHANGED

    def __str__(self):
        return f"chip {self.chip} with memory of chip {self.memory}"


class Kernels(Simulated):
    def measure_kernel(self, kernel, where):
        """The rows of `uncore validate`, one for each socket and metric."""
        status, said = self.validate(f"--cache {TOLD_CACHE_BYTES} --kernel {kernel.name} --size {kernel.size} "
                                     f"--threads {kernel.threads} --time {KERNEL_S} {where.options} --csv",
                                     where.surroundings)
        self.assertEqual(status, 0, said)
        table = said[said.index("kernel,"):]  # the console shows what is on stderr before it
        return list(csv.DictReader(io.StringIO(table.strip())))

    def passes_of(self, kernel, rows):
        metric, of_pass = ("dram.write", kernel.written) if kernel.written else ("dram.read", kernel.read)
        predicted, = (int(row["predicted"]) for row in rows if row["metric"] == metric and row["predicted"])
        passes, rest = divmod(predicted, of_pass)
        self.assertTrue(passes > 0 and rest == 0, f"uncore validate predicts {predicted}: no whole passes")
        return passes

    def check_kernel(self, kernel, where):
        began = time.monotonic()
        rows = self.measure_kernel(kernel, where)
        passes = self.passes_of(kernel, rows)
        expected = {(where.memory, "dram.read"): passes * kernel.read,
                    (where.memory, "dram.write"): passes * kernel.written}
        said = []
        for row in rows:
            socket, metric, shown = int(row["socket"]), row["metric"], int(row["bytes"])
            wanted = expected.get((socket, metric), 0)
            off, background = (shown - wanted) / (passes * (kernel.read + kernel.written)), float(row["background"])
            said.append(f"{socket} {metric} {off:+.4f}" + (f" ({shown / wanted:.4f})" if wanted else ""))
            with self.subTest(where=str(where), socket=socket, metric=metric, shown=shown, expected=wanted):
                self.assertLessEqual(background, BACKGROUND_MOST, "others move too much")
                self.assertLessEqual(abs(off), kernel.tolerance + max(background, 0))
        say(f"{kernel.name} {kernel.size}, {where}: {', '.join(said)}; {time.monotonic() - began:.1f} s")


def add_kernel(kernel, places):
    def test(self):
        for where in places:
            self.check_kernel(kernel, where)
    test.__doc__ = kernel.title
    setattr(Kernels, f"test_{kernel.name}_{kernel.size}", test)


def add_kernels():
    """Each on a chip with its own memory; streams also with the other chip's."""
    for number, kernel in enumerate(KERNELS):
        chip = number % CHIPS
        places = [Where(chip, chip)]
        if kernel.threads == CPUS_OF_CHIP:
            places.append(Where(chip, 1 - chip))
        add_kernel(kernel, places)


def add_long_kernels():
    """All of them, in all places."""
    for kernel in KERNELS + LONG_KERNELS:
        add_kernel(kernel, [Where(chip, memory) for chip in range(CHIPS) for memory in range(CHIPS)])


add_kernels()
CASES = [Accesses, Counted, Kernels]
