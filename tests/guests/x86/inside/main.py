# SPDX-License-Identifier: BSD-3-Clause
"""Runs the suite that the kernel's command line names (uncored.suite=NAME), or the suites of its arguments."""
import importlib
import pathlib
import sys

import tap

from harness import reports


def wanted():
    for word in pathlib.Path("/proc/cmdline").read_text().split():
        if word.startswith("uncored.suite="):
            return [word.partition("=")[2]]
    return []


def main():
    print("# The guest has booted.", flush=True)
    cases = []
    for name in sys.argv[1:] or wanted():
        for case in importlib.import_module(name).CASES:
            case.title = f"{name}: {getattr(case, 'about', '')}"
            cases.append(case)
    tap.run(cases, reports)


main()
