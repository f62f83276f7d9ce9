# SPDX-License-Identifier: BSD-3-Clause
"""Builds the newest release of this repository from its tag, and runs test-releases.c with it and with this tree.

    test_compat.py PROGRAM    the program of test-releases.c

Before the first release there is nothing to keep faith with, which is not a skip: nothing is left untested.
"""
import os
import pathlib
import subprocess
import sys

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
# As the harness looks for them: the programs and the library side by side, and conf/platforms.
PARTS = {"uncored": "built/daemon/uncored", "uncore": "built/client/uncore", "libuncore.so.0": "built/client/libuncore.so.0"}


def git(*words, **options):
    """Also in a tree of another user, since this runs as root."""
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", SOURCE, *words], check=True, stdout=subprocess.PIPE,
                          **options).stdout


def newest_tag():
    """'' if there is none."""
    tags = git("tag", "--list", "v[0-9]*", "--sort=-version:refname", "--merged", "HEAD", text=True).split()
    return tags[0] if tags else ""


def build(folder, tag):
    """Once for each commit: a tag may have moved."""
    commit, stamp = git("rev-parse", f"{tag}^{{commit}}", text=True).strip(), folder / "commit"
    if stamp.exists() and stamp.read_text(encoding="ascii") == commit:
        return
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", folder], input=git("archive", commit), check=True)
    said = {"stdout": sys.stderr, "check": True}
    subprocess.run(["meson", "setup", folder / "built", folder, "-Dtests=disabled"], **said)
    subprocess.run(["ninja", "-C", folder / "built", "daemon/uncored", "client/uncore"], **said)
    for name, part in PARTS.items():
        (folder / name).symlink_to(part)
    stamp.write_text(commit, encoding="ascii")


def main(program):
    if not (SOURCE / ".git").exists():
        tap.skip_all("this is a tree without history, in which no tag says what was released")
    tag = newest_tag()
    if not tag:
        print("1..1\nok 1 - no release yet: there is no tag v* to compare with")
        return
    name = f"tests/compat/{tag}"
    build(BUILD / name, tag)
    os.execve(program, [program], {**os.environ, "UNCORE_TEST_RELEASE": name})


main(sys.argv[1])
