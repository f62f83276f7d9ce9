# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that each socket moved, from uncored, without privilege: uncore-python(3).

    import uncore

    with uncore.measure() as traffic:
        work()
    print(traffic)                      # a table; in a notebook it shows itself
    traffic[0]["dram.read"].bytes       # of socket 0; raises uncore.Absent with the reason where there is none

    with uncore.region("solve"):        # in the report at exit
        work()

Everything that a socket did is counted, not only this program.
"""
from __future__ import annotations

from typing import Any

from ._library import Absent, Error
from ._meter import Meter, Socket, Traffic, Value, info, measure
from ._regions import (STATE_LEFT, STATE_OFF, STATE_ON, phases, region, region_begin, region_end, region_next, region_report,
                       region_title, region_work, span, span_begin, span_end, state_set)

__version__ = "0.1.0"
__all__ = ["Absent", "Error", "Meter", "STATE_LEFT", "STATE_OFF", "STATE_ON", "Socket", "Traffic", "Value", "info",
           "measure", "phases", "region", "region_begin", "region_end", "region_next", "region_report", "region_title",
           "region_work", "span", "span_begin", "span_end", "state_set"]


def load_ipython_extension(ipython: Any) -> None:
    """%load_ext uncore, and then %%uncore at the top of a cell."""
    def measure_cell(line: str, cell: str) -> Traffic:
        del line
        with measure() as traffic:
            ipython.run_cell(cell)
        return traffic

    ipython.register_magic_function(measure_cell, "cell", "uncore")
