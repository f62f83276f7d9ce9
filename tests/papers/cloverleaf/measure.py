# SPDX-License-Identifier: BSD-3-Clause
"""Builds and measures a checkout of CloverLeaf: bytes for each cell and step, beside those of its loops.

Usage: measure.py [--uncored] [--cells N] [--steps N] [--ranks N] DIR

Without --uncored on the simulated memory controller, with one rank. What is counted are whole procedures,
so several loops each; the sums of these are the model (models/clover_steps.py).
"""
import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import build
import report
import simulate
from models.clover_steps import PROCEDURES, per_step
from models.loops import MARGIN

SHIM = simulate.BUILD / "tests/papers/libcloverleaf-shim.so"
MACHINE = simulate.Machine(ll=128 * simulate.KIB)
# Each loop runs over other rows and columns of the halo, from none to all five; and what is dirty in the
# cache when a procedure begins is another part of it than when it ends.
TOLERANCE = 0.03


def deck(checkout, cells, steps):
    """The checkout's own clover.in, with another size."""
    text = (pathlib.Path(checkout) / "clover.in").read_text(encoding="latin-1")
    for key, value in (("x_cells", cells), ("y_cells", cells), ("end_step", steps)):
        text, found = re.subn(rf"^(\s*{key}\s*=).*$", rf"\g<1>{value}", text, flags=re.MULTILINE)
        if not found:
            text = text.replace("*endclover", f" {key}={value}\n*endclover")
    return text


def command_of(program, given, counters):
    if given.uncored:
        return ["mpirun", "-n", str(given.ranks), str(program)] if given.ranks > 1 else [str(program)]
    plugin = ",".join([str(simulate.PLUGIN), f"counters={counters}", *MACHINE.options()])
    return [simulate.QEMU, "-cpu", "max", "-plugin", plugin, str(program)]


def run(program, given, folder):
    """What each process said of its kernels."""
    counters = pathlib.Path(folder, "counters")
    environment = {**os.environ, "CLOVERLEAF_REPORT": f"{folder}/moved"}
    if not given.uncored:
        environment["TRAFFIC_COUNTERS"] = str(counters)
    text = deck(given.checkout, given.cells, given.steps)
    pathlib.Path(folder, "clover.in").write_text(text, encoding="latin-1")
    done = subprocess.run(command_of(program, given, counters), cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise build.Failed(f"CloverLeaf ended with status {done.returncode}:\n{done.stdout[-4000:]}")
    reports = [path.read_text(encoding="utf-8").splitlines() for path in pathlib.Path(folder).glob("moved.*")]
    return [list(csv.DictReader(lines)) for lines in reports]


def model_of(procedure, cells, steps):
    """Lines at the ends of rows are moved with the halo; of its rows, half are taken for gone over."""
    return per_step(procedure).times(steps * (cells + MARGIN) * (cells + MARGIN / 2))


def moved_by(reports, name):
    """Each process sees the bytes of all, so the mean of what they say is taken."""
    lines = [line for one in reports for line in one if line["kernel"] == name]
    if not lines:
        raise build.Failed(f"No call of {name} was seen: is its file compiled with the other kernels?")
    read, written = (sum(int(line[part]) for line in lines) / len(lines) for part in ("read", "write"))
    return simulate.Moved(read, written, claimed=0)


def rows_of(reports, given):
    """On hardware between no write-allocate and all of them: what a CPU evades is its own affair."""
    unit = given.cells**2 * given.steps
    for name in PROCEDURES:
        moved, model = moved_by(reports, name), model_of(name, given.cells, given.steps)
        least = 1.0 if given.uncored else 0.0
        parts = {"read": report.Pair(model.reads(least), moved.read, upper=model.reads()),
                 "written": report.Pair(model.written, moved.written)}
        figure = report.Pair(model.total(least) / unit, moved.total / unit, upper=model.total() / unit)
        yield report.Row(case=name, quantity="byte/cell/step", tolerance=TOLERANCE, figure=figure, parts=parts)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev papers --cloverleaf")
    parser.add_argument("--uncored", action="store_true", help="by the counters of uncored, not simulated")
    parser.add_argument("--cells", type=int, default=400, help="of the grid, each way (400)")
    parser.add_argument("--steps", type=int, default=2, help="an even number (2)")
    parser.add_argument("--ranks", type=int, default=1, help="processes of mpirun, with --uncored (1)")
    parser.add_argument("checkout", metavar="DIR")
    given = parser.parse_args()
    if given.steps % 2 or given.steps < 2:
        parser.error("--steps is even: every other step begins with y.")
    return given


def measure(given):
    with tempfile.TemporaryDirectory(prefix="uncored-cloverleaf.") as folder:
        program = build.build(given.checkout, SHIM, folder)
        return list(rows_of(run(program, given, folder), given))


def main():
    given = arguments()
    why = "" if given.uncored else simulate.missing()
    if why:
        sys.exit(f"Nothing can be simulated: {why}.")
    try:
        rows = measure(given)
    except build.Failed as failed:
        sys.exit(str(failed))
    print("Counts of uncored, of whole sockets." if given.uncored else report.TITLE)
    report.print_rows(rows)
    return any(row.failures() for row in rows)


if __name__ == "__main__":
    sys.exit(main())
