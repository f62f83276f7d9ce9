# SPDX-License-Identifier: BSD-3-Clause
"""The reports in doc/upstream/ are listed, and their reproducers do not rot: `./dev upstream` has an answer for each.
This tree does not decide which answer: a defect may be repaired, and what shows it may be missing here."""
import re
import subprocess

import tap
from fences import SOURCE, UPSTREAM, fences_of

FOLDER = SOURCE / "doc/upstream"
ANSWERS = r"^(Fails as described\.|Does not fail as described\.|Cannot run: .*)$"


def dev_upstream(*arguments):
    return subprocess.run([SOURCE / "dev", "upstream", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=150, check=False)


REPORTS = dev_upstream("--list").stdout.split()


def are_listed():
    """README.md of the folder has a row for each report, with its reproducer, and no others"""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\]\(([\w-]+)\.md\) \| [^|]+ \| `([\w-]+)\.(?:sh|c)`", text)
    tap.equal(sorted(rows), [(report, report) for report in sorted(REPORTS)], "rows")
    tap.check(len(REPORTS) > 5, f"only {REPORTS} are reports")


def have_one_block():
    """Each report has one block of commands, which runs its reproducer"""
    for report in REPORTS:
        block, = (fence for fence in fences_of(f"doc/upstream/{report}.md") if fence.mark == UPSTREAM)
        tap.check(f"./{report}" in block.text, f"{block.title} does not run {report}")


def has_an_answer(report):
    done = dev_upstream(report)
    for line in done.stdout.splitlines():
        print("#", line)
    tap.equal(len(re.findall(ANSWERS, done.stdout, re.MULTILINE)), 1, "answers")
    repaired = "Does not fail" in done.stdout
    tap.equal(done.returncode, int(repaired), "status")


tap.run_functions([
    *((case.__doc__, case) for case in (are_listed, have_one_block)),
    *((f"{report}: it fails, it does not, or something is missing", lambda report=report: has_an_answer(report))
      for report in REPORTS)])
