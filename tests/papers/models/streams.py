# SPDX-License-Identifier: BSD-3-Clause
"""Loops that go through whole arrays, and a copy that leaves out a halo behind each row."""
from models.lines import Rows
from models.traffic import ELEMENT, LINE, Traffic

# Elements an iteration: read, allocated, written.
STREAMS = {
    "load": (1, 0, 0),
    "store1": (0, 1, 1), "store2": (0, 2, 2), "store3": (0, 3, 3),
    "storent1": (0, 0, 1), "storent2": (0, 0, 2), "storent3": (0, 0, 3),
    "fill": (0, 1, 1),
    "copy": (1, 1, 1), "copynt": (1, 0, 1),
    "update": (1, 0, 1),
    "triad": (2, 1, 1),
}


def stream(name, n):
    """One pass over n elements of each array."""
    return Traffic(*(ELEMENT * n * elements for elements in STREAMS[name]))


def store_ratio(traffic, evaded):
    """Traffic by bytes stored: figures 5 and 9 of the CloverLeaf paper."""
    return traffic.total(evaded) / traffic.written


def halocopy(rows, columns, halo, in_streams=False):
    """One pass over arrays that begin with a line: figures 8 and 10 of the CloverLeaf paper. in_streams:
    only a line that follows one that was written just before evades its write-allocate. So the simulator
    does it."""
    lines = Rows(rows, columns, columns + halo)
    touched, whole = LINE * lines.touched(), LINE * lines.whole()
    whole -= LINE * lines.whole_and_first() if in_streams else 0
    return Traffic(read=touched + touched - whole, allocated=whole, written=touched)
