# SPDX-License-Identifier: BSD-3-Clause
"""./dev papers --cloverleaf with a program of CloverLeaf's shape in its place: the project's own loops
behind procedures that have CloverLeaf's names, called in its order."""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import tap

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "cloverleaf"))

import build
import measure
import simulate
from models.clover_steps import PROCEDURES, X_FIRST, Y_FIRST, once, per_step
from models.traffic import sum_of


def order():
    """Modules are compiled before those that use them"""
    texts = {"a.f90": "program a\n use B_module\nend",
             "b.f90": "MODULE b_module\n USE, INTRINSIC :: iso_c_binding\n use c",
             "c.f90": "module c\n module procedure x\nend"}
    have = build.in_order({pathlib.Path(name): text for name, text in texts.items()})
    tap.equal([path.name for path in have], ["c.f90", "b.f90", "a.f90"], "order")


def refused(words, function, *arguments):
    try:
        function(*arguments)
    except build.Failed as failed:
        tap.check(words in str(failed), f"it says: {failed}")
    else:
        tap.check(False, "nothing was said")


def circles():
    """Modules that use each other are refused"""
    pairs = (("x", "y"), ("y", "x"))
    refused("circle", build.in_order, {pathlib.Path(f"{a}.f90"): f"module {a}\n use {b}\n" for a, b in pairs})


def no_checkout():
    """A folder without kernels is refused"""
    with tempfile.TemporaryDirectory() as folder:
        refused("is not a checkout of CloverLeaf", build.build, folder, measure.SHIM, folder)


def decks():
    """A deck gets another size"""
    with tempfile.TemporaryDirectory() as folder:
        deck = "*clover\n x_cells=9\n y_cells = 9\n*endclover\n"
        pathlib.Path(folder, "clover.in").write_text(deck, encoding="ascii")
        want = "*clover\n x_cells=40\n y_cells =40\n end_step=2\n*endclover\n"
        tap.equal(measure.deck(folder, 40, 2), want, "deck")


def steps():
    """The loops of a step move the same bytes whichever way it begins"""
    have = {name: (per_step(name).reads(), per_step(name).written) for name in PROCEDURES}
    want = {"advec_cell_kernel": (264, 96), "advec_mom_kernel": (512, 176), "pdv_kernel": (192, 32)}
    tap.equal(have, want, "bytes for each cell, read and written")
    for name in PROCEDURES:
        both = [sum_of([once(loop) for loop in loops[name].split()]) for loops in (X_FIRST, Y_FIRST)]
        tap.equal(both[0], both[1], name)


def stand_in():
    """A program of CloverLeaf's shape, with kernels in a folder and a module report, moves what its loops do"""
    given = argparse.Namespace(uncored=False, cells=300, steps=2, ranks=1)
    with tempfile.TemporaryDirectory(prefix="uncored-standin.") as folder:
        kernels = pathlib.Path(folder, "kernels")
        kernels.mkdir()
        for path in [*(HERE / "cloverleaf/standin").iterdir(), HERE / "loops/loop.c"]:
            shutil.copy(path, kernels if "_kernel" in path.name else folder)
        pathlib.Path(folder, "report.f90").write_text("module report_module\nend module\n", encoding="ascii")
        given.checkout = folder
        os.environ["CPATH"] = os.environ["UNCORE_SOURCE_ROOT"]
        rows = measure.measure(given)
    wrong = [f"{row.case}: {row.failures()}, {row.parts}" for row in rows if row.failures()]
    tap.check(len(rows) == len(PROCEDURES) and not wrong, "\n".join(wrong))


if __name__ == "__main__":
    WHY = simulate.missing() or ("" if shutil.which("gfortran") else "gfortran is not installed: ./dev setup --tests")
    if WHY:
        tap.skip_all(WHY)
    tap.run_functions([(case.__doc__, case) for case in (order, circles, no_checkout, decks, steps, stand_in)])
