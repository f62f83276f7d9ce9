# SPDX-License-Identifier: BSD-3-Clause
"""The literal blocks ("fences") of the guides, and what stands behind their three backticks; manual.py has the man pages'.


    sh                        commands, which test_commands.py runs
    sh not run: REASON        commands that it cannot run; HACKING.md has a line for each
    sh run by suite NAME      commands that another suite runs
    sh run by ./dev upstream  commands of a report in doc/upstream/
    ini                       what uncored.conf has while the next commands run
    c                         what fill.c has while the next commands run
    python FILE, cpp FILE ..  a program that commands of a suite of tests/languages run
    text, yaml, conf, diff    no commands
"""
import dataclasses
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
GUIDES = ("README.md", *sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / "doc").rglob("*.md")))
NOT_RUN, ELSEWHERE, UPSTREAM = "not run: ", "run by suite ", "run by ./dev upstream"
PROGRAMS = ("cmake", "cpp", "fortran", "python", "rust")
LANGUAGES = (*PROGRAMS, "sh", "ini", "c", "text", "yaml", "conf", "diff")


@dataclasses.dataclass(frozen=True)
class Fence:
    page: str
    line: int
    language: str
    mark: str  # what follows the language
    text: str

    @property
    def title(self):
        return f"{self.page}:{self.line}: {self.text.splitlines()[0].strip()}"


def fences_of(page):
    text = (SOURCE / page).read_text(encoding="utf-8")
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        language, _, mark = match[1].partition(" ")
        yield Fence(page, text.count("\n", 0, match.start()) + 1, language, mark, match[2])


def all_fences():
    return [fence for page in GUIDES for fence in fences_of(page)]
