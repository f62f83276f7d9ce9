# SPDX-License-Identifier: BSD-3-Clause
"""The 22 loops of CloverLeaf's functions advec_mom, advec_cell and pdv, as arrays and rows.

loops.csv says of each loop which arrays it writes, of how many rows of which arrays an iteration reads,
and which arrays of one dimension it goes along. The traffic follows from that. Layer conditions are
fulfilled (LCF) while the rows that are used again stay in the cache, and broken (LCB) when no row does:
then each row that an iteration reads comes from memory, and so do arrays of one dimension along the inner
loop. (The CloverLeaf paper, II-C and IV-A.)
"""
import csv
import dataclasses
import pathlib

from models.lines import Rows
from models.traffic import ELEMENT, LINE, Traffic

HERE = pathlib.Path(__file__).parent
MARGIN = 5  # elements of a row that are not cells of the rank: the paper's five halo elements
BEFORE = 2  # of them before the first cell


@dataclasses.dataclass(frozen=True)
class Grid:
    """What one rank goes over. The first cell of a row lies BEFORE elements behind the row's begin, and a
    row's begin is aligned with a line where columns + MARGIN allow it."""
    rows: int
    columns: int

    @property
    def cells(self):
        return self.rows * self.columns

    @property
    def step(self):
        return self.columns + MARGIN

    def read(self):
        """Bytes of the lines in which a row is read: the margin is too short for a line that nothing
        touches."""
        return ELEMENT * self.rows * self.step

    def written(self):
        """(bytes of the lines that are written, those of them that are written from end to end)"""
        rows = Rows(self.rows, self.columns, self.step, BEFORE)
        return LINE * rows.touched(), LINE * rows.whole()


@dataclasses.dataclass(frozen=True)
class Way:
    """How a loop is run."""
    evaded: float = 0.0        # share of the write-allocates
    broken: bool = False       # the layer conditions
    nontemporal: bool = False  # the first array written goes past the cache, if it is not read


@dataclasses.dataclass(frozen=True)
class Loop:
    name: str
    what: str
    writes: tuple  # arrays
    reads: dict    # array: rows of it that an iteration reads
    inner: tuple   # arrays of one dimension along the inner loop: one row, which stays in the cache under LCF
    outer: tuple   # arrays of one dimension along the outer loop: an element a row
    flops: int

    @property
    def arrays(self):
        """Arrays of two dimensions."""
        return len(set(self.reads) | set(self.writes))

    @property
    def rd(self):
        """Elements that an iteration brings into the cache under LCF."""
        return len(self.reads)

    @property
    def lcb(self):
        """The same under LCB, arrays of one dimension included."""
        return self.lcb_grid + len(self.inner)

    @property
    def lcb_grid(self):
        return sum(self.reads.values())

    @property
    def wr(self):
        return len(self.writes)

    @property
    def rw(self):
        """Elements written that are read anyway."""
        return sum(array in self.reads for array in self.writes)

    @property
    def evadable(self):
        return self.wr - self.rw

    def limits(self, lcb=None):
        """The four code balances of the paper's text, in bytes an iteration."""
        lcb = self.lcb if lcb is None else lcb
        return {"min": ELEMENT * (self.rd + self.wr),
                "lcf_wa": ELEMENT * (self.rd + self.wr + self.evadable),
                "lcb": ELEMENT * (lcb + self.wr),
                "max": ELEMENT * (lcb + self.wr + self.evadable)}

    def refined(self, factor):
        """Bytes an iteration where each evadable store moves `factor` elements: the paper's figure 7."""
        return ELEMENT * (self.rd + self.rw + factor * self.evadable)

    def refined_nontemporal(self, factor):
        """The same with one stream of stores past the caches: figure 7, "Optimized"."""
        return self.refined(factor) - ELEMENT * (factor - 1) * (self.evadable > 0)

    def live_bytes(self, columns):
        """What the cache must hold for LCF: each row that is read or written, once."""
        rows = self.lcb + self.evadable
        return ELEMENT * rows * (columns + MARGIN)

    def traffic(self, grid, way=Way()):
        """Of all lines that the rows of a grid touch, in the middle of a larger grid: the rows next to it
        are in the cache under LCF. way.evaded is left to the caller."""
        touched, whole = grid.written()
        past = way.nontemporal and self.writes[0] not in self.reads
        reads = self.lcb if way.broken else self.rd
        return Traffic(read=reads * grid.read() + self.evadable * (touched - whole),
                       allocated=(self.evadable - past) * whole,
                       written=self.wr * touched)


def _rows_of(text):
    return {array: int(rows) for array, rows in (pair.split(":") for pair in text.split())}


def _read_loops():
    with open(HERE / "loops.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield Loop(name=row["loop"], what=row["what"], writes=tuple(row["writes"].split()),
                       reads=_rows_of(row["reads"]), inner=tuple(row["inner"].split()),
                       outer=tuple(row["outer"].split()), flops=int(row["flops"]))


@dataclasses.dataclass(frozen=True)
class Printed:
    """A line of the paper's Table I."""
    loop: str
    arrays: int
    rd_lcf: int
    rd_lcb: int
    wr: int
    rd_wr: int
    flops: int
    min: int
    lcf_wa: int
    lcb: int
    max: int
    measured: float  # on one core, without evasion


def _read_table():
    with open(HERE / "table1.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = {key: int(text) for key, text in row.items() if key not in ("loop", "measured")}
            yield Printed(loop=row["loop"], measured=float(row["measured"]), **numbers)


LOOPS = {loop.name: loop for loop in _read_loops()}
TABLE_I = {row.loop: row for row in _read_table()}
