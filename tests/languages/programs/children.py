# SPDX-License-Identifier: BSD-3-Clause
"""children.py METHOD WHEN: three children of multiprocessing, which move 6400 bytes each in a region, as their parent does
before. WHEN: multiprocessing is imported "first", and the children run at once; or "late", after the parent's region, and
they run in turn; or "marked", which is as "late", and there is a region at the top of this program, which children that
do not share their parent's memory import."""
import importlib
import sys

import mover
import uncore


if sys.argv[2] == "marked":
    with uncore.region("top"):
        mover.move(6400)


def work(channel):
    """In a child; each child has a channel of its own."""
    with uncore.region("child"):
        mover.move(6400, channel=channel)


def main():
    method, when = sys.argv[1:]
    if when == "first":
        importlib.import_module("multiprocessing")
    with uncore.region("parent"):
        mover.move(6400)
    context = importlib.import_module("multiprocessing").get_context(method)
    processes = [context.Process(target=work, args=(channel,)) for channel in (1, 2, 3)]
    for process in processes:
        process.start()
        if when != "first":
            process.join()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]


if __name__ == "__main__":
    main()
