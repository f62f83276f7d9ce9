#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much the suites notice: changes one operator of the product, builds, and runs suites until a test fails.

The mutants are the same each time, also after files were moved: of all places in daemon/, client/ and pmda/ those whose
line has the smallest hash. What does not build, or builds the same program, is not a mutant; the next takes its place.

The work is done in a clone, DIR, of the last commit or of --commit. Results are in DIR.json, one line each: a run that
was ended goes on where it was, and a run with more suites tries them on those that have survived. A test that fails is
run once more, because on a busy machine a test may fail without a mutant.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

SEED = 29
PARTS = ("daemon", "client", "pmda")
QUICK = ("unit", "fuzz-replay", "platforms", "policy", "system")

# What is found in code -> what takes its place. White space tells an operator from a pointer's star, or a sign.
OPERATORS = [(re.compile(pattern), replacement) for pattern, replacement in (
    (r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" \+= ", " -= "), (r" -= ", " += "), (r" \|= ", " = "), (r" \| ", " & "), (r" & ", " | "), (r"\+\+", "--"),
    (r"\(!", "("), (r"if \((?=\w[\w.>\[\]-]*(?:\([^()]*\))?\))", "if (!"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"return 0;", "return 1;"), (r"\b1\b", "2"), (r"\bcontinue;", "break;"), (r"return -E[A-Z]+;", "return 0;"))]

Mutant = collections.namedtuple("Mutant", "name path number before after")


def code_of(text):
    """The lines, with comments, strings and what is for the preprocessor replaced by spaces."""
    blank = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#(?:[^\n]*\\\n)*[^\n]*',
                       re.DOTALL | re.MULTILINE)
    return blank.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text).split("\n")


def mutants_of(tree, path):
    text = path.read_text(encoding="utf-8")
    seen = collections.Counter()
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text)), 1):
        for pattern, replacement in OPERATORS:
            for place in pattern.finditer(code):
                after = line[:place.start()] + replacement + line[place.end():]
                name = f"{path.name}: {line.strip()} -> {after.strip()}"
                seen[name] += 1
                yield Mutant(f"{name} #{seen[name]}", str(path.relative_to(tree)), number, line, after)


def in_order(tree):
    every = [mutant for part in PARTS for path in sorted(tree.joinpath(part).rglob("*.c"))
             for mutant in mutants_of(tree, path)]
    return sorted(every, key=lambda mutant: hashlib.sha256(f"{SEED} {mutant.name}".encode()).digest())


class Workshop:
    """A clone of the tree, in which one file at a time is wrong."""

    def __init__(self, tree, commit):
        self.tree, self.build = tree, tree / "build"
        if not tree.exists():
            self.call("git", "clone", "-q", "--shared", ".", str(tree))
            self.call("git", "-C", str(tree), "checkout", "-q", "--detach", commit)
        if not (self.build / "build.ninja").exists():
            self.call("meson", "setup", str(self.build), str(tree))
        self.call("git", "-C", str(tree), "checkout", "-q", ".")
        self.make()
        self.right = self.programs()

    @staticmethod
    def call(*command):
        return subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def make(self):
        return subprocess.run(["ninja", "-C", self.build], check=False, stdout=subprocess.DEVNULL).returncode == 0

    def programs(self):
        """A hash of the code of what is tested, without what names lines."""
        total = hashlib.sha256()
        for path in (*self.build.glob("daemon/*.a"), *self.build.glob("client/*.a"), *self.build.glob("pmda/*.a"),
                     self.build / "client/uncore", self.build / "daemon/uncored"):
            done = subprocess.run(["objdump", "-d", "-s", "-j", ".text", "-j", ".rodata", "-j", ".data", path],
                                  check=False, capture_output=True)
            total.update(done.stdout)
        return total.digest()

    def make_mutant(self, mutant):
        """False: it does not build, or is the same program."""
        path = self.tree / mutant.path
        lines = path.read_text(encoding="utf-8").split("\n")
        lines[mutant.number - 1] = mutant.after
        path.write_text("\n".join(lines), encoding="utf-8")
        return self.make() and self.programs() != self.right

    def repair(self, mutant):
        self.call("git", "-C", str(self.tree), "checkout", "-q", mutant.path)

    def test(self, *which):
        """Many tests wait for time limits: more of them run at once than there are CPUs."""
        command = ["meson", "test", "-C", self.build, "--no-rebuild", "--timeout-multiplier", "5",
                   "--num-processes", str(3 * os.cpu_count()), *which]
        return subprocess.run(command, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL).returncode == 0

    def failed_tests(self):
        log = self.build / "meson-logs/testlog.json"
        tests = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        return [test["name"].rpartition(" / ")[2] for test in tests
                if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")]

    def killer(self, suite):
        """The test of a suite that fails twice, or None."""
        if self.test("--suite", suite, "--maxfail", "1"):
            return None
        return next((name for name in self.failed_tests() if not self.test(name)), None)


class Results:
    def __init__(self, path):
        self.path, self.by_name = path, {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self.add(json.loads(line))

    def add(self, result):
        self.by_name[result["name"]] = result

    def save(self, result):
        self.add(result)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


def try_one(workshop, mutant, result, suites):
    """Runs the suites that the mutant has not survived yet."""
    try:
        if not workshop.make_mutant(mutant):
            return {**result, "builds": False}
        for suite in suites:
            if suite in result["survived"]:
                continue
            killer = workshop.killer(suite)
            if killer:
                return {**result, "killed": f"{suite}: {killer}"}
            result["survived"].append(suite)
        return result
    finally:
        workshop.repair(mutant)


def show(results):
    real = [result for result in results.by_name.values() if result["builds"]]
    for result in real:
        end = result["killed"] or f"survived {' '.join(result['survived'])}"
        print(f"{result['path']}:{result['number']}: {result['change']}\n    {end}")
    killed = [result for result in real if result["killed"]]
    print(f"{len(killed)} of {len(real)} mutants were killed")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=40, help="of mutants, 40 unless told")
    parser.add_argument("--commit", default="HEAD", help="whose product and tests")
    parser.add_argument("--show", action="store_true", help="only print what is known")
    parser.add_argument("dir", metavar="DIR", type=pathlib.Path, help="of the clone: build-mutants, for instance")
    parser.add_argument("suites", metavar="SUITE", nargs="*", default=QUICK, help=f"{' '.join(QUICK)} unless told")
    return parser.parse_args()


def main():
    given = arguments()
    results = Results(given.dir.with_suffix(".json"))
    if given.show:
        return show(results)
    workshop, n = Workshop(given.dir.resolve(), given.commit), 0
    for mutant in in_order(workshop.tree):
        result = results.by_name.get(mutant.name, {
            "name": mutant.name, "path": mutant.path, "number": mutant.number,
            "change": mutant.name.partition(": ")[2], "builds": True, "killed": "", "survived": []})
        if result["builds"] and not result["killed"] and not set(given.suites) <= set(result["survived"]):
            result = try_one(workshop, mutant, result, given.suites)
            results.save(result)
        n += result["builds"]
        if n == given.number:
            break
    return show(results)


if __name__ == "__main__":
    sys.exit(main())
