# SPDX-License-Identifier: BSD-3-Clause
"""The table of uncore(1), WHAT IS COUNTED: what loops move for each byte of an array."""
import os
import pathlib

import simulation
import tap

MAN = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"]) / "man/uncore.1.scd"
SPREAD = 0.01  # of an array: what is left in the caches, and the program around the loop
METRICS = ("read", "write", "itom", "specitom")
EVASION = "speci2m=80"

# first words of the row: program, options of the plugin
ROWS = {
    "sum of an array": ("sum", ""),
    "stores": ("store", ""),
    "stores, of which the CPU evades 80 %": ("store", EVASION),
    "copy by stores": ("copy", ""),
    "copy by stores, 80 % evaded": ("copy", EVASION),
    "copy by non-temporal stores": ("copy-nontemporal", ""),
    "memset(3) of glibc": ("memset", ""),
    "memcpy(3) of glibc": ("memcpy", ""),
}


def quoted():
    """{first words: figures} of the table."""
    text = MAN.read_text(encoding="utf-8")
    table = text[text.index("[[ *loop*"):]
    rows = table[:table.index("\n\n")].split("\n|")[1:]
    cells = [[cell.strip() for cell in row.split("\n:")] for row in rows]
    return {cell[0].lstrip("< "): [float(number.lstrip("> ")) for number in cell[1:]] for cell in cells}


def case(words, program, options):
    def body():
        found = simulation.counted(options, "loops", program)
        for metric, figure in zip(METRICS, quoted()[words], strict=True):
            share = found[metric] / found["bytes"]
            tap.check(abs(share - figure) <= SPREAD, f"{metric}: {share:.3f} of the array, and the page says {figure}")
    return f"{words}: as uncore(1) says", body


def all_rows():
    """The page has these rows and no others"""
    tap.equal(sorted(quoted()), sorted(ROWS), "rows")


if __name__ == "__main__":
    simulation.need(simulation.QEMU)
    tap.run_functions([(all_rows.__doc__, all_rows)] + [case(words, *row) for words, row in ROWS.items()])
