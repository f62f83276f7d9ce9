# SPDX-License-Identifier: BSD-3-Clause
"""What kernels of `uncore validate` move on a chip of the simulated machine, by the papers' formulas and not by the
kernels' own.

A store reads its line before. Stores of POWER9 can bypass the caches; nobody knows exactly when they do, so the
simulation has none that do.
"""
import dataclasses

from simulation import CACHE_BYTES, CPUS_OF_CHIP

LINE = 64
ELEMENT, COMPLEX = 8, 16
# What `uncore validate` is told, which sizes arrays by it. At either end of a measurement up to a cache of lines is not
# yet written, or was written before, so arrays are larger than the cache would ask for.
TOLD_CACHE_BYTES = 2 * CACHE_BYTES
SETS_BYTES = 4 * TOLD_CACHE_BYTES
STREAM_BYTES = 16 * CACHE_BYTES
# Of all that a kernel moves. No model has the lines of uncored, of the guest's kernel and of the measuring program
# itself, of page tables, and of the ends of the arrays. (gemv writes less than that, and is judged by its reads.)
TOLERANCE = 0.02
# The strided nest takes seconds, and leaves nothing in the caches of what each tick of the guest's clock needs: some
# 350 lines, 250 times a second.
STRIDED_TOLERANCE = 0.04
GEMV_CAP = 1280  # columns, and rows that are there: section III of the PAPI and PCP paper


@dataclasses.dataclass(frozen=True)
class Kernel:
    """The bytes of one pass."""
    name: str
    size: int
    read: int
    written: int
    what: str
    threads: int = 1
    tolerance: float = TOLERANCE

    @property
    def title(self):
        return f"{self.name}, size {self.size}: {self.what}"


def stream(name, read, written, what):
    """Arrays that a thread on each CPU of the chip goes through."""
    n = STREAM_BYTES // ELEMENT // CPUS_OF_CHIP
    return Kernel(name, n, read * STREAM_BYTES, written * STREAM_BYTES, what, threads=CPUS_OF_CHIP)


def sets_of(elements):
    """Sets of arrays that are used in turns, so that each is cold."""
    return SETS_BYTES // (ELEMENT * elements) + 1


def gemm(n, what):
    square = sets_of(3 * n * n) * n * n * ELEMENT
    return Kernel("gemm", n, 3 * square, square, what)


def gemv(m, what):
    """Above the cap rows are used several times, and come from memory each time: they do not stay in the cache."""
    n = min(m, GEMV_CAP)
    sets = sets_of(n * n + n + m)
    return Kernel("gemv", m, sets * ELEMENT * (m * n + n + m), sets * ELEMENT * m, what)


def resort(name, n, what, reads_of_element=2, **others):
    """A rank's part of a cube with this edge: N/2 planes of N/4 rows of N complex numbers."""
    volume = n // 2 * (n // 4) * n * COMPLEX
    return Kernel(name, n, reads_of_element * volume, volume, what, **others)


KERNELS = (
    stream("load", 1, 0, "what it loads is read"),
    stream("update", 1, 1, "what it changes is read and written once"),
    stream("store1", 1, 1, "what it stores to is read before"),
    stream("copy", 2, 1, "its target is read before it is written"),
    stream("fill", 0, 1, "dcbz reads nothing"),
    gemm(20, "A, B and C are read, C is written"),
    gemv(200, "the matrix is read once"),
    gemv(1600, "capped: its 1280 rows are used in turns, and do not stay"),
    resort("s1cf1", 172, "S1CF, the first nest: two reads for a write"),
    resort("s1cf2", 172, "S1CF, the second nest, while the columns fit"),
    resort("s1cf", 172, "S1CF in one nest: two reads for a write"),
    resort("s2cf", 172, "S2CF: two reads for a write"),
)
# With --all. Larger products take so long in an emulated machine that the guest's clock ticks move as much as they do.
LONG_KERNELS = (
    stream("store2", 2, 2, "what it stores to is read before"),
    stream("store3", 3, 3, "what it stores to is read before"),
    stream("triad", 3, 1, "its target is read before it is written"),
    gemm(16, "A, B and C are read, C is written"),
    gemm(32, "A, B and C are read, C is written"),
    *(gemv(m, "the matrix is read once") for m in (100, 300, 600, 1000, 1280)),
    gemv(3000, "capped: its 1280 rows are used in turns, and do not stay"),
    *(resort(name, 236, "two reads for a write") for name in ("s1cf1", "s1cf", "s2cf")),
    resort("s1cf2", 340, "S1CF, the second nest: each element costs four, a line", 1 + LINE // COMPLEX,
           tolerance=STRIDED_TOLERANCE),
)
