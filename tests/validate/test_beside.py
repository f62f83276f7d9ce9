# SPDX-License-Identifier: BSD-3-Clause
"""`uncore validate` beside other programs on the same memory. Prints TAP.

Usage: test_beside.py [REPEAT]: each case so many times.
"""
import os
import re
import sys

import machine
import tap
from machine import DEFECT, INCONCLUSIVE, RIGHT, Machine

TRIES = 5
REPEAT = int(sys.argv[1]) if len(sys.argv) > 1 else 1
machine.cpu = min(1, os.cpu_count() - 1)
HALF = r"dram\.read: a factor of about 0\.[3-6]\d, the same on each channel\."


def busy():
    """Beside a neighbour that comes and goes, a right machine is right or too noisy, and never wrong"""
    for _ in range(REPEAT):
        with machine.serving(Machine()) as served, machine.neighbour(served):
            status, report = served.judge("--quick", "--time", "3")
            tap.check(status in (RIGHT, INCONCLUSIVE), f"status {status}: {machine.findings(report)}")


def judge_beside(wrong):
    """(status, findings) beside a steady neighbour. The machine below may be too busy for a verdict: some tries."""
    for _ in range(TRIES):
        with machine.serving(wrong) as served, machine.steady_neighbour(served):
            status, report = served.judge("--quick", "--error", "2", "--time", "6")
        found = machine.findings(report)
        print(f"# {status}: {found}", flush=True)
        if status != INCONCLUSIVE:
            break
    return status, found


def beside_steady():
    """Beside a neighbour that moves a fifth as much as the kernels, a right machine is right, and half is half"""
    for wrong, verdict, words in ((Machine(), RIGHT, r"The verdict takes that off\."),
                                  (Machine(scales={"read": 32, "write": 32}), DEFECT, HALF)):
        for _ in range(REPEAT):
            status, found = judge_beside(wrong)
            tap.check(status == verdict and re.search(words, " ".join(found)), f"status {status}: {found}")


tap.run_functions([(body.__doc__, body) for body in (busy, beside_steady)])
