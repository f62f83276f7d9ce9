# SPDX-License-Identifier: BSD-3-Clause
"""The short form of all experiments; and the kernels' own models against those of ./models."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import report
import simulate
import tap
from experiments.catalogue import EXPERIMENTS
from experiments.scope import Scope
from models import matrices, resort, streams
from models.loops import LOOPS, TABLE_I, Grid
from simulate import KIB, MIB

TRAFFIC = pathlib.Path(__file__).resolve().parent.parent / "traffic/run.py"


def case_of(experiment):
    def run():
        rows = list(experiment.rows(Scope.SHORT))
        wrong = [f"{row.case}: {', '.join(row.failures())}: model {row.figure.model:.5g}, "
                 f"simulated {row.figure.simulated:.5g}; {row.parts}" for row in rows if row.failures()]
        tap.check(rows and not wrong, "\n".join(wrong) or "there are no rows")
    return experiment.title, run


# --- models of the kernels, in C, against those here ---

def loops_in_c():
    """The loops in C are those of the table of arrays"""
    text = subprocess.run([simulate.RUN_KERNEL, "--list"], capture_output=True, text=True, check=True).stdout
    listed = {row["kernel"]: row for row in csv.DictReader(text.splitlines())}
    columns = ("arrays", "read", "read_broken", "allocated", "written")
    for name, loop in LOOPS.items():
        want = (loop.arrays + len(loop.inner), loop.rd, loop.lcb, loop.evadable, loop.wr)
        for variant in (name, f"{name}nt"):
            tap.equal(tuple(int(listed[variant][column]) for column in columns), want, variant)
    of_table = {name for name in listed if name.removesuffix("nt") in TABLE_I}
    tap.equal(of_table, {f"{name}{nt}" for name in TABLE_I for nt in ("", "nt")}, "loops")


def agree(name, have, traffic):
    want = (traffic.read, traffic.allocated, traffic.written)
    same = all(abs(h - w) <= 1e-9 * sum(want) for h, w in zip(have, want))
    tap.check(same, f"{name}: {have}, should be {want}")


def stream_kernels():
    """Streams and copies with halos predict what the models here do"""
    have = simulate.predict(streams.STREAMS, number=4096)
    for name in streams.STREAMS:
        agree(name, have[name], streams.stream(name, 4096))
    for columns, halo in ((216, 0), (216, 5), (530, 8), (1920, 17)):
        have = simulate.predict(["halocopy"], rows=800, columns=columns, halo=halo)["halocopy"]
        agree(f"halocopy {columns}+{halo}", have, streams.halocopy(800, columns, halo))


def matrix_kernels():
    """Matrix kernels predict what the models here do"""
    for n in (64, 100, 180, 200, 400):
        have = simulate.predict(["gemm"], cache=256 * KIB, number=n, sets=3)["gemm"]
        agree(f"gemm {n}", have, matrices.gemm(n, 256 * KIB).times(3))
    for m, n in ((100, 100), (286, 286), (10000, 100), (10000, 286)):
        have = simulate.predict(["gemv"], cache=256 * KIB, rows=m, columns=n, n=min(m, n), sets=3)["gemv"]
        agree(f"gemv {m} x {n}", have, matrices.gemv(m, n, n, 256 * KIB).times(3))


def resorting_kernels():
    """Re-sorting kernels predict what the models here do"""
    for n in (400, 1000):
        cube = resort.cube(n, columns=64)
        sizes = {"planes": cube.planes, "rows": cube.rows, "columns": cube.columns}
        have = simulate.predict(resort.NESTS, cache=5 * MIB, **sizes)
        for name, nest in resort.NESTS.items():
            agree(f"{name} {n}", have[name], nest(cube, 5 * MIB))


# --- through uncored ---

def regions():
    """Regions have the bytes of their loops, by uncored's counts"""
    grid, skip, names = Grid(16, 15360), 20, ("am04", "ac00", "pdv00")
    sizes = [f"--rows={skip + grid.rows}", f"--columns={grid.columns}", f"--skip={skip}"]
    with tempfile.TemporaryDirectory(prefix="uncored-papers.") as folder:
        path = pathlib.Path(folder, "report.json")
        done = subprocess.run(
            [sys.executable, "-B", TRAFFIC, simulate.BUILD, "ll=4M", "--", simulate.RUN_KERNEL, *sizes, *names],
            capture_output=True, text=True, check=False, env={**os.environ, "UNCORE_REPORT": str(path)})
        tap.equal(done.returncode, 0, f"{done.stderr}status")
        said = json.loads(path.read_text(encoding="utf-8"))
    tap.equal([region["name"] for region in said["regions"]], list(names), "regions")
    for region in said["regions"]:
        traffic = LOOPS[region["name"]].traffic(grid)
        for metric, want in (("dram.read", traffic.reads()), ("dram.write", traffic.written)):
            have = sum(socket["metrics"][metric]["bytes"] for socket in region["sockets"])
            # libuncore's own memory, and the reading of the counters, are some hundred lines of a region.
            tap.check(abs(have / want - 1) < .02, f"{region['name']} {metric}: {have}, should be {want:.0f}")


# --- the judgement, and what is refused ---

def mistakes():
    """run-kernel refuses what it cannot run, in a sentence"""
    for words, sentence in ((["no-such-kernel"], "There is no kernel 'no-such-kernel'"),
                            ([], "Name a kernel"),
                            (["--rows=many", "am00"], "--rows takes a number, not 'many'."),
                            (["--ranks=0", "am00"], "are at least 1."),
                            (["--parts=2", "am00"], "With --parts say --rows"),
                            (["--skip=2", "copy"], "copy is none."),
                            (["--skip=9", "--rows=9", "am00"], "leaves no row of am00"),
                            (["--skip=2", "--flush=4096", "am00"], "One of --skip, --flush and --dirty")):
        done = subprocess.run([simulate.RUN_KERNEL, *words], capture_output=True, text=True, check=False)
        tap.equal(done.returncode, 2, f"status of {words}")
        tap.check(sentence in done.stderr, f"{words}: {done.stderr}")
        tap.equal(done.stdout, "", f"{words}: output")


def tolerances():
    """A row outside its tolerance or its limits fails"""
    near, far = report.Pair(100, 100.9), report.Pair(100, 101.1)
    for pair, failures in ((near, []), (far, ["read"])):
        row = report.Row("case", "sum", report.Pair(1, 1), 0.01, parts={"read": pair})
        tap.equal(row.failures(), failures, f"{pair}")
    tap.equal(report.Pair(0, 5, scale=100).deviates(0.01), True, "a model of 0")
    between = [report.Pair(1, n, upper=3).deviates(0.01) for n in (.98, 1, 3, 3.04)]
    tap.equal(between, [True, False, False, True], "limits of 1 and 3")


CASES = (loops_in_c, stream_kernels, matrix_kernels, resorting_kernels, regions, mistakes, tolerances)

if __name__ == "__main__":
    WHY = simulate.missing()
    if WHY:
        tap.skip_all(WHY)
    tap.run_functions([*((case.__doc__, case) for case in CASES), *map(case_of, EXPERIMENTS)])
