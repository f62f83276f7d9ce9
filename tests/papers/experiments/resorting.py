# SPDX-License-Identifier: BSD-3-Clause
"""The PAPI and PCP paper's figures 6 to 10: the re-sorting of a 3D FFT, for one rank, with a core's 5 MiB of
cache.

On POWER9 stores bypass the cache while no load is strided; with dcbtst they do not. Here that is put in:
all write-allocates of streams evaded, or none. That strided accesses cost what the paper says is the part
that is simulated.
"""
import dataclasses

from models import resort
from report import Pair, Row, parts_of
from simulate import MIB, Machine, run

CACHE, WAYS = 5 * MIB, 20
COLUMNS = 68  # instead of N: ratios stay, and lines at this distance fall into all sets of a cache alike
# Arrays end within lines, and strides do not fill the sets of a cache quite evenly.
TOLERANCE = 0.01
WRITES, READS_AGAIN = "1 read, 1 written", "2 read, 1 written"


@dataclasses.dataclass(frozen=True)
class Nest:
    name: str
    cube: resort.Cube
    evaded: int = 0  # percent, put in

    def run(self):
        return run(Machine(ll=CACHE, ll_ways=WAYS, evaded=self.evaded), [self.name], planes=self.cube.planes,
                   rows=self.cube.rows, columns=self.cube.columns)[self.name]

    def model(self, cache=CACHE):
        return resort.NESTS[self.name](self.cube, cache)


def row_of(nest, what, published):
    """Reads for each write."""
    moved, model, evaded = nest.run(), nest.model(), nest.evaded / 100
    return Row(case=f"{nest.name} {what}", quantity="read / written", tolerance=TOLERANCE,
               published=published, parts=parts_of(model, moved, evaded), evaded=evaded,
               figure=Pair(model.reads(evaded) / model.written, moved.read / moved.written))


def band_row(nest, what, published):
    """The same where the model leaves it open how much still fits."""
    moved, least, most = nest.run(), nest.model(100 * CACHE), nest.model(1)
    read = Pair(least.reads(), moved.read, upper=most.reads())
    return Row(case=f"{nest.name} {what}", quantity="read / written", tolerance=TOLERANCE,
               published=published, parts={"read": read, "written": Pair(least.written, moved.written)},
               figure=Pair(read.model / least.written, moved.read / moved.written, read.upper / least.written))


def cube_of(n, grid=(2, 4)):
    return resort.cube(n, grid, COLUMNS)


def figure_6(scope):
    for n in scope.pick((400,), (400, 720)):
        yield row_of(Nest("s1cf1", cube_of(n), 100), f"N = {n}, stores bypass", WRITES)
        yield row_of(Nest("s1cf1", cube_of(n)), f"N = {n}, as with dcbtst", READS_AGAIN)


def figure_7(scope):
    """Up to equation 7's 724 a line of tmp is read once. Near it a cache with sets is full before the sum
    says so."""
    low, high = resort.edge_that_fits(CACHE) * .9, resort.edge_that_fits(CACHE) * 1.05
    for n in scope.pick((400, 800), (400, 640, 700, 724, 760, 800, 1000)):
        nest, case = Nest("s1cf2", cube_of(n)), f"N = {n}"
        if low < n < high:
            yield band_row(nest, case, "724: the begin of more")
        else:
            yield row_of(nest, case, READS_AGAIN if n <= low else "up to 5 read, 1 written")


def figure_8(scope):
    for n in scope.pick((400,), (400, 720, 1000)):
        yield row_of(Nest("s1cf", cube_of(n)), f"N = {n}", READS_AGAIN)


def figure_9(scope):
    for n in scope.pick((400,), (400, 720)):
        yield row_of(Nest("s2cf", cube_of(n), 100), f"N = {n}, stores bypass", WRITES)
        yield row_of(Nest("s2cf", cube_of(n)), f"N = {n}, as with dcbtst", READS_AGAIN)


def figure_10(scope):
    """32 ranks. Fewer planes than a rank has: they are the outermost loop, and only the strides must be
    long."""
    for n in scope.pick((1344,), (1344, 2016)):
        cube = resort.Cube(planes=4, rows=n // 8, columns=n)
        yield row_of(Nest("s1cf", cube), f"N = {n}, 4 x 8 ranks", READS_AGAIN)
        yield row_of(Nest("s2cf", cube, 100), f"N = {n}, 4 x 8 ranks, stores bypass", WRITES)
