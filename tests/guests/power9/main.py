# SPDX-License-Identifier: BSD-3-Clause
"""Boots the POWER9 guest, within a time, and runs its suites from here: TAP on stdout.

usage: main.py IMAGES [--shell] [SUITE..]

The suites run outside, where the counters are made (player.py), and give commands to the guest. IMAGES is the
folder that ./dev guest makes. The exit status is 0 if every case passed.
"""
import os
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "pcp")]

import tap  # noqa: E402
from machine import Machine, RAM_BYTES, command_line  # noqa: E402
from qemu import Failure, console_end, end_by_signal, start, stop  # noqa: E402

import suites  # noqa: E402

LIMIT_S = 600


def chosen(words):
    unknown = [word for word in words if word not in suites.SUITES]
    if unknown:
        sys.exit(f"There is no suite {unknown[0]!r} in this guest; there are: {' '.join(suites.SUITES)}.")
    return [suites.SUITES[word] for word in words or suites.SUITES]


def shell(images):
    """The console on this terminal, without a player; the guest ends with its shell, or by Ctrl-A X."""
    memory = images / "memory"
    with open(memory, "wb") as file:
        file.truncate(RAM_BYTES)
    words = command_line(images, memory, "mon:stdio")
    words[words.index("-monitor"):words.index("-monitor") + 2] = []
    words[words.index("-append") + 1] += " shell"
    process = start(words)
    try:
        return process.wait()
    finally:
        stop(process)
        memory.unlink()


def end_late(machine):
    """A handler that ends all: an exception would be just one more failure to the case that runs."""
    def end(*_):
        machine.stop()
        print(f"# The suites have not ended within {LIMIT_S} s.", flush=True)
        os._exit(1)
    return end


def run(machine, cases):
    signal.signal(signal.SIGALRM, end_late(machine))
    signal.alarm(LIMIT_S)
    try:
        machine.wait_for_boot()
        for case in cases:
            case.machine = machine
        tap.run(cases, lambda: ["the console:", "\n".join(console_end(machine.console))])
    finally:
        machine.stop()


def main(folder, *words):
    images = pathlib.Path(folder)
    if not (images / "complete").exists():
        tap.skip_all(f"there is no guest in {images}: `./dev guest power9` makes it")
    try:
        if "--shell" in words:
            return shell(images)
        cases = [case for suite in chosen(words) for case in suite]
        return run(Machine(images), cases)
    except Failure as failure:
        for line in console_end(images / "console.log") + console_end(images / "qemu.log"):
            print("#", line)
        print("#", failure)
        print("not ok 1 - the guest runs\n1..1")
        return 1


signal.signal(signal.SIGTERM, end_by_signal)
try:
    sys.exit(main(*sys.argv[1:]))
except KeyboardInterrupt:
    sys.exit(130)
