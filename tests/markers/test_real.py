# SPDX-License-Identifier: BSD-3-Clause
"""Real programs: of Kokkos, of Debian's Trilinos, where the sizes of views say what kernels move; and of Debian's oneTBB."""
import json
import subprocess
import sys

import languages
import run  # of tests/traffic
import tap
from markers import (BUILD, MODULES, OWN, UNCORE, bytes_of, compile_program, counts, figures, need_file, run_with, said_of,
                     simulated)

BYTES = 16 << 20
# Reads and writes of all passages, as shares of a view; the last one has no label. What is stored to is read first, but for
# the zeros of a new view and the copy, by the C library's memset() and memcpy().
KERNELS = {"Kokkos::View::initialization [a]": (1, None, 1), "fill": (1, 1, 1), "b <- a": (1, None, 1), "sum": (3, 3, 0),
           "ZL4workiEUliE1_": (1, 1, 1)}
REGIONS = {"setup": (1, 1, 1), "section": (1, None, 1)}


def build(machine):
    need_file("/usr/include/trilinos/Kokkos_Core.hpp", "libtrilinos-kokkos-dev")
    machine.run("g++", "-O2", "-std=c++14", "-isystem", "/usr/include/trilinos", "-o", "view", OWN / "view.cpp",
                "-ltrilinos_kokkoscore", "-ldl")


def found():
    """uncore run finds Kokkos in the program, and sets the variable that this release knows"""
    with simulated() as machine:
        build(machine)
        for chosen, want in (("", REGIONS), ("kernels", KERNELS | REGIONS)):
            machine.report_path.unlink(missing_ok=True)
            done = machine.run(UNCORE, "run", "--markers=auto", "--", "./view", BYTES, UNCORE_KOKKOS=chosen)
            tap.equal((done.stdout, said_of(done)), ("2.19902e+12\n", ["uncore run: markers: kokkos."]), "what was said")
            tap.equal(counts(machine), {name: row[0] for name, row in want.items()}, "passages")


def moved():
    """On a model of caches, kernels, copies, regions and sections move what their views have, within 5 %"""
    languages.need("qemu-x86_64")
    with simulated() as machine:
        build(machine)
        command = [sys.executable, "-B", run.__file__, BUILD, "ll=256K", "--", machine.folder / "view", str(BYTES)]
        environment = languages.environment(
            LD_LIBRARY_PATH=f"{BUILD}/client", KOKKOS_PROFILE_LIBRARY=str(MODULES / "libuncore-kokkos.so"),
            UNCORE_KOKKOS="kernels", UNCORE_OVERHEAD="0", UNCORE_REPORT=str(machine.report_path))
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=languages.SECONDS, env=environment)
        tap.equal(done.returncode, 0, f"{done.stdout}{done.stderr}status")
        shares = {name: [sum(bytes_of(region, metric)) / BYTES for metric in ("dram.read", "dram.write")]
                  for name, region in machine.regions().items()}
    print(f"# reads and writes, as shares of a view: {json.dumps(shares)}")
    for name, (_, *wanted) in (KERNELS | REGIONS).items():
        for have, want in zip(shares[name], wanted):
            tap.check(want is None or abs(have - want) <= 0.05, f"{name}: {shares[name]} should be {wanted}")


def loops():
    """oneTBB, of Debian, has its loops as tasks, and a program with them needs nothing of its own"""
    need_file("/usr/include/oneapi/tbb/parallel_for.h", "libtbb-dev")
    with simulated() as machine:
        done = run_with(machine, "auto", compile_program(machine, "g++", OWN / "loops.cpp", "-ltbb", "-pthread"))
        count, moved = figures(machine).pop("tbb/tbb_parallel_for")
    tap.equal(said_of(done), ["uncore run: markers: itt."], "what was said")
    # A second thread may help with a loop, and end its task after the program has moved its last line.
    tap.check(3 <= count <= 6 and 3000 <= moved <= 3001, f"{count} passages moved {moved} lines")


tap.run_functions([(case.__doc__, case) for case in (found, moved, loops)])
