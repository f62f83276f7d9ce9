# SPDX-License-Identifier: BSD-3-Clause
"""The programs and commands of doc/languages.md and of the man pages of languages, as their readers type them: in a folder
with all programs of the guide, with the product in a prefix."""
import re
import shlex

import fences
import tap
from languages import SOURCE, installed, simulated, user_of_prefix

GUIDE = "doc/languages.md"
# suite: man page; how its programs begin; how one is run
MAN_PAGES = {
    "python": ("uncore-python.3", "import ", "python3 example.py"),
    "cplusplus": ("uncore.hpp.3", "#include ",
                  "g++ -std=c++17 example.cpp $(pkg-config --cflags --libs libuncore) -o example && ./example"),
    "fortran": ("uncore-fortran.3", "program ",
                "gfortran $(pkg-config --variable=fortran_source libuncore) example.f90 "
                "$(pkg-config --libs libuncore) -o example && ./example"),
}
SUFFIXES = {"python": "py", "cplusplus": "cpp", "fortran": "f90"}


def write_files(folder):
    """The programs of the guide, whose names are behind the backticks."""
    for fence in fences.fences_of(GUIDE):
        if fence.language != "sh" and fence.mark:
            (folder / fence.mark).write_text(fence.text, encoding="utf-8")


def run_commands(commands):
    prefix = installed()
    python = next(prefix.rglob("uncore/__init__.py")).parents[1]
    with simulated() as machine:
        write_files(machine.folder)
        done = machine.run("bash", "-euo", "pipefail", "-c", commands, **user_of_prefix(), PYTHONPATH=str(python),
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1")
    for line in (done.stdout + done.stderr).splitlines():
        print("#", line)


def of_man_page(suite):
    name, begin, command = MAN_PAGES[suite]
    text = (SOURCE / f"man/{name}.scd").read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block.startswith(begin) and block.count("\n") > 5:
            program = block.replace("\\\\", "\\")
            yield f"cat >example.{SUFFIXES[suite]} <<'END'\n{program}END\n{command}"


def cases(suite):
    """A case for each block of commands that this suite runs, and for each program of its man page."""
    found = [(f"{GUIDE}:{fence.line}: {shlex.quote(fence.text.splitlines()[0])}", fence.text)
             for fence in fences.fences_of(GUIDE) if fence.mark == f"{fences.ELSEWHERE}{suite}"]
    own = [(f"{MAN_PAGES[suite][0]}: program {i}", text) for i, text in enumerate(of_man_page(suite), 1)]
    tap.check(found and own, f"{GUIDE} or {MAN_PAGES[suite][0]} has nothing for suite {suite}")
    return [(title, lambda commands=commands: run_commands(commands)) for title, commands in found + own]
