# SPDX-License-Identifier: BSD-3-Clause
"""pmda/metric-numbers: lines are only ever appended, and every metric of a platform file has a name in PCP.

Run in the root of the tree. Where it is a clone with a history, each earlier version of the file must be the beginning of
the present one.
"""
import pathlib
import re
import subprocess
import sys

FILE = "pmda/metric-numbers"
FIRST_OF_SITES = 512  # PAGE_PMID_FIRST
ROW = re.compile(r'^\{ ([07]), (\d+), "([a-z0-9.]+)", "(bytes|ns|nJ|count)" \},$', re.MULTILINE)


def text_of(path):
    return pathlib.Path(path).read_text(encoding="ascii")


def git(*arguments):
    done = subprocess.run(["git", "-c", "safe.directory=*", *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def units_of(platform):
    """{metric: unit} of a platform file, without its further terms."""
    parts = re.split(r"^\[(.*)\]$", platform, flags=re.MULTILINE)[1:]
    for name, text in zip(parts[::2], parts[1::2]):
        if name != "platform" and "/" not in name:
            unit = re.search(r"^unit = (\w+)$", text, re.MULTILINE)
            yield name, unit[1] if unit else "bytes"


def complaints():
    rows = ROW.findall(text_of(FILE))
    names = [name for _, _, name, _ in rows]
    if text_of(FILE).count("\n{") != len(rows):
        yield f"{FILE} has a line that is not like {{ 7, 0, \"clock\", \"ns\" }},"
    for cluster in "07":
        numbers = [int(number) for of, number, _, _ in rows if of == cluster]
        if numbers != list(range(len(numbers))) or not 0 < len(numbers) <= FIRST_OF_SITES:
            yield f"{FILE}: numbers of cluster {cluster} must be 0, 1, 2 and so on, below {FIRST_OF_SITES}."
    if len(set(names)) != len(names):
        yield f"{FILE} has a name twice."
    for commit in git("log", "--format=%H", "--", FILE).split():
        former = ROW.findall(git("show", f"{commit}:{FILE}"))
        if rows[:len(former)] != former:
            yield f"{FILE} is not an addition to what it was in commit {commit}: archives know a metric by its number."
    known = {name: unit for _, _, name, unit in rows}
    for path in sorted(pathlib.Path("conf/platforms").glob("*.conf")):
        for name, unit in units_of(path.read_text(encoding="utf-8")):
            if known.get(name) != unit:
                yield f"{path} has {name} in {unit}, but {FILE} does not: append it."


def main():
    found = list(complaints())
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
