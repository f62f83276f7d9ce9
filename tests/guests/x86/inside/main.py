# SPDX-License-Identifier: BSD-3-Clause
"""Runs the suites that the kernel's command line names (uncored.suite=NAME,NAME), or those of its arguments."""
import importlib
import sys

import tap

from harness import reports, word_of_command_line


def main():
    print("# The guest has booted.", flush=True)
    cases = []
    for name in sys.argv[1:] or word_of_command_line("suite").split(","):
        for case in importlib.import_module(name).CASES:
            case.title = f"{name}: {getattr(case, 'about', '')}"
            cases.append(case)
    tap.run(cases, reports)


main()
