# SPDX-License-Identifier: BSD-3-Clause
"""Reference BLAS, and how often the PAPI and PCP paper repeats it. Matrices are in memory when a product
begins."""
import math

from models.traffic import ELEMENT, Traffic


def gemm(n, cache):
    """C = A B with rows of n elements: II-B. B is read again for each row of A; once it does not fit, from
    memory. Between the two bounds of gemm_band() it depends on what the cache throws out; there this is
    the lower figure."""
    square = ELEMENT * n * n
    reads_of_b = 1 if square < cache else n
    return Traffic(read=square * (1 + reads_of_b), allocated=square, written=square)


def gemm_band(cache):
    """Equations 3 and 4: n up to which all three matrices fit, and from which not even one does."""
    return math.sqrt(cache / (3 * ELEMENT)), math.sqrt(cache / ELEMENT)


def gemv(m, n, cap, cache):
    """y = A x, where A has min(m, cap) rows of n elements, used in turns: II-A. Rows that do not stay in
    the cache come from memory at each turn."""
    rows = min(m, cap)
    rows_read = rows if ELEMENT * rows * n < cache else m
    return Traffic(read=ELEMENT * (rows_read * n + n), allocated=ELEMENT * m, written=ELEMENT * m)


def repetitions(n):
    """Equation 5."""
    return math.floor(514 - 0.246 * n) if n < 2048 else 10
