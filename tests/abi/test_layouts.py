# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were linked with a released libuncore run with this one; with --long: the test sees it when they would not.
Before the first release there are no such programs, and this tree stands for it."""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import abi
import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
RELEASES = sorted((SOURCE / "tests/abi").glob("libuncore-*.abi"))
TARGETS = ("common", *(f"uncore-{room}" for room in ("library", "region", "collect", "report", "launcher", "reader")))
# The sources assert sizes themselves, which would end the compilation before abidiff had its say.
COMPILE = ("cc", "-g", "-w", "-std=gnu11", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", "-D_Static_assert(...)=",
           '-DUNCORE_VERSION="planted"', "-shared", "-Wl,-soname,libuncore.so.0", "-pthread")


def sources():
    """Of the library, below the root of the tree."""
    targets = json.loads(subprocess.check_output(["meson", "introspect", "--targets", BUILD]))
    return [pathlib.Path(path).relative_to(SOURCE) for target in targets
            if target["name"] in TARGETS and target["type"] == "static library"
            for part in target["target_sources"] for path in part["sources"]]


HEADER, SYMBOLS = "client/libuncore/uncore.h", "client/libuncore/libuncore.sym"
GROWTH = (HEADER, r"^(\tconst char \*event;)", r"\tconst char *event, *planted;")
# Each is in a struct of its own, or in none: one library has all of them, and each is told from the others.
REMOVED = (SYMBOLS, r"^\tuncore_quality_words;\n", "")
MOVED = (HEADER, r"^(\tuint64_t window_ns;)", r"\tuint64_t planted;\n\1")
SHRUNK = (HEADER, r"^\tuint64_t min_interval_ns;", r"\tuint32_t min_interval_ns, planted;")
SHORTER = (HEADER, r"^\tuint64_t raised\[UNCORE_PASSING_MAX\];", r"\tuint64_t raised[1];")
GROWN = (HEADER, r"^(struct uncore_channel_value \{(?:\n\t.*){3})", r"\1\n\tuint64_t planted;")


@functools.cache
def misses_when(*changes):
    """What programs of this tree miss in a library of which these places were changed."""
    with tempfile.TemporaryDirectory(prefix="uncored-abi-") as name:
        copy = pathlib.Path(name)
        for part in ("client", "common"):
            shutil.copytree(SOURCE / part, copy / part)
        for file, pattern, replacement in changes:
            text, n = re.subn(pattern, replacement, (copy / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
            tap.equal(n, 1, f"places in {file} that match {pattern}")
            (copy / file).write_text(text, encoding="utf-8")
        subprocess.run([*COMPILE, "-I.", f"-Wl,--version-script={SYMBOLS}", "-o", "libuncore.so", *sources(), "-lm"],
                       cwd=copy, check=True)
        return abi.misses(copy / "libuncore.so", copy / HEADER, HERE)


def must_be_seen(*words):
    said = misses_when(REMOVED, MOVED, SHRUNK, SHORTER, GROWN)
    for word in words:
        tap.check(word in said, f"'{word}' is not in what was found: {said}")


def serves():
    """Programs of every release find their functions and their structs"""
    for release in RELEASES:
        missing = abi.misses(BUILD / "client/libuncore.so", SOURCE / HEADER, release)
        tap.check(not missing, f"{release.name}:\n{missing}")


def growth():
    """A struct that begins with its size may grow at its end, and a function be added"""
    tap.equal(misses_when(GROWTH), "", "what programs miss")


def removed():
    """A function that was removed is seen"""
    must_be_seen("1 Removed", "uncore_quality_words")


def moved():
    """A member at another offset is seen"""
    must_be_seen("'uint64_t window_ns' offset changed")


def shrunk():
    """A member that became smaller is seen, also where another takes its place"""
    must_be_seen("type of 'uint64_t min_interval_ns' changed")


def shorter():
    """A struct that became smaller is seen"""
    must_be_seen("struct uncore_value", "type size changed from 384 to 192")


def grown():
    """A struct that does not begin with its size, and grew, is seen"""
    must_be_seen("struct uncore_channel_value", "type size changed from 128 to 192")


with tempfile.NamedTemporaryFile(suffix=".abi") as scratch:
    HERE = scratch.name
    try:
        abi.describe(BUILD / "client/libuncore.so", SOURCE / HEADER, HERE)
    except abi.CannotTell as why:
        tap.skip_all(why)
    tap.run_functions([(body.__doc__, body) for body in tap.of_suite(
        (serves,), long=(growth, removed, moved, shrunk, shorter, grown))])
