# SPDX-License-Identifier: BSD-3-Clause
"""The PAPI and PCP paper's figures 2 to 5: GEMM once, repeated and batched, and the capped GEMV.

The paper's cores have 5 MiB of cache each; the usual size here is 256 KiB, with sizes of matrices that are
to it as the paper's are to 5 MiB. No other program runs and no counter steps, so of the paper's noise only
one part is here: lines that were dirty before are written within what is counted.
"""
from experiments.scope import Scope
from models import matrices
from models.traffic import Traffic
from report import Pair, Row, parts_of
from simulate import KIB, MIB, Machine, run

SMALL = Machine(ll=256 * KIB)
POWER9 = Machine(ll=5 * MIB, ll_ways=20)  # a core's share of the L3
# The sets of a cache are not filled quite evenly, and the program itself moves some 14 lines; no result has
# fewer than 500.
TOLERANCE = 0.03


def with_dirt(traffic, cache):
    """When the cache is full of dirty lines of others, each line that is fetched throws out one of them,
    until all are gone; then what goes is a mixture of the kernel's own lines."""
    fetched = traffic.reads()
    own = traffic.written * max(0, fetched - cache) / fetched
    return Traffic(traffic.read, traffic.allocated, min(fetched, cache) + own)


def row_of(case, expected, model, moved, published=""):
    """The figure is what is written; expected is the paper's, the model's also has what was dirty before."""
    return Row(case=case, quantity="written / expected", tolerance=TOLERANCE, published=published,
               figure=Pair(model.written / expected.written, moved.written / expected.written),
               parts=parts_of(model, moved))


def gemm_after_dirt(n, repetitions, machine, published=""):
    """Fresh matrices for each repetition, after other memory was written."""
    moved = run(machine, ["gemm"], number=n, sets=repetitions, dirty=2 * machine.ll)["gemm"]
    expected = matrices.gemm(n, machine.ll).times(repetitions)
    case = f"gemm N = {n}, {'once' if repetitions == 1 else f'{repetitions} times'}"
    return row_of(case, expected, with_dirt(expected, machine.ll), moved, published)


def gemm_flushed(n, machine, shared=None, ranks=1, published=""):
    """One product for each rank, with nothing dirty before and nothing left behind. In the band of
    equations 3 and 4 the paper expects anything between the two figures. shared: the caches of how many
    cores a lone rank has."""
    cache = machine.ll * (shared or 1)
    whole = Machine(ll=cache, ll_ways=machine.ll_ways, own_caches=ranks if ranks > 1 else 0)
    moved = run(whole, ["gemm"], number=n, sets=1, ranks=ranks, flush=4 * cache)["gemm"]
    low, high = matrices.gemm_band(cache)
    least, most = (matrices.gemm(n, size).times(ranks) for size in (100 * cache, 1))
    model = matrices.gemm(n, cache).times(ranks)
    parts = parts_of(model, moved)
    if low < n < high * 1.05:
        parts["read"] = Pair(least.reads(), moved.read, upper=most.reads())
    read = parts["read"]
    expected = least.reads()
    where = f"{ranks} cores busy" if ranks > 1 else f"one core, cache of {shared}" if shared else "one core"
    upper = read.upper and read.upper / expected
    return Row(case=f"gemm N = {n}, {where}", quantity="read / expected", tolerance=TOLERANCE,
               published=published, figure=Pair(read.model / expected, read.simulated / expected, upper),
               parts=parts)


def figure_2(scope):
    """One repetition: the smaller, the more is written beside what is expected."""
    machine = POWER9 if scope == Scope.ALL else SMALL
    for n in scope.pick((48, 64), (40, 48, 64, 96), (64, 128, 256, 400)):
        yield gemm_after_dirt(n, 1, machine, published="small ones are noise")


def figure_3(scope):
    """Also figure 4, which is the same without PCP. Repetitions by equation 5; then the band, with one
    core that has the caches of all and with all cores busy."""
    for n in scope.pick((16,), (16, 32, 64)):
        yield gemm_after_dirt(n, matrices.repetitions(n), SMALL, published="with equation 5 as expected")
    machine = POWER9 if scope == Scope.ALL else SMALL
    for n in scope.pick((96, 200), (64, 96, 128, 160, 176, 200), (400, 467, 600, 740, 809, 880)):
        inside = "diverges in the band" if n > matrices.gemm_band(machine.ll)[0] else "as expected"
        yield gemm_flushed(n, machine, published=inside)
    beyond = scope.pick(200, 200, 880)
    yield gemm_flushed(beyond, machine, shared=4, published="one core does not jump")
    yield gemm_flushed(beyond, machine, ranks=scope.pick(2, 4), published="all cores jump")


def gemv_case(m, n, machine, repetitions, flush):
    sizes = {"rows": m, "columns": n, "n": min(m, n), "sets": repetitions}
    before = {"flush": 4 * machine.ll} if flush else {"dirty": 2 * machine.ll}
    moved = run(machine, ["gemv"], **sizes, **before)["gemv"]
    expected = matrices.gemv(m, n, n, machine.ll).times(repetitions)
    model = expected if flush else with_dirt(expected, machine.ll)
    case = f"gemv M = {m}, N = {n}, {repetitions} times{', flushed' if flush else ''}"
    return row_of(case, expected, model, moved, "" if flush else "more is written than expected up to 10000")


def figure_5(scope):
    """Square up to the cap, then only y grows; the paper's cap of 1280 is 1.58 times what fits, and so is
    this."""
    machine, cap = (POWER9, 1280) if scope == Scope.ALL else (SMALL, 286)
    sizes = scope.pick((64, 1000), (64, 100, 160, 286, 1000, 10000), (128, 400, 800, 1280, 10000, 50000))
    for m in sizes:
        for flush in (False, True):
            repetitions = 8 if m > cap else 100 if flush else 10
            yield gemv_case(m, min(m, cap), machine, repetitions, flush)
