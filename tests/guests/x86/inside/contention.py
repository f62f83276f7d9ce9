# SPDX-License-Identifier: BSD-3-Clause
"""A second user of the counters. The program that opens pinned events first has them. uncored opens pinned
groups and, where it comes too late, single events that take turns: then its values are estimated, say so, and are
near the truth."""
import time

from harness import (Case, by_program, control, load_machine, measure, metrics_of, start_uncored, stop_uncored,
                     sysctl_paranoid)
from perf_events import OtherEvents

MACHINE = "icelake-sp"
BOXES = [f"uncore_imc_{n}" for n in range(12)]  # of four counters; uncored wants two
THREE = [0x0000, 0x0102, 0x0203]
FOUR = THREE + [0x0304]
DESIGNATED = [0, 2]
RATE = 1_000_000  # reads of every box a second
LINE = 64
SECONDS = 10
TOLERANCE = 0.02


def for_all_boxes(verb, n):
    return [f"{verb} {pmus} * f04 {n}" for pmus in ("uncore_imc_?", "uncore_imc_1?")]


class Contention(Case):
    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(MACHINE)

    def tearDown(self):
        control(*for_all_boxes("rate", 0))
        stop_uncored()

    def assert_exact(self):
        found = metrics_of(measure(lambda: control(*for_all_boxes("add", 31))))
        for socket in (0, 1):
            self.assertEqual(found[socket, "dram.read"], {"bytes": 31 * len(BOXES) * LINE, "quality": []})

    def test_later(self):
        """a later program takes nothing away: values stay exact"""
        start_uncored()
        with OtherEvents(BOXES, THREE, DESIGNATED):
            self.assert_exact()

    def test_earlier(self):
        """beside an earlier program, values over 10 s of turns are right to 2 %, and called estimated"""
        with OtherEvents(BOXES, THREE, DESIGNATED):
            start_uncored()
            control(*for_all_boxes("rate", RATE))
            report = measure(lambda: time.sleep(SECONDS))
        for socket in (0, 1):
            value = metrics_of(report)[socket, "dram.read"]
            truth = len(BOXES) * RATE * LINE * report["sockets"][socket]["window_ns"] / 1e9
            with self.subTest(socket=socket, value=value, truth=truth):
                self.assertEqual(value["quality"], ["estimated"])
                self.assertLess(abs(value["bytes"] / truth - 1), TOLERANCE)

    def test_gone(self):
        """when the other has gone, values are exact again, and say so"""
        with OtherEvents(BOXES, THREE, DESIGNATED):
            start_uncored()
            measure(lambda: None)
        measure(lambda: None)
        self.assert_exact()

    def test_nothing_left(self):
        """where the other has taken every counter, values are absent or flagged, and never 0 without a word"""
        with OtherEvents(BOXES, FOUR, DESIGNATED):
            start_uncored()
            found = metrics_of(measure(lambda: control(*for_all_boxes("add", 31))))
        for socket in (0, 1):
            value = found[socket, "dram.read"]
            self.assertTrue(value.get("absent") or value.get("quality"), value)
            self.assertIn("bytes" if value.get("quality") else "absent", value)


CASES = [Contention, by_program(Contention)]
