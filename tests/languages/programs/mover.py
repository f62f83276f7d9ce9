# SPDX-License-Identifier: BSD-3-Clause
"""The memory controllers of the simulated machine, for programs that know what they moved (tests/traffic/counters.h)."""
import mmap
import os

LINE = 64
NODE_KINDS, CHANNELS, HEAD = 4, 16, 8  # HEAD in counters
READ, WRITE = 0, 1

with open(os.environ["TRAFFIC_COUNTERS"], "r+b") as _file:
    _counters = memoryview(mmap.mmap(_file.fileno(), 0)).cast("Q")


def move(n_bytes, socket=0, kind=READ, channel=0):
    """One process and one thread at a time may use a channel."""
    at = HEAD + (socket * NODE_KINDS + kind) * CHANNELS + channel
    _counters[at] += n_bytes // LINE  # one store of 8 bytes; struct.pack_into() would write 0 before it
