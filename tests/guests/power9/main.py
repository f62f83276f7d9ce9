# SPDX-License-Identifier: BSD-3-Clause
"""Boots the POWER9 guest, within a limit, and runs its suites from here: TAP on stdout. See options.py.

The suites run outside, where the counters are made (player.py), and give commands to the guest. The exit status
is 0 if every case passed.
"""
import os
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "harness")]

import options  # noqa: E402
import tap  # noqa: E402
from machine import Machine, RAM_BYTES, command_line  # noqa: E402
from qemu import Failure, console_end, end_by_signal, start, stop  # noqa: E402

import suites  # noqa: E402

LIMIT_S = 900


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


def end_late(machine, limit_s):
    """A signal handler that ends everything: an exception would only be one more failure of the running case."""
    def end(*_):
        machine.stop()
        print(f"# The suites have not ended within {limit_s} s.", flush=True)
        os._exit(1)
    return end


def run(machine, cases, limit_s):
    signal.signal(signal.SIGALRM, end_late(machine, limit_s))
    signal.alarm(limit_s)
    try:
        machine.wait_for_boot()
        for case in cases:
            case.machine = machine
        tap.run(cases, lambda: ["the console:", "\n".join(console_end(machine.console))])
    finally:
        machine.stop()


def main():
    told = options.parse("power9", suites.SUITES)
    if not (told.images / "complete").exists():
        tap.skip_all(f"there is no guest in {told.images}: `./dev guest power9` makes it")
    try:
        if told.shell:
            return shell(told.images)
        cases = [case for name in told.suite for case in suites.SUITES[name]]
        return run(Machine(told.images), cases, told.limit or LIMIT_S)
    except Failure as failure:
        for line in console_end(told.images / "console.log") + console_end(told.images / "qemu.log"):
            print("#", line)
        print("#", failure)
        print("not ok 1 - the guest runs\n1..1")
        return 1


signal.signal(signal.SIGTERM, end_by_signal)
try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
