# SPDX-License-Identifier: BSD-3-Clause
"""The library of ITT, by a program that does what ITT's static part does."""
import tap
from markers import MODULES, OWN, compile_program, figures, run_with, said_of, simulated

SAID = """filled 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 0
same 1 1, enabled 1, texts one task
events 1 1
done
"""


def run(machine):
    program = compile_program(machine, "cc", OWN / "itt.c", "-rdynamic", "-pthread")
    done = run_with(machine, "auto", program)
    tap.equal((done.stdout, said_of(done)), (SAID, ["uncore run: markers: itt."]), "what was said")


def tasks():
    """Tasks, events, frames, and regions and tasks with an ID have their bytes; functions that are not served are empty"""
    with simulated() as machine:
        run(machine)
        found = figures(machine)
    tap.equal(found, {"one/task": (1, 3), "two/inner": (2, 6), "early/text": (1, 24), "early/itt_named": (1, 16),
                      "spans/text": (2, 3), "spans/region": (1, 6), "spans": (2, 12), "early": (1, 16),
                      "event": (1, 3), "other": (2, 6), "many": (256, 0)}, "regions")


def unwanted():
    """Where UNCORE_MARKERS does not name it, no function is served"""
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "itt.c", "-pthread")
        done = machine.run(program, INTEL_LIBITTNOTIFY64=str(MODULES / "libuncore-itt.so"), UNCORE_MARKERS="likwid,")
        tap.check(not machine.report_path.exists(), "a report")
    tap.equal((done.stdout, done.stderr), (f"filled{' 0' * 16}\ndone\n", ""), "what was said")


tap.run_functions([(case.__doc__, case) for case in (tasks, unwanted)])
