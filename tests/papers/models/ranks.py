# SPDX-License-Identifier: BSD-3-Clause
"""How CloverLeaf's square grid is cut into ranks, as the CloverLeaf paper tells it (IV-C and V-C).

A prime number of ranks cuts the inner dimension alone. Any other number is a product of two that differ as
little as possible, and the inner dimension gets the smaller one: 72 ranks have rows of 1920 = 15360 / 8
cells.
"""
import math

CELLS = 15360  # each way, the "Tiny" working set


def parts(ranks):
    """(parts of the inner dimension, of the outer)"""
    inner = max(n for n in range(1, math.isqrt(ranks) + 1) if ranks % n == 0)
    return (ranks, 1) if inner == 1 else (inner, ranks // inner)


def columns(ranks, cells=CELLS):
    """The cells of a rank's row, of each kind of rank: {columns: how many ranks}."""
    inner, outer = parts(ranks)
    short, longer = divmod(cells, inner)
    return {n: count * outer for n, count in ((short, inner - longer), (short + 1, longer)) if count}
