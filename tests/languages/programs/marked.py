# SPDX-License-Identifier: BSD-3-Clause
"""Regions of every form, in which 64 bytes times a number move."""
import threading

import mover
import uncore

KIB = 1024


@uncore.region("decorated")
def decorated(n_bytes):
    """A function."""
    mover.move(n_bytes)
    return n_bytes


@uncore.region("generator")
def generator(n_bytes):
    """Others run between its parts."""
    got = yield n_bytes
    with uncore.region("inside"):
        mover.move(got)
    return "end"


def iterate():
    """The region of a generator is a span: regions outside of it may end meanwhile."""
    steps = generator(KIB)
    with uncore.region("outside"):
        first = next(steps)
    try:
        steps.send(first)
    except StopIteration as end:
        assert end.value == "end"


def fail():
    """An exception ends its region."""
    try:
        with uncore.region("raised"):
            mover.move(2 * KIB)
            raise KeyError
    except KeyError:
        pass


def many_threads():
    """One object, 8 threads."""
    shared = uncore.region("threads")

    def passes(number):
        for _ in range(50):
            with shared:
                if number == 0:
                    mover.move(64)

    threads = [threading.Thread(target=passes, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def by_functions():
    """As in C."""
    uncore.region_begin("first")
    mover.move(3 * KIB)
    uncore.region_next("first", "second")
    mover.move(4 * KIB)
    uncore.region_end("second")
    uncore.region_title("first", "the first of all")
    uncore.region_work("first", 3, "cells")
    span = uncore.span_begin("span")
    ending = threading.Thread(target=lambda: (mover.move(5 * KIB), uncore.span_end(span)))
    ending.start()
    ending.join()
    uncore.state_set("waiting", uncore.STATE_ON)
    mover.move(8 * KIB)
    uncore.state_set("waiting", uncore.STATE_OFF)
    uncore.state_set("waiting", uncore.STATE_LEFT)
    try:
        uncore.span_end(span)
    except uncore.Error as error:
        print(error.errno, error.strerror)


assert decorated(KIB) == KIB and decorated.__doc__ == "A function."
iterate()
fail()
many_threads()
by_functions()
with uncore.phases("read") as phase:
    mover.move(6 * KIB)
    phase.next("solve")
    mover.move(7 * KIB)
