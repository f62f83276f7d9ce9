# SPDX-License-Identifier: BSD-3-Clause
"""All experiments, in the order of the papers."""
import dataclasses
import typing

from experiments import cloverleaf, matrices, resorting, stores

PUT_IN = "When a CPU evades a write-allocate is not simulated: the share of them is put in."


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    rows: typing.Callable  # of a Scope
    note: str = ""


EXPERIMENTS = [
    Experiment(
        "cloverleaf-table1", "CloverLeaf paper, Table I: the 22 loops, layer conditions fulfilled and broken",
        cloverleaf.table_1,
        "Table I prints LCB and max that do not follow its text; the model is that of the text."),
    Experiment(
        "cloverleaf-fig3", "CloverLeaf paper, figure 3: the 22 loops over numbers of ranks",
        cloverleaf.figure_3, "What lines alone do to short rows. " + PUT_IN),
    Experiment(
        "cloverleaf-fig5", "CloverLeaf paper, figure 5: stores over cores, Ice Lake", stores.figure_5, PUT_IN),
    Experiment("cloverleaf-fig6", "CloverLeaf paper, figure 6: a copy over cores", stores.figure_6, PUT_IN),
    Experiment(
        "cloverleaf-fig7", "CloverLeaf paper, figure 7: the refined model, and non-temporal stores",
        cloverleaf.figure_7, PUT_IN),
    Experiment(
        "cloverleaf-fig8", "CloverLeaf paper, figures 8 and 10: copies with a halo behind each row",
        stores.figure_8,
        "The floor, with every write-allocate evaded that lines allow. What a CPU misses comes on top."),
    Experiment(
        "cloverleaf-fig9", "CloverLeaf paper, figure 9: stores over cores, Sapphire Rapids", stores.figure_9,
        PUT_IN),
    Experiment(
        "papi-fig2", "PAPI paper, figure 2: one GEMM", matrices.figure_2,
        "Of the paper's noise, what was dirty in the cache before is here, and nothing else."),
    Experiment("papi-fig3", "PAPI paper, figures 3 and 4: GEMM by equation 5, and batched", matrices.figure_3),
    Experiment("papi-fig5", "PAPI paper, figure 5: capped GEMV, with and without a flush", matrices.figure_5),
    Experiment("papi-fig6", "PAPI paper, figure 6: S1CF, first nest", resorting.figure_6, PUT_IN),
    Experiment("papi-fig7", "PAPI paper, figure 7: S1CF, second nest", resorting.figure_7),
    Experiment("papi-fig8", "PAPI paper, figure 8: S1CF in one nest", resorting.figure_8),
    Experiment("papi-fig9", "PAPI paper, figure 9: S2CF", resorting.figure_9, PUT_IN),
    Experiment(
        "papi-fig10", "PAPI paper, figure 10: S1CF and S2CF on 4 x 8 ranks", resorting.figure_10, PUT_IN),
]
