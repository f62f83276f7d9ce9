# SPDX-License-Identifier: BSD-3-Clause
"""Runs suites of build folders, tries failed tests again, and ends with one line: N passed, N failed, N skipped.

Usage: suites.py HACKING.md [--sudo] FOLDER=[SUITE,SUITE...]...

A folder without suites could not be built, which is a failure. A folder's suites run together, two tests at once for each
CPU, because half of them wait. A test that speaks TAP counts as its cases. A failed test is run again when all others have
ended, alone, twice. If it passes both times it counts as passed, and is named as UNSTEADY; more than three of them are a
failure. A crash, a report of a sanitizer, a test that hangs and a case that leaves a descriptor open are failures at once.

In CI (environment CI=true) a skip counts as a failure, unless HACKING.md has a line `skip: NAME - reason`, where NAME is
the test, or "test: case". With --sudo, suites that need root get it by sudo.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

# In these suites uncored opens perf events, or a case mounts a folder.
AS_ROOT = set("""by-read compat containers continuity crowds docs hostile hostile-facts jobs jobs-alone long monitor newcomer
    packages pages papi pcp pcp-agent policy ranks system validate validate-beside""".split())
PASSED_ON = [name for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "CI") if name in os.environ]
OPEN_TO_ALL = pathlib.Path(__file__).with_name("open-to-all").resolve()
PATIENCE = 3  # by which the limits of tests are multiplied
UNSTEADY_MOST = 3
NEVER_AGAIN = re.compile(r"(Address|Leak|Thread|Memory)Sanitizer|runtime error:|a descriptor was left open")

Result = collections.namedtuple("Result", "name outcome reason")


def short(name):
    """meson writes "project:suite / test", and in the XML file "project." before that."""
    return name.rpartition(" / ")[2]


def suite_of(name):
    return name.partition(":")[2].partition(" / ")[0]


# --- what meson reports ---

class Test:
    """A test of a report: a line of meson's JSON, and its cases in the XML file beside it."""

    def __init__(self, folder, line, cases):
        self.folder, self.suite, self.name = folder, suite_of(line["name"]), short(line["name"])
        self.result, self.status = line["result"], line["returncode"]
        self.said = line.get("stdout", "") + line.get("stderr", "")
        self.cases = cases.get(line["name"], [])

    def failed(self):
        return self.result not in ("OK", "SKIP", "EXPECTEDFAIL")

    def may_try_again(self):
        crashed = self.status < 0 or self.status > 128
        return self.result != "TIMEOUT" and not crashed and not NEVER_AGAIN.search(self.said)

    def place(self):
        return f"{self.folder} {self.suite}: {self.name}"

    def results(self):
        """Everything that the test counts as."""
        whole = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(self.result, "failed")
        reasons = self.reasons()
        inner = [Result(f"{self.name}: {case}", outcome, reasons.get(case, "")) for case, outcome in self.cases]
        yield from inner or [Result(self.name, whole, "")]
        if inner and whole == "failed" and all(outcome != "failed" for _, outcome in self.cases):
            yield Result(f"{self.name} ({self.result.lower()})", "failed", "")

    def reasons(self):
        """{TAP case: why it failed, in a line}. Comments stand before a case of Python and behind a case of cmocka; the
        line with the error is not always the last one."""
        parts = re.split(r"^((?:not )?ok)\b[\d ]*-? ?(.*)$", self.said, flags=re.MULTILINE)
        comments_of_cases = parts[3::3] if ": error: " in self.said else parts[0::3]
        reasons = {}
        for outcome, case, comments in zip(parts[1::3], parts[2::3], comments_of_cases):
            comments = [line.strip("# ") for line in comments.splitlines() if line.strip("# ")]
            errors = [line for line in comments if re.match(r"\w+(Error|Exception|Expired)\b", line)]
            if outcome == "not ok":
                reasons[case] = (errors or comments or ["It does not say why."])[0]
        return reasons

    def show(self):
        """meson shows the output of other tests, but not of those that speak TAP."""
        print(f"\n== {self.place()}")
        print("\n".join(line for line in self.said.splitlines() if not line.startswith("ok ")), flush=True)


def outcome_of(case):
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return outcome
    return "passed"


def cases_by_test(path):
    """TAP cases of each test, without their numbers: {test: [(case, outcome)]}."""
    return {suite.get("name").partition(".")[2]: [
        (re.sub(r"^\d+( - )?", "", case.get("name")), outcome_of(case)) for case in suite.iter("testcase")]
        for suite in xml.parse(path).getroot().iter("testsuite")}


def read_report(folder, log):
    """The tests of a run; none if meson ran none."""
    report = pathlib.Path(folder, "meson-logs", log)
    lines = report.with_suffix(".json")
    if not lines.exists():
        return []
    cases = cases_by_test(report.with_suffix(".junit.xml"))
    return [Test(folder, json.loads(line), cases) for line in lines.read_text(encoding="utf-8").splitlines()]


# --- running ---

def run(folder, log, prefix, *words):
    """Runs `meson test`, which prints; its status is in the report. Returns the tests that ran."""
    for ending in (".json", ".txt", ".junit.xml"):
        pathlib.Path(folder, "meson-logs", log + ending).unlink(missing_ok=True)
    subprocess.run([*prefix, "meson", "test", "-C", folder, "--no-rebuild", "--logbase", log, "--print-errorlogs",
                    "--num-processes", str(2 * os.cpu_count()), "--timeout-multiplier", str(PATIENCE), *words],
                   stdin=subprocess.DEVNULL, check=False)
    return read_report(folder, log)


def prefix_of(suite, sudo):
    """sudo forgets the environment."""
    if os.geteuid() == 0:
        return (OPEN_TO_ALL,)
    if not sudo or suite not in AS_ROOT:
        return ()
    return ("sudo", "-n", "env", *(f"{name}={os.environ[name]}" for name in PASSED_ON), OPEN_TO_ALL)


def run_suites(folder, suites, sudo):
    groups = collections.defaultdict(list)
    for suite in suites:
        groups[prefix_of(suite, sudo)].append(suite)
    tests = []
    for number, (prefix, group) in enumerate(groups.items()):
        print(f"\n== {folder}: {' '.join(group)}", flush=True)
        tests += run(folder, f"suites-{number}", prefix, *(f"--suite={suite}" for suite in group))
    return tests


def passes_again(test, sudo):
    print(f"\n== once more, twice: {test.place()}", flush=True)
    return all(again and not any(each.failed() for each in again) for again in (
        run(test.folder, f"again-{number}", prefix_of(test.suite, sudo), "--suite", test.suite, test.name)
        for number in (1, 2)))


# --- the summary ---

def allowed_skips(path):
    prefix = "skip: "
    with open(path, encoding="utf-8") as file:
        return {line[len(prefix):].split(" - ")[0].strip() for line in file if line.startswith(prefix)}


class Summary:
    def __init__(self, allowed):
        self.allowed, self.in_ci = allowed, os.environ.get("CI") == "true"
        self.count = {"passed": 0, "failed": 0, "skipped": 0}
        self.unsteady = 0

    def fail(self, sentence):
        print("FAILED", sentence)
        self.count["failed"] += 1

    def add(self, test):
        for result in test.results():
            self.add_result(f"{test.folder} {test.suite}", result)

    def add_result(self, where, result):
        allowed = result.name in self.allowed or result.name.split(": ")[0] in self.allowed
        if result.outcome == "skipped" and self.in_ci and not allowed:
            return self.fail(f"{where}: {result.name} was skipped, and HACKING.md does not allow that in CI.")
        if result.outcome != "passed":
            print(f"{result.outcome.upper()} {where}: {result.name}" + f"\n    {result.reason}".rstrip())
        self.count[result.outcome] += 1
        return None

    def add_unsteady(self, test):
        """It has failed once, and passed twice."""
        self.unsteady += 1
        for result in test.results():
            if result.outcome == "failed":
                print(f"UNSTEADY {test.folder} {test.suite}: {result.name}" + f"\n    {result.reason}".rstrip())
                result = result._replace(outcome="passed")
            self.add_result(f"{test.folder} {test.suite}", result)

    def end(self):
        if self.unsteady > UNSTEADY_MOST:
            self.fail(f"{self.unsteady} tests were unsteady; {UNSTEADY_MOST} may be.")
        print("{passed} passed, {failed} failed, {skipped} skipped".format(**self.count))
        return self.count["failed"] > 0


def main(hacking, sudo, tasks):
    summary, missing, tests = Summary(allowed_skips(hacking)), [], []
    for folder, suites in tasks:
        if not suites:
            missing.append(f"{folder} could not be built.")
        tests += run_suites(folder, suites, sudo)
        ran = {test.suite for test in tests if test.folder == folder}
        missing += [f"{folder} {suite}: the suite ran no test." for suite in suites if suite not in ran]
    failed = [test for test in tests if test.failed()]
    for test in failed:
        test.show()
    unsteady = {test for test in failed if test.may_try_again() and passes_again(test, sudo)}
    print()
    for test in tests:
        if test in unsteady:
            summary.add_unsteady(test)
        else:
            summary.add(test)
    for sentence in missing:
        summary.fail(sentence)
    return summary.end()


if __name__ == "__main__":
    arguments = [word for word in sys.argv[2:] if word != "--sudo"]
    sys.exit(main(sys.argv[1], "--sudo" in sys.argv, [
        (folder, list(filter(None, suites.split(",")))) for folder, _, suites in (
            word.partition("=") for word in arguments)]))
