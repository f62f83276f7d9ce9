# SPDX-License-Identifier: BSD-3-Clause
"""Counts of the simulated machine (tests/traffic/counters.h), which a test changes while uncored reads them."""


def put(counters, at, count):
    """Writes the count at this offset of a mapping by one store of 8 bytes: struct.pack_into() would write 0 before it."""
    with memoryview(counters).cast("Q") as words:
        words[at // 8] = count


def add(counters, at, more):
    put(counters, at, int.from_bytes(counters[at:at + 8], "little") + more)
