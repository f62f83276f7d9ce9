# SPDX-License-Identifier: BSD-3-Clause
"""`uncore validate` calls a right machine right, and names each defect. Prints TAP.

Usage: test_defects.py [REPEAT]: each case so many times.
"""
import os
import re
import sys

import machine
import tap
from machine import DEFECT, RIGHT, Machine

REPEAT = int(sys.argv[1]) if len(sys.argv) > 1 else 1
PATIENCE_S = "100"  # of a kernel, where the machine below moves pages
machine.cpu = CPU = min(1, os.cpu_count() - 1)  # test_command.py has CPU 0


def events(**kinds):
    return {"read": ["read"], "write": ["write"], "itom": ["itom"], "specitom": ["specitom"], **kinds}


# name, machine, a finding's words; none: the counters are right
ROWS = [
    ("counters that are right", Machine(), None),
    ("spare boxes that count nothing", Machine(boxes=(0, 1, 2, 3, 15, 15)), None),
    ("reads and writes swapped", Machine(events(read=["write"], write=["read"])), "Reads and writes are swapped."),
    ("both metrics counting the total", Machine(events(read=["read", "write"], write=["read", "write"])),
     re.compile(r"dram\.write shows (1\.0|0\.9)\d of the reads and (1\.0|0\.9)\d of the writes\.")),
    ("half of the bytes", Machine(scales={"read": 32, "write": 32}), "dram.read: a factor of 0.5."),
    ("twice the bytes", Machine(scales={"read": 128, "write": 128}), "dram.write: a factor of 2."),
    ("counts for bytes", Machine(scales={"read": 1, "write": 1}),
     "a factor of 0.015625. One count is worth 64 times the bytes"),
    ("a silent channel", Machine(boxes=(0, 1, 2, 15)), "1 of 4 channels count nothing. Boxes that count nothing: imc3"),
    ("a channel without a box", Machine(boxes=(0, 1, 2)), re.compile(r"dram\.read: a factor of 0\.7[45]\d, the same on each channel\.")),
    ("boxes counted twice", Machine(boxes=(0, 1, 2, 3, 0)), re.compile(r"dram\.read: a factor of 1\.2[45]\d, the same on each channel\.")),
    ("metrics that never contain something", Machine(more="partial = Devices are not contained.\n"),
     "Remark: dram.read is partial on all machines of this kind: Devices are not contained. The verdict is on the rest."),
    ("two channels counted twice, and two never", Machine(boxes=(0, 0, 2, 2)),
     "dram.read: these boxes show the same to the byte: imc0, imc1, imc2, imc3."),
    ("reads and writes on different boxes", Machine(boxes=(0, 1, 2, 3, 15, 15), write_boxes=(15, 15, 2, 3, 0, 1)),
     "dram.read: not every channel shows the same. These differ: imc0, imc1, imc4, imc5."),
    ("another socket's counters", Machine(packages=f"{1 - CPU} {CPU}"),
     re.compile(rf"shows on other counters: (1\.0|0\.9)\d of it in dram\.read and dram\.write of socket {CPU}\.")),
    # It is measured, to 0.005 of 3.
    ("writes three times too large", Machine(scales={"write": 192}),
     re.compile(r"dram\.write: a factor of (2\.99[5-9]|3\.00[0-4]),")),
    ("no writes", Machine(events(write=["specitom"])), "dram.write shows 0.00 of the reads and 0.00 of the writes."),
    ("writes in the reads, too", Machine(events(read=["read", "write"])),
     re.compile(r"dram\.read shows (1\.0|0\.9)\d of the reads and (1\.0|0\.9)\d of the writes\.")),
]


def has(text, words):
    return words in text if isinstance(words, str) else words.search(text)


def case(name, wrong, words):
    is_remark = "Remark" in str(words)

    def body():
        for _ in range(REPEAT):
            with machine.serving(wrong) as served:
                status, report = served.judge("--quick", "--time", PATIENCE_S)
            found = machine.findings(report)
            tap.equal(status, DEFECT if words and not is_remark else RIGHT, f"status, with {found}")
            if words:
                tap.check(any(has(text, words) for text in found), f"'{words}' is not in {found}")
            else:
                tap.equal(found, [], "findings")
    body.__doc__ = f"{name.capitalize()}: {'right' if is_remark or not words else 'the defect is named'}"
    return body


tap.run_functions([(body.__doc__, body) for body in (case(*row) for row in ROWS)])
