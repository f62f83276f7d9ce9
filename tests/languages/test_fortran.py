# SPDX-License-Identifier: BSD-3-Clause
"""Fortran's module uncore: programs that know what they moved.

    test_fortran.py COMPILER OPTION..
"""
import re
import shutil
import sys

import pages
import tap
from languages import BUILD, PROGRAMS, SOURCE, bytes_of, counts_of, installed, need, simulated, user_of_prefix

COMPILER = sys.argv[1:]
MODULE = SOURCE / "client/fortran/uncore.f90"
LIBRARY = (f"-L{BUILD}/client", "-luncore")
RANKS = 4


def build(machine, compiler, name, *options):
    machine.run("cc", "-c", f"-I{SOURCE}", "-o", "mover.o", PROGRAMS / "mover.c")
    machine.run(*compiler, *options, "-o", name, MODULE, PROGRAMS / f"{name}.f90", "mover.o", *LIBRARY)


def check_marked(machine):
    said = machine.run("./marked", UNCORE_OVERHEAD="0").stdout.splitlines()
    regions = machine.regions()
    tap.check("never" in said[0], said[0])
    tap.equal(said[1:], ["The meter was not started and stopped.", "0 640", "0 1280",
                         "The simulated machine has no such memory."], "meter")
    tap.equal({name: (region["count"], sum(bytes_of(region)) // 64) for name, region in regions.items()},
              {"padded": (2, 2), "first": (1, 2), "second": (1, 3), "span": (2, 4), "waiting/any": (1, 6),
               "waiting/none": (0, 0), "waiting/some": (0, 0), "waiting/all": (0, 6)}, "passages and lines")
    tap.equal([counts_of(region, "failed", "open", "died") for region in regions.values()], [[0, 0, 0]] * 8, "failures")
    tap.equal(regions["second"]["work"], {"cells": 3}, "work")
    tap.equal(regions["second"]["title"], "the second of all", "title")
    tap.check((machine.folder / "sofar.json").exists(), "no report sofar.json")


def marked():
    """Regions, spans and meters have what moved, blanks at the end of names do not count, and there is no warning"""
    with simulated() as machine:
        build(machine, COMPILER, "marked")
        check_marked(machine)


def checked():
    """The program has no error that the compiler's checks find"""
    with simulated() as machine:
        build(machine, COMPILER, "marked", "-g", "-fcheck=all", "-fsanitize=address,undefined", "-fno-sanitize-recover")
        check_marked(machine)


def layouts():
    """Structures have the members of those in the header, in their order"""
    text = MODULE.read_text(encoding="utf-8")
    header = (SOURCE / "client/libuncore/uncore.h").read_text(encoding="utf-8")
    for ours, theirs in (("c_value", "uncore_value"), ("c_sample", "uncore_sample"), ("c_delta_value", "uncore_delta_value"),
                         ("c_delta", "uncore_delta"), ("c_machine", "uncore_machine")):
        fields = re.search(rf"type, bind\(c\) :: {ours}\n(.*?)end type", text, re.DOTALL)[1]
        members = re.search(rf"^struct {theirs} \{{(.*?)^\}};", header, re.DOTALL | re.MULTILINE)[1]
        have = [name for line in fields.splitlines() if "::" in line
                for name in re.findall(r"(\w+)(?:\([\w]+\))?(?: = [\w]+)?(?:, |$)", line.split(":: ")[1])]
        want = re.findall(r"(\w+)(?:\[\w+\])?;", re.sub(r"/\*.*?\*/", "", members, flags=re.DOTALL))
        tap.equal(have, want, f"members of {ours}")


def groups():
    """Ranks of MPI in groups: one report, in which each group's region has its ranks and bytes"""
    need("mpif90", "mpirun")
    with simulated() as machine:
        build(machine, ["mpif90", *COMPILER[1:]], "groups")
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": str(machine.folder)}
        machine.run("mpirun", "--oversubscribe", "-n", RANKS, "./groups", **root)
        report, regions = machine.report(), machine.regions()
    tap.equal((report["expected"], len(report["members"])), (RANKS, RANKS), "ranks")
    half = RANKS // 2
    tap.equal({name: (region["count"], region["ranks"], bytes_of(region)) for name, region in regions.items()},
              {"ocean": (half, half, [half * 640, 0]), "air": (half, half, [0, half * 640])}, "regions")


def source():
    """The source is installed, and pkg-config says where"""
    need("pkg-config")
    with simulated() as machine:
        path = machine.run("pkg-config", "--variable=fortran_source", "libuncore", **user_of_prefix()).stdout.strip()
    tap.check(path.startswith(str(installed())), path)
    with open(path, encoding="utf-8") as file:
        tap.equal(file.read(), MODULE.read_text(encoding="utf-8"), "source")


if not shutil.which(COMPILER[0]):
    tap.skip_all(f"{COMPILER[0]} is not installed: ./dev setup")
# Debian's MPI has a module for gfortran, and the checks are gfortran's.
GFORTRANS = ((checked, groups, layouts, source), pages.cases("fortran")) if COMPILER[0] == "gfortran" else ((), [])
tap.run_functions([(case.__doc__, case) for case in (marked, *GFORTRANS[0])] + GFORTRANS[1])
