# SPDX-License-Identifier: BSD-3-Clause
"""The library of NVTX, by a program that does what NVTX's header does."""
import re

import tap
from markers import MODULES, OWN, compile_program, figures, run_with, said_of, simulated

SAID = "depths -2 -2 -2 -2 -2 -2 -2\ndomains 1 1 1\nranges 1\ndone\n"


def run(machine):
    program = compile_program(machine, "cc", OWN / "nvtx.c", "-rdynamic", "-pthread")
    done = run_with(machine, "auto", program)
    tap.equal((done.stdout, said_of(done)), (SAID, ["uncore run: markers: nvtx."]), "what was said")


def ranges():
    """Ranges in stacks, in domains and across threads have their bytes; wide and registered strings; no marks"""
    with simulated() as machine:
        run(machine)
        found = figures(machine)
    tap.equal({name: figure for name, figure in found.items() if not name.startswith("long/")},
              {"outer": (1, 7), "w\u00eed\u20ac \U0001f600": (1, 6), "event": (1, 4),
               "one/registered": (1, 7), "no domain": (2, 12), "tw\u00f6/wide": (2, 62), "tw\u00f6/inner": (1, 32),
               "one/": (1, 0), "range": (2, 15), "one/range": (1, 6)}, "ranges")


def names():
    """Texts of any length do not merge"""
    with simulated() as machine:
        run(machine)
        found = [name for name in figures(machine) if name.startswith("long/")]
        titles = [region["title"] for name, region in machine.regions().items() if name in found]
    tap.equal(sorted(re.sub("[0-9a-f]{8}$", "", name) for name in found),
              [f"long/{'x' * 49}~"] * 2 + [f"long/{'y' * 49}~"] * 2, "short names")
    tap.equal([len(title) for title in titles], [2047] * 4, "whole names, as far as there is room")
    tap.equal(len(set(titles)), 4, "whole names")


def unwanted():
    """Where UNCORE_MARKERS does not name it, the program runs as without a library"""
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "nvtx.c", "-pthread")
        done = machine.run(program, NVTX_INJECTION64_PATH=str(MODULES / "libuncore-nvtx.so"), UNCORE_MARKERS="likwid,")
        tap.check(not machine.report_path.exists(), "a report")
    tap.equal((done.stdout, done.stderr), ("depths 0 0 0 0 0 0 0\ndomains 1 0 1\nranges 0\ndone\n", ""), "what was said")


tap.run_functions([(case.__doc__, case) for case in (ranges, names, unwanted)])
