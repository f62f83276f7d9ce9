# SPDX-License-Identifier: BSD-3-Clause
"""A user without privilege sees the counts that the on-chip controllers posted, times their bytes. Where that cannot
be, the value says so."""
import contextlib
import json
import pathlib
import re
import time
import unittest

import traffic
import verdicts
from case import CHECK_BYTES, CHECK_READ, CHECK_WRITE, EXACT, READ, TRANSFER_BYTES, WRITE, Case, by_program, metrics_of

CPUS = {0: (0, 1), 1: (2, 3)}  # of each chip
UNIT_S = 600      # for one unit test
UNIT_TRIES = 3
SAY_S = 10         # of the tests that take longer
WITHOUT_TERMINAL = {"test-watch"}  # it asks script(1) for a terminal, and there is none
# What a page of 64 KiB may change. Of the others, qemu-user runs those that need no kernel of their own
# (./dev cross ppc64el).
BY_PAGES = {"test-ledger", "test-member", "test-page", "test-shared-page", "test-teams"}
# They take up to seven minutes each. The builds for x86 run them.
LONG = {"test-compare", "test-job-kills", "test-jobs", "test-member-kills"}
FROZEN_S = 0.2    # ten times what power9.conf allows a clock to stand


def not_for_qemu_user():
    """The unit tests that tests/unit/meson.build leaves out of a build for another architecture."""
    text = (pathlib.Path(__file__).parents[2] / "unit/meson.build").read_text(encoding="utf-8")
    names, = re.findall(r"^not_emulated = .*?\[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return {f"test-{name}" for name in re.findall(r"'([a-z-]+)'", names)}


def total(offsets, counts, n_bytes):
    return n_bytes * sum(counts[offset] for offset in offsets)


def some_counts(base):
    """A different number for each event: {offset: count}."""
    return {offset: base + 7 * i * i for i, offset in enumerate(READ + WRITE + CHECK_READ + CHECK_WRITE)}


class Counts(Case):
    title = "counts: "

    def test_platform(self):
        """uncored knows the machine by itself, and both of its chips"""
        said = self.as_visitor("uncore info -v")
        self.assertIn("platform power9 ", said)
        for socket, cpus in CPUS.items():
            self.assertIn(f"socket {socket}: nest_mba0_imc on CPU {cpus[0]}", said.replace("0..7", "0"))

    def test_exact(self):
        """`uncore stat` shows a user every count of every controller, times its bytes, on its socket"""
        counts = [some_counts(1000), some_counts(500000)]

        def act():
            for chip, of_chip in enumerate(counts):
                self.player.count(chip, of_chip)
        found = self.measure(act)
        for chip, of_chip in enumerate(counts):
            for metric, offsets, n_bytes in (("dram.read", READ, TRANSFER_BYTES),
                                             ("dram.write", WRITE, TRANSFER_BYTES),
                                             ("check.dram.read", CHECK_READ, CHECK_BYTES),
                                             ("check.dram.write", CHECK_WRITE, CHECK_BYTES)):
                with self.subTest(socket=chip, metric=metric):
                    value = found[chip, metric]
                    self.assertEqual(value.get("bytes"), total(offsets, of_chip, n_bytes))
                    self.assertEqual(self.quality_of(chip, value), EXACT)

    def test_nothing(self):
        """while nothing is counted, everything is 0"""
        found = self.measure(lambda: None)
        self.assertEqual({value["bytes"] for value in found.values() if "bytes" in value}, {0})

    def test_absent(self):
        """metrics that this machine does not count are absent, with the reason"""
        self.assertEqual(self.measure(lambda: None)[0, "itom"],
                         {"absent": "The nest counters of this CPU have no such event."})

    def test_steps(self):
        """readings closer than the posts see steps, which add up, and are not called frozen"""
        def act():
            for _ in range(30):
                self.count(0, 100)
        objects = [json.loads(line) for line in self.stat(act, "-I 10").splitlines() if line]
        values = [metrics_of(each)[0, "dram.read"] for each in objects]
        self.assertGreater(len(values), 10)
        self.assert_exact(metrics_of(objects[-1]), 0, 3000)
        self.assertEqual(sum(value["bytes"] for value in values[:-1]), values[-1]["bytes"])
        self.assertEqual([self.quality_of(0, value) for value in values], [EXACT] * len(values))
        self.assertEqual({value["bytes"] % (100 * TRANSFER_BYTES) for value in values}, {0})


class Faults(Case):
    title = "faults: "

    def test_frozen(self):
        """a chip whose controller stops posting is frozen from then on, the other is not"""
        broken = contextlib.ExitStack()

        def act():
            broken.enter_context(self.player.broken(0))
            self.count(1, 10)
            time.sleep(FROZEN_S)
        with broken:
            found = metrics_of(json.loads(self.stat(act, "-I 50").strip().splitlines()[-1]))
        self.assertIn("frozen", found[0, "dram.read"]["quality"])
        self.assertIn("frozen", found[0, "dram.write"]["quality"])
        self.assert_exact(found, 1, 10)

    def test_frozen_still(self):
        """a chip whose controller had stopped before is frozen, too"""
        with self.player.broken(1):
            found = self.measure(lambda: time.sleep(FROZEN_S))
        self.assertIn("frozen", found[1, "dram.read"]["quality"])
        self.assertNotIn("frozen", self.quality_of(0, found[0, "dram.read"]))

    def test_thawed(self):
        """when the controller posts again, values are exact and not called frozen"""
        time.sleep(FROZEN_S)
        self.measure(lambda: time.sleep(FROZEN_S))
        self.assert_exact(self.measure(lambda: self.count(1, 5)), 1, 5)

    def test_reset(self):
        """counts that went back are called reset, and never a huge number"""
        self.count(0, 1 << 20)

        def act():
            self.player.zero(0)
            self.count(1, 10)
        found = self.measure(act)
        self.assertIn("reset", found[0, "dram.read"]["quality"])
        self.assertEqual(found[0, "dram.read"]["bytes"], 0)
        self.assert_exact(found, 1, 10)

    def test_after_reset(self):
        """after a reset, values are exact"""
        self.assert_exact(self.measure(lambda: self.count(0, 12)), 0, 12)


class Hotplug(Case):
    """At the end the CPUs are as they were, but the cpumask is not: the driver leaves it where it is."""

    title = "hotplug: "

    def test_cpu_goes(self):
        """counts before and after a chip's CPU goes offline are all there"""
        def act():
            self.count(0, 100)
            self.online(0, False)
            self.count(0, 50)
        self.assert_exact(self.measure(act), 0, 150)
        self.assertEqual(self.cpumask(), "1-2")

    def test_reader_follows(self):
        """the thread that reads has gone where the counters went"""
        said = self.machine.run("for task in /proc/$(cat /tmp/uncored.pid)/task/*; do "
                                "echo $(cat $task/comm $task/status | grep -e ^socket -e ^Cpus_allowed_list); done")
        self.assertIn("socket0 Cpus_allowed_list: 1\n", said)
        self.assertIn("socket1 Cpus_allowed_list: 2\n", said)

    def test_moved_cpumask(self):
        """uncored started on a cpumask of 1-2 counts each chip once"""
        self.restart_uncored()
        found = self.measure(lambda: (self.count(0, 7), self.count(1, 9)))
        self.assert_exact(found, 0, 7)
        self.assert_exact(found, 1, 9)

    def test_cpu_is_back(self):
        """each chip is counted once when the CPU is back and the cpumask is not"""
        self.online(0, True)
        self.assertEqual(self.cpumask(), "1-2")
        found = self.measure(lambda: (self.count(0, 7), self.count(1, 9)))
        self.assert_exact(found, 0, 7)
        self.assert_exact(found, 1, 9)

    def test_chip_goes(self):
        """when a whole chip goes, its value is whole or says that it is not"""
        def act():
            self.count(1, 100)
            for cpu in CPUS[1]:
                self.online(cpu, False)
            self.count(1, 50)
            self.count(0, 3)
            time.sleep(FROZEN_S)
        found = self.measure(act)
        self.assert_exact(found, 0, 3)
        self.assert_whole_or_flagged(found[1, "dram.read"], 150)

    def test_chip_is_back(self):
        """when the chip comes back, a new measurement is whole or says that it is not"""
        for cpu in CPUS[1]:
            self.online(cpu, True)
        found = self.measure(lambda: (self.count(1, 11), time.sleep(FROZEN_S)))
        self.assert_whole_or_flagged(found[1, "dram.read"], 11)

    def test_restart_is_whole(self):
        """a restarted uncored counts the whole machine again"""
        self.restart_uncored()
        found = self.measure(lambda: (self.count(0, 5), self.count(1, 6)))
        self.assert_exact(found, 0, 5)
        self.assert_exact(found, 1, 6)


class UnitCase(unittest.TestCase):
    title = "unit: "
    machine = None

    def assert_pass(self, names):
        for name in sorted(names):
            for _ in range(UNIT_TRIES):
                began = time.monotonic()
                status, said = self.run_program(name)
                if time.monotonic() - began > SAY_S:
                    traffic.say(f"{name}: {time.monotonic() - began:.0f} s")
                if status == 0:
                    break
            with self.subTest(program=name):
                self.assertEqual(status, 0, said)

    def run_program(self, name):
        """Runs a unit test. A few cases compare times, and an emulated machine on a busy computer stands still at
        times, so a failure must repeat each time."""
        return self.machine.run("cd / && CMOCKA_MESSAGE_OUTPUT=TAP UNCORE_SOURCE_ROOT=/uncored "
                                f"UNCORE_BUILD_ROOT=/uncored/build /uncored/build/tests/unit/{name}",
                                check=False, seconds=UNIT_S)


class Units(UnitCase):
    """On a real kernel of this architecture, whose pages have 64 KiB: qemu-user has the pages of the computer it runs on,
    and lacks a few system calls."""

    def test_page_size(self):
        """pages here have 64 KiB"""
        self.assertIn("KernelPageSize:       64 kB", self.machine.run("cat /proc/self/smaps"))

    def test_kernel(self):
        """unit tests that need a kernel, or memory in pages, pass, except the long ones"""
        names = not_for_qemu_user() | BY_PAGES
        self.assertLessEqual(names, set(self.machine.run("ls /uncored/build/tests/unit").split()))
        self.assert_pass(names - WITHOUT_TERMINAL - LONG)


class LongUnits(UnitCase):
    """With --all."""

    def test_all(self):
        """the long unit tests pass, too"""
        self.assert_pass(LONG)


# After hotplug the cpumask is another one.
SUITES = {
    "counts": [Counts, by_program(Counts)],
    "faults": [Faults, by_program(Faults)],
    "traffic": traffic.CASES + verdicts.CASES,
    "hotplug": [Hotplug],
    "unit": [Units],
}


def add_long():
    """What takes too long to be done each time."""
    traffic.add_long_kernels()
    verdicts.add_long_defects()
    SUITES["traffic"].append(verdicts.Whole)
    SUITES["unit"].append(LongUnits)
