# SPDX-License-Identifier: BSD-3-Clause
"""unittest that speaks TAP. A case is a sentence: the docstring of a method, or the name of a function.

A failing case prints its reasons in lines that begin with "#"; reports() adds more, logs for instance.
"""
import sys
import unittest


Skip = unittest.SkipTest  # why a case cannot run here
IS_LONG = "--long" in sys.argv  # in suite `long`


def check(condition, complaint):
    if not condition:
        raise AssertionError(complaint)


def equal(have, want, what):
    check(have == want, f"{what}: {have!r}, should be {want!r}")


class Result(unittest.TestResult):
    def __init__(self, reports):
        super().__init__()
        self.reports = reports
        self.number = 0
        self.said = []     # messages of the running case
        self.outcome = ""  # "", "not ", or the reason of a skip

    def startTest(self, test):
        super().startTest(test)
        self.said, self.outcome = [], ""

    def stopTest(self, test):
        super().stopTest(test)
        self.print_line(sentence_of(test))

    def print_line(self, sentence):
        self.number += 1
        for text in self.said:
            for line in text.splitlines():
                print("#", line)
        failed = self.outcome if self.outcome == "not " else ""
        skip = "" if failed or not self.outcome else " # SKIP " + self.outcome
        print(f"{failed}ok {self.number} - {sentence}{skip}", flush=True)

    def fail_case(self, test, error):
        if not isinstance(test, unittest.TestCase):
            self.said, self.outcome = [], ""  # a class could not be set up or torn down
        self.said.append(self._exc_info_to_string(error, test))
        if self.outcome != "not ":
            self.said += self.reports()
        self.outcome = "not "
        if not isinstance(test, unittest.TestCase):
            self.print_line(str(test))

    def addError(self, test, err):
        super().addError(test, err)
        self.fail_case(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fail_case(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.said.append(f"with {dict(subtest.params)}:")
            self.fail_case(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self.outcome != "not ":
            self.outcome = reason


def of_suite(cases, long):
    """What this run takes."""
    return long if IS_LONG else cases


def sentence_of(test):
    return getattr(test, "title", "") + (test.shortDescription() or test.id())


def methods_of(case):
    """Names of test methods in the order in which they are written; methods of base classes come first."""
    names = dict.fromkeys(name for base in reversed(case.__mro__) for name in vars(base))
    return [name for name in names if name.startswith("test") and getattr(case, name)]


def run_suite(tests, reports):
    """Ends the program."""
    result = Result(reports)
    unittest.TestSuite(tests).run(result)
    print(f"1..{result.number}", flush=True)
    sys.exit(not result.wasSuccessful())


def run(cases, reports=lambda: []):
    """Runs all cases of these classes, and ends the program."""
    run_suite((unittest.TestSuite(case(name) for name in methods_of(case)) for case in cases), reports)


def run_functions(cases, reports=lambda: []):
    """Runs pairs (sentence, function), and ends the program."""
    run_suite((unittest.FunctionTestCase(function, description=sentence)
               for sentence, function in cases), reports)


def skip_all(why):
    print("1..0 # SKIP", why)
    sys.exit(0)
