# SPDX-License-Identifier: BSD-3-Clause
"""Programs with marks of other interfaces, on the simulated machine of suite python: only they move its counts, so the truth
is exact. Nothing here needs privilege."""
import pathlib

import tap
from languages import BUILD, LINE, PROGRAMS, SOURCE, bytes_of, simulated

OWN = SOURCE / "tests/markers/programs"
MODULES = BUILD / "client/markers"
INCLUDES = (f"-I{PROGRAMS}", f"-I{SOURCE}")
UNCORE = BUILD / "client/uncore"


def need_file(path, package):
    if not pathlib.Path(path).exists():
        raise tap.Skip(f"{package} is not installed: ./dev setup --tests")


def compile_program(machine, compiler, source, *more):
    """The program of @source, with what moves bytes on the simulated machine."""
    machine.run("cc", "-c", "-O1", "-fPIC", *INCLUDES, "-o", "mover.o", PROGRAMS / "mover.c")
    name = pathlib.Path(source).stem
    machine.run(compiler, "-O1", "-g", *INCLUDES, "-o", name, source, "mover.o", *more)
    return f"./{name}"


def run_with(machine, markers, *command, **more):
    """Runs it below uncore run; each begin and end takes a reading unless @more says otherwise."""
    return machine.run(UNCORE, "run", f"--markers={markers}", "--", *command, **{"UNCORE_OVERHEAD": "0", **more})


def lines_of(region, metric="dram.read"):
    """On all sockets."""
    return sum(bytes_of(region, metric)) // LINE


def lines(machine):
    return {name: lines_of(region) for name, region in machine.regions().items()}


def counts(machine):
    return {name: region["count"] for name, region in machine.regions().items()}


def figures(machine):
    """Passages and lines of each region."""
    return {name: (region["count"], lines_of(region)) for name, region in machine.regions().items()}


def said_of(done):
    """The line of uncore run about markers."""
    return [line for line in done.stderr.splitlines() if line.startswith("uncore run: ")]


__all__ = ["BUILD", "LINE", "MODULES", "OWN", "SOURCE", "UNCORE", "bytes_of", "compile_program", "counts", "figures", "lines",
           "lines_of", "need_file", "run_with", "said_of", "simulated"]
