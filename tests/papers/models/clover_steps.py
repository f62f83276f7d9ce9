# SPDX-License-Identifier: BSD-3-Clause
"""Which of the 22 loops a time step of CloverLeaf runs, by procedure.

A step sweeps x first and then y, and the next one y first. advec_mom runs once for each velocity and
direction; what does not depend on the velocity is computed once. Both kinds of step move as many bytes.
"""
from models.loops import LOOPS
from models.traffic import ELEMENT, Traffic, sum_of

X_FIRST = {
    "advec_cell_kernel": "ac00 ac02 ac03 ac05 ac06 ac07",
    "advec_mom_kernel": "am00 am04 am05 am06 am07 am00 am06 am07 am03 am08 am09 am10 am11 am03 am10 am11",
    "pdv_kernel": "pdv00 pdv01",
}
Y_FIRST = {
    "advec_cell_kernel": "ac04 ac06 ac07 ac01 ac02 ac03",
    "advec_mom_kernel": "am01 am08 am09 am10 am11 am01 am10 am11 am02 am04 am05 am06 am07 am02 am06 am07",
    "pdv_kernel": "pdv00 pdv01",
}
PROCEDURES = tuple(X_FIRST)


def once(name):
    """An element's share, layer conditions fulfilled, without ends of rows."""
    loop = LOOPS[name]
    return Traffic(ELEMENT * loop.rd, ELEMENT * loop.evadable, ELEMENT * loop.wr)


def per_step(procedure):
    """Bytes for each cell and step, over two steps."""
    both = f"{X_FIRST[procedure]} {Y_FIRST[procedure]}"
    return sum_of([once(name) for name in both.split()]).times(0.5)
