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

LIMIT_S, LONG_S = 2700, 3600


def shell(images, append):
    """The console on this terminal, without a player; the guest ends with its shell, or by Ctrl-A X."""
    memory = images / "memory"
    with open(memory, "wb") as file:
        file.truncate(RAM_BYTES)
    words = command_line(images, memory, "mon:stdio", f"shell {append}")
    words[words.index("-monitor"):words.index("-monitor") + 2] = []
    process = start(words)
    try:
        return process.wait()
    finally:
        stop(process)
        memory.unlink()


def ending(machine, why):
    """A signal handler that ends everything: an exception would only be one more failure of the running case."""
    def end(*_):
        machine.stop()
        print("#", why, flush=True)
        os._exit(1)
    return end


def run(machine, cases, limit_s):
    signal.signal(signal.SIGALRM, ending(machine, f"The suites have not ended within {limit_s} s."))
    signal.signal(signal.SIGTERM, ending(machine, "The suites were told to end."))
    signal.alarm(limit_s)
    try:
        machine.wait_for_boot()
        for case in cases:
            case.machine = machine
        tap.run(cases, lambda: ["the console:", "\n".join(console_end(machine.console))])
    finally:
        machine.stop()


def main():
    told = options.parse("power9", suites.SUITES, simulates=True)
    if not (told.images / "complete").exists():
        tap.skip_all(f"there is no guest in {told.images}: `./dev guest power9` makes it")
    try:
        if told.shell:
            return shell(told.images, told.append)
        if told.all:
            suites.add_long()
        cases = [case for name in told.suite for case in suites.SUITES[name]]
        return run(Machine(told.images, told.append), cases, told.limit or (LONG_S if told.all else LIMIT_S))
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
