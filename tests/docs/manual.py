# SPDX-License-Identifier: BSD-3-Clause
"""The literal blocks of the manual, and who runs each: scdoc allows no word behind the three backticks. In the order of
each page's blocks."""
import re

from fences import SOURCE, Fence

HERE = "here"  # test_commands.py
ROOT = "here, as root"
SHOWN = "nobody: it shows an output, or a part of a file"
SYSTEMD = "nobody: it needs a systemd that runs"
BATCH = "nobody: it needs a batch system, or a second node"

WHO = {
    "libuncore.3": ("suite abi", "suite system"),
    "pmdauncore.1": (SHOWN, SHOWN, "suite pcp", SHOWN, "suite pcp", SHOWN, SHOWN, "suite pcp", "suite pcp"),
    "uncore-export.1": (SHOWN, SYSTEMD, SYSTEMD, SHOWN, "suite monitor", SHOWN, SHOWN, SHOWN),
    "uncore-fortran.3": ("suite fortran", "suite fortran"),
    "uncore-markers.7": (SHOWN, "suite markers"),
    "uncore-numbers.7": (HERE, HERE, HERE, SHOWN, HERE),
    "uncore-platform.5": (SHOWN, SHOWN, "suite platforms", "suite platforms"),
    "uncore-python.3": ("suite python", "suite python", "suite python"),
    "uncore.1": (HERE, HERE, ROOT, HERE, HERE, HERE, HERE, HERE, HERE, HERE, "suite validate", "suite validate", HERE,
                 "suite ranks", "suite jobs", HERE),
    "uncore.hpp.3": ("suite cplusplus", "suite cplusplus"),
    "uncored-jobs.7": ("suite jobs", SHOWN, BATCH, HERE, "suite jobs", "suite jobs", BATCH, BATCH, "suite jobs",
                       "suite jobs", "suite jobs", "suite pcp", SHOWN, SYSTEMD, "suite pcp"),
    "uncored-security.7": (SHOWN, SHOWN, ROOT),
    "uncored.8": (SYSTEMD, SYSTEMD, SHOWN),
    "uncored.conf.5": (SHOWN, SHOWN, SHOWN),
}
# What a reader has in the place of these words.
OWN = (("./solver input.dat", "./app"), ("--for 1m", "--for 1s"), ("-p 4711", "-p $$"))


def blocks():
    """{page: its blocks}"""
    found = {}
    for path in sorted((SOURCE / "man").glob("*.scd")):
        text = path.read_text(encoding="utf-8")
        matches = list(re.finditer(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
        if matches:
            found[path.stem] = [(text.count("\n", 0, match.start()) + 1, match[1]) for match in matches]
    return found


def examples():
    """The blocks that test_commands.py runs."""
    for page, found in blocks().items():
        for (line, text), who in zip(found, WHO[page]):
            if who in (HERE, ROOT):
                for theirs, own in OWN:
                    text = text.replace(theirs, own)
                yield Fence(f"man/{page}.scd", line, "sh", "", f"{text}true sudo\n" if who == ROOT else text)
