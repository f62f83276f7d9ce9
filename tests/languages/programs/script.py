# SPDX-License-Identifier: BSD-3-Clause
"""script.py STATUS: knows nothing of uncore."""
import concurrent.futures
import sys

import mover


class Solver:
    """Has a method that is worth a region."""

    @staticmethod
    def step(n_bytes):
        mover.move(n_bytes)


async def later():
    mover.move(128)


def in_child(channel):
    mover.move(640, channel=channel)
    return channel


if __name__ == "__main__":
    for _ in range(3):
        Solver.step(6400)
    try:
        later().send(None)
    except StopIteration:
        pass
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert pool.submit(in_child, 1).result() == 1
    sys.exit(int(sys.argv[1]))
