# SPDX-License-Identifier: BSD-3-Clause
"""The re-sorting of a 3D FFT: section IV of the PAPI and PCP paper. Elements are complex, of 16 bytes."""
import dataclasses
import math

from models.traffic import LINE, Traffic

COMPLEX = 16
PER_LINE = LINE // COMPLEX


@dataclasses.dataclass(frozen=True)
class Cube:
    """What one rank has of it."""
    planes: int
    rows: int
    columns: int

    @property
    def bytes(self):
        return COMPLEX * self.planes * self.rows * self.columns


def cube(n, grid=(2, 4), columns=None):
    """That of one rank, where so many ranks share a cube of n elements each way; fewer columns change no
    ratio."""
    return Cube(n // grid[0], n // grid[1], columns or n)


def nest1(c, _cache):
    """Listing 5: both arrays are streams."""
    return Traffic(read=c.bytes, allocated=c.bytes, written=c.bytes)


def nest2(c, cache):
    """Listing 7: between two elements of a line of tmp, PLANES x ROWS of its lines pass, and as many
    elements of out. Where these do not fit, each element of tmp costs a line (equation 7)."""
    passing = c.planes * c.rows * (LINE + COMPLEX)
    lines = 1 if passing < cache else PER_LINE
    return Traffic(read=lines * c.bytes, allocated=c.bytes, written=c.bytes)


def combined(c, cache):
    """Listing 8: between two elements of a line of out, COLUMNS of its lines pass. Stores this far apart
    evade nothing."""
    passing = c.columns * (LINE + COMPLEX)
    lines = 1 if passing < cache else PER_LINE
    return Traffic(read=c.bytes + lines * c.bytes, allocated=0, written=lines * c.bytes)


def s2cf(c, _cache):
    """Listing 9: whole rows are moved."""
    return Traffic(read=c.bytes, allocated=c.bytes, written=c.bytes)


NESTS = {"s1cf1": nest1, "s1cf2": nest2, "s1cf": combined, "s2cf": s2cf}


def edge_that_fits(cache, ranks=8):
    """Equation 7: the largest n for which nest 2 reads each line of tmp once."""
    return math.sqrt(cache * ranks / (LINE + COMPLEX))
