# SPDX-License-Identifier: BSD-3-Clause
"""Moves 1 MiB on socket 0 and writes 2 MiB on socket 1 in a measurement, and prints what it says."""
import json
import sys

import mover
import uncore


def absent(value):
    try:
        return value.bytes
    except uncore.Absent as error:
        return error.strerror


with uncore.measure() as traffic:
    early = repr(traffic)
    mover.move(1 << 20)
    mover.move(2 << 20, socket=1, kind=mover.WRITE)
try:
    with uncore.measure() as broken:
        mover.move(640)
        sys.exit("left early")
except SystemExit:
    pass
json.dump({
    "bytes": [[socket[name].bytes for name in ("dram.read", "dram.write")] for socket in traffic],
    "rate": traffic[0].rate("dram.read") * traffic[0].seconds,
    "absent": absent(traffic[0]["hbm.read"]),
    "early": early,
    "broken": broken[0]["dram.read"].bytes,
    "quality": traffic[0]["dram.read"].quality,
    "error": traffic[0]["dram.read"].error / traffic[0]["dram.read"].bytes,
    "bound": traffic[0].skew_seconds / traffic[0].seconds,
    "table": str(traffic),
    "html": traffic._repr_html_(),
    "rows": traffic.rows(),
    "platform": uncore.info()["platform"],
}, sys.stdout)
