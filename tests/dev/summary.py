# SPDX-License-Identifier: BSD-3-Clause
"""Adds up what `meson test` reported and ends with one line: N passed, N failed, N skipped.

Usage: summary.py HACKING.md REPORT..., where REPORT is BUILD/meson-logs/SUITE without its ending.

A test that speaks TAP counts as its cases. In CI (environment CI=true) a skip counts as a failure,
unless HACKING.md has a line `skip: NAME - reason`, where NAME is the test, or "test: case".
"""
import json
import os
import re
import sys
import xml.etree.ElementTree as xml


def allowed_skips(path):
    prefix = "skip: "
    with open(path, encoding="utf-8") as file:
        return {line[len(prefix):].split(" - ")[0].strip()
                for line in file if line.startswith(prefix)}


def outcome_of(case):
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return outcome
    return "passed"


def short(name):
    """meson writes "project:suite / test", and in the XML file "project." before that."""
    return name.rpartition(" / ")[2]


def cases_by_test(path):
    """TAP cases of each test, without their numbers: {test: [(case, outcome)]}."""
    cases = {}
    for suite in xml.parse(path).getroot().iter("testsuite"):
        cases[short(suite.get("name"))] = [
            (re.sub(r"^\d+( - )?", "", case.get("name")), outcome_of(case))
            for case in suite.iter("testcase")]
    return cases


def tests_of(report):
    with open(report + ".json", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def show_failed_cases(report, where):
    """Shows the output of failed TAP cases: meson shows the output of all other tests, but not of these."""
    cases = cases_by_test(report + ".junit.xml")
    for test in tests_of(report):
        if test["result"] in ("OK", "SKIP") or not cases.get(short(test["name"])):
            continue
        print(f"\n== {where}: {short(test['name'])}")
        for line in test.get("stdout", "").splitlines():
            if not line.startswith("ok "):
                print(line)


def results_of(report):
    """Yields (name, outcome) for everything that one report counts."""
    cases = cases_by_test(report + ".junit.xml")
    for test in tests_of(report):
        name = short(test["name"])
        whole = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(
            test["result"], "failed")
        inner = [(f"{name}: {case}", outcome) for case, outcome in cases.get(name, [])]
        yield from inner or [(name, whole)]
        if inner and whole == "failed" and all(outcome != "failed" for _, outcome in inner):
            yield f"{name} ({test['result'].lower()})", "failed"


def was_run(report):
    return os.path.exists(report + ".json")


def place(report):
    return report.replace("/meson-logs/", " ")


def is_allowed(name, allowed):
    return name in allowed or name.split(": ")[0] in allowed


def main(hacking, reports):
    allowed = allowed_skips(hacking)
    in_ci = os.environ.get("CI") == "true"
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for report in filter(was_run, reports):
        show_failed_cases(report, place(report))
    print()
    for report in reports:
        where = place(report)
        if not was_run(report):
            print(f"FAILED {where}: the suite ran no test.")
            count["failed"] += 1
            continue
        for name, outcome in results_of(report):
            if outcome == "skipped" and in_ci and not is_allowed(name, allowed):
                print(f"FAILED {where}: {name} was skipped, and HACKING.md does not allow that in CI.")
                outcome = "failed"
            elif outcome != "passed":
                print(f"{outcome.upper()} {where}: {name}")
            count[outcome] += 1
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**count))
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
