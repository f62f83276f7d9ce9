# SPDX-License-Identifier: BSD-3-Clause
"""`uncore validate` calls right counters right, and names what is wrong with others, whose wires a case has changed."""
import dataclasses
import json
import time

import simulation
from case import TRANSFER_BYTES
from kernels import TOLD_CACHE_BYTES, TOLERANCE
from simulation import CHANNELS, CHIPS
from traffic import Simulated, say

SILENT = 3  # a channel
EVADED_TOLERANCE = 3 * TOLERANCE  # of one array, where copy moves three


def changed(change):
    """The right wires, with those of change() in place of each."""
    return [new for wire in simulation.right_wires() for new in change(wire)]


def other_kind(wire):
    return dataclasses.replace(wire, kind={"read": "write", "write": "read"}[wire.kind])


def scaled(counts, lines):
    return changed(lambda wire: [dataclasses.replace(wire, scale=(counts * wire.scale[0], lines * wire.scale[1]))])


def swapped():
    return changed(lambda wire: [other_kind(wire)])


def both_together():
    return changed(lambda wire: [wire, other_kind(wire)])


def halved():
    return scaled(1, 2)


def doubled():
    return scaled(2, 1)


def silent():
    return changed(lambda wire: [] if wire.channel == SILENT else [wire])


def chips_exchanged():
    return changed(lambda wire: [dataclasses.replace(wire, memory=1 - wire.memory)])


# What is planted, and words of what is said about it.
DEFECTS = {
    "swapped reads and writes": (swapped, ["Reads and writes are swapped"]),
    "half of the bytes": (halved, ["a factor of 0.5."]),
    "a silent controller": (silent, [f"1 of {CHANNELS} channels count nothing", f"mba{SILENT}"]),
    "the other chip's counters": (chips_exchanged, ["shows on other counters", "of socket 1."]),
}
# With --all.
LONG_DEFECTS = {
    "metrics that both count the total": (both_together, ["of the reads and "]),
    "twice the bytes": (doubled, ["a factor of 2."]),
}


class Judged(Simulated):
    def judge(self, options):
        """(exit status, nodes of the report)"""
        began = time.monotonic()
        status, said = self.validate(f"--cache {TOLD_CACHE_BYTES} --json {options}")
        try:
            nodes = json.loads(said)["nodes"]
        except ValueError as error:
            raise AssertionError(f"uncore validate ended with {status}: {said}") from error
        for node in nodes:
            say(f"chip {node['node']}, {time.monotonic() - began:.1f} s: {node['outcome']} {node['findings']}")
        return status, nodes


class Validate(Judged):
    def test_right(self):
        """right counters are right on both chips, and their counts are worth as many bytes as power9.conf says"""
        status, nodes = self.judge("--quick")
        self.assertEqual(status, 0)
        self.assertEqual([(node["node"], node["outcome"], node["findings"]) for node in nodes],
                         [(chip, "right", []) for chip in range(CHIPS)])
        for node in nodes:
            self.assertEqual([kernel["kernel"] for kernel in node["kernels"]], ["load", "update", "fill"])
            self.assertEqual([metric["bytes"] for metric in node["calibration"]], [TRANSFER_BYTES] * 2)

    def check_defect(self, wires, words):
        self.connect(wires())
        try:
            status, (node,) = self.judge("--quick --node 0")
        finally:
            self.connect(simulation.right_wires())
        self.assertEqual((status, node["outcome"]), (1, "defect"), node["findings"])
        self.assertLessEqual(len(node["findings"]), 2, "at most one of each metric")
        for word in words:
            self.assertIn(word, " ".join(node["findings"]))


class Whole(Judged):
    def test_whole(self):
        """every store reads its line, dcbz reads none, and memory of the other chip shows on that chip's socket"""
        status, nodes = self.judge("")
        self.assertEqual((status, [node["outcome"] for node in nodes]), (0, ["right"] * CHIPS))
        for chip, node in enumerate(nodes):
            evaded = [kernel["evaded"] for kernel in node["kernels"] if kernel["kernel"] in ("store1", "copy")]
            self.assertEqual(len(evaded), 4, "one thread, and all, of two kernels")
            remote = node["remote"]
            self.assertEqual(remote["memory_of_node"], 1 - chip)
            shares = [socket["dram.read"] / remote["predicted"] for socket in remote["shown"]]
            cleared, = (kernel["evaded"] for kernel in node["kernels"] if kernel["kernel"] == "fill")
            say(f"memory of chip {1 - chip}, read by chip {chip}: {shares}; evaded: {evaded}, by fill {cleared}")
            for share, wanted in [(share, 0) for share in evaded] + [(cleared, 1)]:
                self.assertAlmostEqual(share, wanted, delta=EVADED_TOLERANCE)
            self.assertAlmostEqual(shares[chip], 0, delta=TOLERANCE)
            self.assertAlmostEqual(shares[1 - chip], 1, delta=TOLERANCE)


def add_defects(defects):
    for what, (wires, words) in defects.items():
        def test(self, wires=wires, words=words):
            self.check_defect(wires, words)
        test.__doc__ = f"{what}: named, and nothing else"
        setattr(Validate, f"test_{wires.__name__}", test)


def add_long_defects():
    add_defects(LONG_DEFECTS)


add_defects(DEFECTS)
CASES = [Validate]
