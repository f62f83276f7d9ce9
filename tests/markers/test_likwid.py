# SPDX-License-Identifier: BSD-3-Clause
"""LIKWID's marks in programs that are linked with Debian's liblikwid, and LIKWID's own examples."""
import re

import markers
import tap
from markers import BUILD, MODULES, OWN, SOURCE, compile_program, counts, lines, need_file, run_with, said_of, simulated

EXAMPLES = "/usr/share/likwid/examples"
LIKWID = ("-DLIKWID_PERFMON", "-llikwid", "-pthread")
THREADS = 4


def likwid():
    need_file("/usr/include/likwid-marker.h", "likwid")


def threads():
    """Four threads: each is told its own time and count, no event is; regions that overlap lose no byte"""
    likwid()
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "likwid-threads.c", *LIKWID)
        done = run_with(machine, "auto", program)
        moved, passages = lines(machine), counts(machine)
        titles = [region.get("title") for region in machine.regions().values()]
        shown = machine.run(markers.UNCORE, "report", machine.report_path).stdout
    said = sorted(done.stdout.splitlines())
    tap.equal(said, sorted(f"{i} {name} 0 {count} right 7" for i in range(THREADS)
                           for name, count in (("shared", i + 1), ("elsewhere", 0), ("shared", 0))), "GetRegion")
    tap.equal(said_of(done), ["uncore run: markers: likwid."], "line")
    shorter = [name for name in moved if name.startswith("x")]
    tap.check(len(shorter) == 2 and all(re.fullmatch("x{54}~[0-9a-f]{8}", name) for name in shorter), f"{shorter}")
    tap.equal(titles, [None] * 3 + ["x" * 98 + last for last in "ab"], "titles")
    tap.check(all(f"{name}: {'x' * 98}{last}\n" in shown for name, last in zip(shorter, "ab")), shown)
    tap.equal(sorted(moved.pop(name) for name in shorter), [16, 32], "long names")
    tap.equal(moved, {"shared": 100, "first": 3, "second": 6}, "lines")
    tap.equal([passages["shared"], passages["first"], passages["second"]], [10, 1, 2], "passages")


def fortran():
    """Fortran: blanks at the end of a name do not count"""
    likwid()
    with simulated() as machine:
        program = compile_program(machine, "gfortran", OWN / "likwid_names.f90", "-I/usr/include", *LIKWID)
        said = run_with(machine, "auto", program).stdout.splitlines()
        moved, passages = lines(machine), counts(machine)
    tap.equal(said, ["0 3 T", "0 0 0.0"], "GetRegion")
    tap.equal((moved, passages), ({"fill it": 15}, {"fill it": 3}), "lines and passages")


def example(compiler, source, rounds):
    likwid()
    n = 2
    with simulated() as machine:
        machine.run("cc", "-c", "-O1", "-fPIC", *markers.INCLUDES, "-o", "mover.o", markers.PROGRAMS / "mover.c")
        machine.run("cc", "-shared", "-fPIC", *markers.INCLUDES, "-o", "sleeper.so", OWN / "sleeper.c", "mover.o")
        machine.run(compiler, "-fopenmp", "-I/usr/include", "-o", "example", f"{EXAMPLES}/{source}", *LIKWID)
        done = run_with(machine, "likwid", "./example", OMP_NUM_THREADS=str(n), LD_PRELOAD=str(machine.folder / "sleeper.so"))
        moved, passages = lines(machine), counts(machine)
    tap.equal((moved, passages), ({"example": 200 * rounds * n}, {"example": rounds * n}), "lines and passages")
    return done


def example_in_c():
    """LIKWID's example in C with OpenMP, unchanged; only its sleeps are shorter, and move bytes"""
    example("cc", "C-markerAPI.c", 10)


def example_in_fortran():
    """LIKWID's example in Fortran with OpenMP, unchanged; it prints that there are no events"""
    said = example("gfortran", "F-markerAPI.F90", 1).stdout
    tap.equal(said.count("Region example measures 0 events, total measurement time is     0.0"), 2, said)
    tap.equal(said.count("The region was called 1 times"), 2, said)


def nested():
    """Marks of two families and the library's own regions nest in each other"""
    likwid()
    base = [SOURCE / "client/markers/base" / name for name in ("marker.c", "name.c")] + [SOURCE / "common/text.c"]
    library = (f"-L{BUILD}/client", "-luncore")
    with simulated() as machine:
        machine.run("cc", "-shared", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", "-DMODULE", f"-I{SOURCE}", "-o",
                    "libother.so", OWN / "nested.c", *base, *library)
        program = compile_program(machine, "cc", OWN / "nested.c", *LIKWID, "-L.", "-lother", "-Wl,-rpath,.", *library)
        run_with(machine, "auto", program)
        moved, passages = lines(machine), counts(machine)
    tap.equal(moved, {"outer": 3333, "middle": 3330, "own": 3300, "inner": 3000, "alone": 30000}, "lines")
    tap.equal(set(passages.values()), {3}, "passages")


def beside_likwid():
    """Where LIKWID_MODE is set, LIKWID itself does the work, and there is no region"""
    likwid()
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "likwid-threads.c", *LIKWID)
        module = str(MODULES / "libuncore-likwid.so")
        alone = machine.run(program, LIKWID_MODE="1")
        beside = machine.run(program, LIKWID_MODE="1", LD_PRELOAD=module)
        refused = run_with(machine, "auto", program, LIKWID_MODE="1")
        other = run_with(machine, "kokkos", program, LD_PRELOAD=module)
        tap.check(not machine.report_path.exists(), "a report")
    tap.equal(sorted(beside.stdout.splitlines()), sorted(alone.stdout.splitlines()), "stdout")
    tap.equal(beside.stderr, alone.stderr, "stderr")
    tap.equal(said_of(refused), ["uncore run: markers: none. Not likwid: LIKWID_MODE is set."], "line")
    tap.check("Running without Marker API" in other.stderr, other.stderr)


def nothing_else():
    """The module exports LIKWID's names alone, and all that the library of LIKWID has of them"""
    likwid()
    with simulated() as machine:
        have, theirs = (re.findall(r" [A-Z] (\w+)$", machine.run("nm", "-D", "--defined-only", path).stdout, re.MULTILINE)
                        for path in (MODULES / "libuncore-likwid.so", "/usr/lib/x86_64-linux-gnu/liblikwid.so.5"))
    tap.equal(set(have), {name for name in theirs if name.startswith("likwid_marker")}, "names")


tap.run_functions([(case.__doc__, case) for case in (threads, fortran, nested, example_in_c, example_in_fortran, beside_likwid,
                                                     nothing_else)])
