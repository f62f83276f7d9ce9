# SPDX-License-Identifier: BSD-3-Clause
"""Runs cases and reports them as TAP. A case is a function; its name, read aloud, is its sentence."""
import sys
import traceback


class Skip(Exception):
    """Why a case cannot run here."""


def check(condition, complaint):
    if not condition:
        raise AssertionError(complaint)


def equal(have, want, what):
    check(have == want, f"{what}: {have!r}, should be {want!r}")


def run_case(number, name, case):
    try:
        case()
    except Skip as skip:
        print(f"ok {number} - {name} # SKIP {skip}")
        return True
    except Exception as error:  # whatever goes wrong fails this case, and not the next
        for line in str(error).splitlines() or [""]:
            print(f"# {line}")
        if not isinstance(error, AssertionError):
            traceback.print_exc()
        print(f"not ok {number} - {name}")
        return False
    print(f"ok {number} - {name}")
    return True


def run(cases):
    """cases: [(sentence, function)]. Ends the program."""
    print(f"1..{len(cases)}")
    sys.stdout.flush()
    good = [run_case(number, name, case) for number, (name, case) in enumerate(cases, 1)]
    sys.exit(0 if all(good) else 1)
