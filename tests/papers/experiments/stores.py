# SPDX-License-Identifier: BSD-3-Clause
"""The CloverLeaf paper's figures 5, 6, 8, 9 and 10: stores and copies, over cores and over halos.

The share of write-allocates that a CPU evades is put into the simulator: nobody outside Intel knows when
SpecI2M evades one. So figures 5, 6 and 9 test arithmetic, of the simulator, the counters and the ratios,
and no CPU. Figures 8 and 10 show the part that follows from cache lines alone.
"""
from models.streams import halocopy, store_ratio, stream
from report import Pair, Row, parts_of
from simulate import KIB, Machine, run

LL = 256 * KIB
# What is dirty in the caches of all cores at one reading and at the other depends on which of them came last.
TOLERANCE = 0.01
STORES = ("store1", "store2", "store3", "storent1", "storent2", "storent3")

# What the text says of the figures' ordinary stores: (cores, percent put in, published).
ICE_LAKE = [(1, 0, "2.0"), (36, 94, "1.06 at best"), (72, 80, "1.2 to 1.25")]
SAPPHIRE_RAPIDS = [(1, 0, "2.0"), (18, 0, "2.0"), (112, 50, "about half evaded")]
# ... and of their non-temporal stores, of which the simulator reads none.
PAST_ICE_LAKE, PAST_SAPPHIRE_RAPIDS = "1.0, node 1.16 to 1.17", "1.0, node 1.18"


def elements(cores):
    """Of each array of each core: twice what the caches hold, for a core may have run through them alone."""
    return max(64 * KIB, 256 * KIB // cores)


def stores(points, past):
    for cores, evaded, published in points:
        n = elements(cores)
        moved = run(Machine(ll=LL, evaded=evaded), STORES, number=n, ranks=cores)
        for name in STORES:
            traffic = stream(name, n).times(cores)
            yield Row(case=f"{name} {cores} cores", quantity="traffic / stored",
                      figure=Pair(store_ratio(traffic, evaded / 100), moved[name].total / traffic.written),
                      tolerance=TOLERANCE, published=past if "nt" in name else published,
                      evaded=0 if "nt" in name else evaded / 100,
                      parts=parts_of(traffic, moved[name], evaded / 100, claims=True))


def figure_5(scope):
    return stores(scope.pick(ICE_LAKE[::2], ICE_LAKE), PAST_ICE_LAKE)


def figure_9(scope):
    return stores(scope.pick(SAPPHIRE_RAPIDS[1:2], SAPPHIRE_RAPIDS), PAST_SAPPHIRE_RAPIDS)


def figure_6(scope):
    """Read, written and evaded bytes of a copy, an element."""
    points = [(1, 0, "16 read, 8 written, none evaded"), (9, 50, ""),
              (17, 100, "8 read, 8 written, almost 8 evaded")]
    for cores, evaded, published in scope.pick(points[::2], points):
        n = elements(cores)
        moved = run(Machine(ll=LL, evaded=evaded), ["copy"], number=n, ranks=cores)["copy"]
        traffic = stream("copy", n).times(cores)
        parts = parts_of(traffic, moved, evaded / 100, claims=True)
        for part, pair in parts.items():
            yield Row(case=f"copy {cores} cores", quantity=f"byte/it {part}", tolerance=TOLERANCE, evaded=evaded / 100,
                      figure=Pair(pair.model / n / cores, pair.simulated / n / cores, scale=8),
                      published=published if part == "read" else "", parts=parts)


# --- copies of rows with a halo between them ---

MEANS = {216: "1.35", 530: "1.09", 1920: "1.04"}  # of figure 8, over its halos 0 to 17
CELLS = 200000


def copy_rows(columns, halo, evaded):
    rows = -(-CELLS // columns // 8) * 8  # whole periods of lines
    moved = run(Machine(ll=LL, evaded=evaded), ["halocopy"], rows=rows, columns=columns, halo=halo)
    return halocopy(rows, columns, halo, in_streams=True), moved["halocopy"]


def figure_8(scope):
    """All write-allocates that lines allow are evaded: the floor under both figures. Then what the
    published means lie above it; then no evasion. A row behind a halo of eight or more begins a new
    stream, so its first line is read."""
    halos = scope.pick((0, 4, 5, 8), tuple(range(18)))
    for columns in scope.pick((216, 530), (216, 530, 1920)):
        models, simulated = [], []
        for halo in halos:
            traffic, moved = copy_rows(columns, halo, 100)
            models.append(traffic.reads(1) / traffic.written)
            simulated.append(moved.read / moved.written)
            yield Row(case=f"{columns} columns, halo {halo}", quantity="read / written", tolerance=TOLERANCE, evaded=1,
                      figure=Pair(models[-1], simulated[-1]), parts=parts_of(traffic, moved, 1, claims=True))
        yield Row(case=f"{columns} columns, mean of halos", quantity="read / written", tolerance=TOLERANCE, evaded=1,
                  figure=Pair(sum(models) / len(halos), sum(simulated) / len(halos)),
                  published=f"{MEANS[columns]} on Ice Lake" if len(halos) == 18 else "")
    traffic, moved = copy_rows(216, 5, 0)
    yield Row(case="216 columns, halo 5, nothing evaded", quantity="read / written", tolerance=TOLERANCE,
              published="2 if nothing is evaded", parts=parts_of(traffic, moved),
              figure=Pair(traffic.reads() / traffic.written, moved.read / moved.written))
