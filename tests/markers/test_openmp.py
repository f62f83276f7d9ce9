# SPDX-License-Identifier: BSD-3-Clause
"""OpenMP's parallel regions under LLVM's runtimes, of programs by clang and gcc; and libgomp, which tells nothing."""
import glob
import pathlib
import re
import shutil

import tap
from markers import OWN, SOURCE, UNCORE, compile_program, counts, lines, run_with, said_of, simulated

# That of LLVM 19 is unpacked by ./dev setup --tests.
RUNTIMES = sorted(path for folder in ("/usr", SOURCE / "build-openmp/usr")
                  for path in glob.glob(f"{folder}/lib/llvm-*/lib/libomp.so.5"))
PROGRAM = OWN / "openmp.c"
LINES = [number for number, text in enumerate(PROGRAM.read_text(encoding="utf-8").splitlines(), 1) if "#pragma omp" in text]
NAME = re.compile(r"openmp\+0x[0-9a-f]+")


def check(machine):
    moved, passages = lines(machine), counts(machine)
    tap.check(all(NAME.fullmatch(name) for name in moved), moved)
    tap.equal(sorted((passages[name], moved[name]) for name in moved), [(2, 12), (5, 20)], "passages and lines")
    said = machine.run(UNCORE, "report", machine.report_path).stdout
    found = sorted(int(line) for line in re.findall(r"openmp\.c:(\d+) \(/", said))
    tap.check(len(found) == 2 and all(abs(have - want) <= 2 for have, want in zip(found, LINES)), f"{found} of {LINES}: {said}")
    compile_program(machine, "gcc", PROGRAM, "-fopenmp", "-O0")
    said = machine.run(UNCORE, "report", machine.report_path).stdout
    tap.check("openmp.c:" not in said and "build-id" in said, said)


def under(runtime, compiler, *options):
    if not shutil.which(compiler):
        raise tap.Skip(f"{compiler} is not installed: ./dev setup --tests")
    with simulated() as machine:
        program = compile_program(machine, compiler, PROGRAM, "-fopenmp", *options)
        done = run_with(machine, "openmp", program, LD_PRELOAD=runtime)
        tap.check("uncore run: markers: openmp." in said_of(done), done.stderr)
        check(machine)


def libgomp():
    """gcc's own runtime has no OMPT, and uncore run says so"""
    with simulated() as machine:
        program = compile_program(machine, "gcc", PROGRAM, "-fopenmp")
        done = run_with(machine, "auto", program)
        tap.check(not machine.report_path.exists(), "a report")
    tap.equal(said_of(done), ["uncore run: markers: none. Not openmp: libgomp has no OMPT."], "line")


def other_tool():
    """Where OMP_TOOL_LIBRARIES names a tool, that one works"""
    with simulated() as machine:
        program = compile_program(machine, "clang", PROGRAM, "-fopenmp")
        done = run_with(machine, "auto", program, OMP_TOOL_LIBRARIES="/nonexistent.so")
        tap.check(not machine.report_path.exists(), "a report")
    tap.equal(said_of(done), ["uncore run: markers: none. Not openmp: OMP_TOOL_LIBRARIES is set."], "line")


def title(runtime, compiler):
    version = pathlib.Path(runtime).parts[-3]
    return f"{compiler}'s program under {version}'s runtime: each parallel region has its bytes and its line"


CASES = [(title(r, c), lambda r=r, c=c: under(r, c)) for r in RUNTIMES for c in ("clang", "gcc")]
tap.run_functions([*CASES, *((case.__doc__, case) for case in (libgomp, other_tool))])
