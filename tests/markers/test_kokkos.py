# SPDX-License-Identifier: BSD-3-Clause
"""The tool of Kokkos, called by a program as Kokkos calls it."""
import re

import tap
from markers import MODULES, OWN, compile_program, figures, run_with, said_of, simulated

MODULE = str(MODULES / "libuncore-kokkos.so")
REGIONS = {"outer": (1, 17), "inner": (1, 16), "section": (2, 7), "destroyed": (1, 16), "other": (1, 32),
           "thread": (4, 400), "top": (1, 3), "after": (1, 4)}
KERNELS = {"fill": (1, 2), "sum": (1, 4), "prefix": (1, 8), "to <- from": (1, 32), "copy": (1, 32), "threaded": (400, 400)}
LONG = re.compile(r"(.*)~[0-9a-f]{8}")  # short forms of names


def run(machine, **more):
    done = run_with(machine, "auto", compile_program(machine, "cc", OWN / "kokkos.c", "-pthread"), **more)
    tap.equal((done.stdout, said_of(done)), ("done\n", ["uncore run: markers: kokkos."]), "what was said")


def regions():
    """Regions and sections have their bytes, sections of one name overlap, and kernels are left out"""
    with simulated() as machine:
        run(machine)
        found = figures(machine)
        deep = found.pop("deep")
    tap.equal((found, deep[1]), (REGIONS, 1), "regions")


def older():
    """An older Kokkos has its own variable"""
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "kokkos.c", "-pthread")
        machine.run(program, "3.0", KOKKOS_PROFILE_LIBRARY=MODULE, UNCORE_OVERHEAD="0")
        found = figures(machine)
        found.pop("deep")
    tap.equal(found, REGIONS, "regions")


def kernels():
    """With UNCORE_KOKKOS=kernels: kernels and copies, by several threads at once"""
    with simulated() as machine:
        run(machine, UNCORE_KOKKOS="kernels")
        found = {name: figure for name, figure in figures(machine).items() if not LONG.fullmatch(name)}
        found.pop("deep")
    tap.equal(found, REGIONS | KERNELS, "regions and kernels")


def fences():
    """With UNCORE_KOKKOS=fences: the program's fences, and not those that Kokkos adds for its tool"""
    with simulated() as machine:
        run(machine, UNCORE_KOKKOS="fences")
        found = figures(machine)
        found.pop("deep")
    tap.equal(found, REGIONS | {"wait": (1, 1)}, "regions and fences")


def names():
    """Names that no region may have get readable ones, do not merge, and are whole in the report"""
    with simulated() as machine:
        run(machine, UNCORE_KOKKOS="kernels")
        found = {name: figure for name, figure in figures(machine).items() if LONG.fullmatch(name)}
        titles = [region["title"] for region in machine.regions().values() if "title" in region]
    tap.equal(set(found.values()), {(1, 1)}, "passages and lines")
    tap.equal(sorted(LONG.fullmatch(name)[1] for name in found),
              ["", "?", "??", "line?feed", "line?feed", "x" * 54, "x" * 54], "short names")
    tap.equal(titles, ["x" * 99 + "a", "x" * 99 + "b", r"line\x0afeed", r"line\x09feed", r"\xff\xfe", r"\xff"], "whole names")


def depth():
    """Regions deeper than a thread has are counted as failed, and those around them are right"""
    with simulated() as machine:
        run(machine)
        deep = machine.regions()["deep"]
    tap.equal((deep["count"], deep["failed"]), (40, 9), "passages and failures")


def unwanted():
    """Where UNCORE_MARKERS does not name it, or another tool is there, the tool does nothing"""
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "kokkos.c", "-pthread")
        done = machine.run(program, KOKKOS_TOOLS_LIBS=MODULE, UNCORE_KOKKOS="kernels", UNCORE_MARKERS="likwid,kokkos-x")
        refused = run_with(machine, "auto", program, KOKKOS_TOOLS_LIBS=MODULE)
        tap.check(not machine.report_path.exists(), "a report")
    tap.equal((done.stdout, done.stderr), ("done\n", ""), "what was said")
    tap.equal(said_of(refused), ["uncore run: markers: none. Not kokkos: KOKKOS_TOOLS_LIBS is set."], "line")


tap.run_functions([(case.__doc__, case) for case in (regions, older, kernels, fences, names, depth, unwanted)])
