# SPDX-License-Identifier: BSD-3-Clause
"""Time inside of MPI, of programs that know what moved meanwhile: no rank, some ranks, all ranks.

    test_mpi.py few|many    2 ranks, or 64
"""
import shutil
import sys

import tap
from markers import MODULES, OWN, compile_program, counts, lines_of, run_with, said_of, simulated

ROWS = ("MPI/none", "MPI/some", "MPI/all")
IMPLEMENTATIONS = ("openmpi", "mpich")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}  # which containers forbid
# What mpi-calls calls, on each rank. MPI_Comm_rank() and MPI_Comm_size() only ask.
CALLS = {"MPI_Init": 1, "MPI_Allreduce": 3, "MPI_Barrier": 2, "MPI_Isend": 1, "MPI_Recv": 1, "MPI_Wait": 1, "MPI_Finalize": 1}

POLLS_COUNTED = 16  # of a thread, in each millisecond
TITLE = "while any rank of the node had the state MPI"


def words(machine, implementation, size):
    """mpirun and what it needs here."""
    options = ["--oversubscribe"] if implementation == "openmpi" else []
    return [f"mpirun.{implementation}", *options, "-n", size], {"TMPDIR": str(machine.folder), **ROOT}


def launch(machine, implementation, size, *command, **more):
    launcher, needs = words(machine, implementation, size)
    done = run_with(machine, "mpi", *launcher, *command, **needs, **more)
    tap.equal(said_of(done), ["uncore run: markers: mpi."], "line")
    return done


def compiled(machine, implementation, source, *options, compiler="mpicc"):
    compiler = f"{compiler}.{implementation}"
    if not shutil.which(compiler):
        raise tap.Skip(f"{compiler} is not installed: ./dev setup --tests")
    return compile_program(machine, compiler, OWN / source, *options)


def phases(implementation, size, *arguments, **more):
    """What the program knows, in lines; its calls; and the rows of the report."""
    with simulated() as machine:
        program = compiled(machine, implementation, "mpi-phases.c")
        *moved, n_calls = map(int, launch(machine, implementation, size, program, *arguments, **more).stdout.split())
        return dict(zip(ROWS, moved)), n_calls, machine.regions()


def exact(implementation, size, what, rounds):
    moved, n_calls, regions = phases(implementation, size, what, rounds, UNCORE_OVERHEAD="0")  # each change is read
    tap.equal(list(regions), ["MPI/any", *ROWS], "rows")
    tap.equal({name: lines_of(regions[name]) for name in ROWS}, moved, "lines")
    tap.equal(lines_of(regions["MPI/any"]), moved["MPI/some"] + moved["MPI/all"], "lines while any rank was inside")
    tap.equal([[region[key] for key in ("failed", "open", "died")] for region in regions.values()], [[0] * 3] * 4, "failures")
    tap.equal(regions["MPI/any"]["count"], n_calls + 3 * size, "calls, with MPI_Init(), MPI_Barrier() and MPI_Finalize()")
    wanted = {"together": (True, False, True), "apart": (False, True, False), "free": (None, True, None)}[what]
    tap.check(all(want is None or bool(moved[name]) == want for name, want in zip(ROWS, wanted)), f"{what}: {moved}")


def estimated(implementation, what):
    moved, _, regions = phases(implementation, 2, what, 150, UNCORE_OVERHEAD="2")
    for name in ROWS:
        total = regions[name]["derived"]["metrics"]["dram.read"]["total"]
        off = total["value"] - 64 * moved[name]
        tap.check(abs(off) <= total["error"] + 64, f"{name}: {total} instead of {64 * moved[name]}")


def counted(implementation, source, compiler, *options):
    with simulated() as machine:
        program = compiled(machine, implementation, source, *options, compiler=compiler)
        launcher, needs = words(machine, implementation, 2)
        alone = machine.run(*launcher, program, **needs).stdout
        tap.equal(launch(machine, implementation, 2, program, UNCORE_MPI="calls").stdout, alone, "stdout")
        found = counts(machine)
    tap.equal({name: n for name, n in found.items() if "/" not in name}, {name: 2 * n for name, n in CALLS.items()}, "calls")
    tap.equal(found["MPI/any"], 2 * sum(CALLS.values()), "all calls")


def timed(implementation):
    """The time of all calls is that of a plain timer by PMPI, within 1 %; the program computes what it computes alone"""
    with simulated() as machine:
        program = compiled(machine, implementation, "mpi-exchange.c")
        machine.run(f"mpicc.{implementation}", "-shared", "-fPIC", "-o", "timer.so", OWN / "mpi-timer.c")
        launcher, needs = words(machine, implementation, 2)
        alone = machine.run(*launcher, program, **needs).stdout
        timer = {"LD_PRELOAD": str(machine.folder / "timer.so")}
        tap.equal(launch(machine, implementation, 2, program, UNCORE_OVERHEAD="2", **timer).stdout, alone, "stdout")
        want = sum(int((machine.folder / f"timer.{rank}").read_text(encoding="ascii")) for rank in range(2))
        have = machine.regions()["MPI/any"]["time_ns"]
    tap.check(abs(have / want - 1) <= 0.01, f"{have} ns instead of {want}")


def polled(n, pause_us, **more):
    """How long the polls took, in ms; how many calls beside MPI_Init(), MPI_Barrier() and MPI_Finalize() counted; the title."""
    with simulated() as machine:
        program = compiled(machine, "openmpi", "mpi-polls.c")
        took_ns = int(launch(machine, "openmpi", 1, program, str(n), str(pause_us), **more).stdout)
        region = machine.regions()["MPI/any"]
    return took_ns / 1e6, region["count"] - 3, region["title"]


def polls_without_pause():
    """Of polls without a pause few count in each millisecond, and the report says so"""
    took_ms, count, title = polled(1000000, 0, UNCORE_OVERHEAD="2")
    tap.check(count <= POLLS_COUNTED * (took_ms + 2), f"{count} polls in {took_ms} ms")
    tap.check(count >= POLLS_COUNTED, f"{count} polls")
    tap.equal(title, TITLE + "; of the polls of a thread at most 16 count in 1 ms", "title")


def polls_with_pauses():
    """Polls with pauses count, each of them"""
    _, count, title = polled(200, 1000, UNCORE_OVERHEAD="2")
    tap.equal((count, title), (200, TITLE), "polls, title")


def polls_all():
    """UNCORE_MPI=polls and UNCORE_OVERHEAD=0 count each poll"""
    tap.equal(polled(20000, 0, UNCORE_OVERHEAD="2", UNCORE_MPI="polls")[1:], (20000, TITLE), "polls, title")
    tap.equal(polled(500, 0, UNCORE_OVERHEAD="0")[1:], (500, TITLE), "polls, title")


def without_mpi():
    """A program without MPI that has the module does what it does alone"""
    with simulated() as machine:
        done = run_with(machine, "mpi", "cat", "/dev/null")
        tap.equal((done.stdout, said_of(done), machine.report_path.exists()), ("", ["uncore run: markers: mpi."], False), "cat")
        names = machine.run("nm", "-D", "--defined-only", MODULES / "libuncore-mpi.so").stdout.split()[2::3]
    tap.check(all(name.startswith(("MPI_", "mpi_")) for name in names), "other names")


def few():
    for case in (without_mpi, polls_without_pause, polls_with_pauses, polls_all):
        yield case.__doc__, case
    for mpi in IMPLEMENTATIONS:
        yield f"{mpi}: {timed.__doc__}", lambda i=mpi: timed(i)
        for what, text in (("together", "that go in and out together"), ("free", "that come and go")):
            yield f"{mpi}: 2 ranks {text}: the rows are exact", lambda i=mpi, w=what: exact(i, 2, w, 20)
            yield f"{mpi}: ... with windows, the truth is within their errors", lambda i=mpi, w=what: estimated(i, w)
        yield f"{mpi}: each call counts once in C", lambda i=mpi: counted(i, "mpi-calls.c", "mpicc")
        for option, text in (("WITH_MPIF", "mpif.h"), ("WITH_MPI", "use mpi"), ("WITH_F08", "mpi_f08")):
            yield (f"{mpi}: each call counts once in Fortran, {text}",
                   lambda i=mpi, o=option: counted(i, "mpi-calls.F90", "mpif90", f"-D{o}"))


def many():
    for mpi in IMPLEMENTATIONS:
        for what, text in (("apart", "of which one is always inside"), ("free", "that come and go")):
            yield f"{mpi}: 64 ranks {text}: the rows are exact", lambda i=mpi, w=what: exact(i, 64, w, 10)


tap.run_functions(list({"few": few, "many": many}[sys.argv[1]]()))
