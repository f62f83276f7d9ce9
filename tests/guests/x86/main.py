# SPDX-License-Identifier: BSD-3-Clause
"""Boots the x86 guest for its suites, within a limit, and prints the reports as TAP. See options.py.

The exit status is 0 if every case passed. Always TCG, never KVM: a nested /dev/kvm can be hundreds of times
slower.
"""
import os
import pathlib
import re
import selectors
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import options  # noqa: E402
from boots import SUITES, Guest  # noqa: E402
from qemu import Failure, console_end, end_by_signal, start, start_piped, stop  # noqa: E402

SAY_AFTER_S = 20  # of silence
# An emulated kernel may stand still, or miss its timer and panic, before it has started its first program. Nothing of
# ours has run then, and the guest is booted again.
BOOT_S, BOOTS = 200, 2
CASE = re.compile(r"(not )?ok \d+ - (.*)")
PLAN = re.compile(r"1\.\.(\d+)$")


class Tap:
    """The lines of several boots as one report."""

    def __init__(self):
        self.n = self.n_failed = 0

    def comment(self, text):
        print("#", text, flush=True)

    def case(self, failed, sentence):
        self.n += 1
        self.n_failed += failed
        print(f"{'not ' if failed else ''}ok {self.n} - {sentence}", flush=True)

    def line(self, text):
        """Returns the number of cases, if the line is a plan."""
        case, plan = CASE.match(text), PLAN.match(text)
        if case:
            self.case(bool(case[1]), case[2])
        elif plan:
            return int(plan[1])
        elif text:
            self.comment(text.removeprefix("#").removeprefix(" "))
        return None

    def end(self):
        print(f"1..{self.n}", flush=True)
        return self.n > 0 and self.n_failed == 0


class NotBooted(Failure):
    """The guest has not come so far as to start the suite."""


def lines_of(process, boot, tap):
    """Lines of a boot's report as they come; prints a comment when nothing comes for a while."""
    began = said = time.monotonic()
    booted = False
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    os.set_blocking(process.stdout.fileno(), False)
    rest = b""
    while True:
        now = time.monotonic()
        if now - began > boot.limit_s:
            raise Failure(f"The guest has not ended within {boot.limit_s} s ({boot.name}).")
        if not booted and now - began > BOOT_S:
            raise NotBooted(f"The guest has not booted within {BOOT_S} s ({boot.name}).")
        if now - said > SAY_AFTER_S:
            said = now
            tap.comment(f"{boot.name}: {now - began:.0f} s of at most {boot.limit_s} s")
        if not selector.select(1):
            continue
        data = process.stdout.read()
        if not data and not booted:
            raise NotBooted(f"The guest has ended before its suite began ({boot.name}).")
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            booted = True
            said = time.monotonic()
            yield line.decode(errors="replace").rstrip("\r")


def run_boot(boot, tap):
    before, plan = tap.n, None
    process = start_piped(boot.command, boot.complaints)
    try:
        for line in lines_of(process, boot, tap):
            found = tap.line(line)
            plan = found if found is not None else plan
    finally:
        stop(process)
    if plan is None:
        raise Failure(f"The guest has ended without a report ({boot.name}).")
    if plan != tap.n - before:
        raise Failure(f"The guest planned {plan} cases and ran {tap.n - before} ({boot.name}).")


def explain(boot, failure, tap):
    for line in console_end(boot.console) + console_end(boot.complaints):
        tap.comment(line)
    tap.comment(f"The whole console is in {boot.console}.")
    tap.comment(failure)


def runs_to_its_end(boot, tap):
    for _ in range(BOOTS):
        try:
            run_boot(boot, tap)
            return True
        except Failure as failure:
            explain(boot, failure, tap)
            if not isinstance(failure, NotBooted):
                break
    return False


def run(boots):
    tap = Tap()
    for boot in boots:
        if not runs_to_its_end(boot, tap):
            tap.case(True, f"{boot.name}: the guest runs to its end")
    return tap.end()


def wait_for_shell(command):
    process = start(command)
    try:
        return process.wait() == 0
    finally:
        stop(process)


def main():
    told = options.parse("x86", SUITES, simulates=True)
    if not (told.images / "complete").exists():
        print(f"1..0 # SKIP there is no guest in {told.images}: `./dev guest x86` makes it")
        return True
    guest = Guest(told.images, told.limit, told.append)
    if told.shell:
        return wait_for_shell(guest.shell())
    return run(guest.boots(told.suite, told.all))


signal.signal(signal.SIGTERM, end_by_signal)
try:
    sys.exit(not main())
except Failure as failure:
    sys.exit(str(failure))
except KeyboardInterrupt:
    sys.exit(130)
