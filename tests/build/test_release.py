# SPDX-License-Identifier: BSD-3-Clause
"""What ./dev release refuses, before it builds anything."""
import pathlib
import re
import shutil
import subprocess
import tempfile

import builds
import tap
from builds import SOURCE

GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@localhost")


class Tree:
    """Of git, with what ./dev release looks at first."""

    def __init__(self, folder):
        self.folder = folder
        for part in ("tests/dev", "tests/papi"):  # ./dev reads the second for another command
            shutil.copytree(SOURCE / part, folder / part)
        for name in ("dev", "meson.build"):
            shutil.copy(SOURCE / name, folder)
        self.version = re.search(r"^  version: '(.*)',$", (folder / "meson.build").read_text(encoding="utf-8"), re.M)[1]
        (folder / "debian").mkdir()
        self.write("CHANGELOG.md", f"## {self.version} - 2026-01-01\n")
        self.write("debian/changelog", f"uncored ({self.version}-1) unstable; urgency=medium\n")
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def git(self, *words):
        builds.run(*GIT, *words, cwd=self.folder)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "test")

    def must_refuse(self, *words):
        done = subprocess.run(["./dev", "release"], cwd=self.folder, capture_output=True, text=True, check=False)
        tap.equal(done.returncode, 1, f"status, after {done.stderr}")
        for word in words:
            tap.check(word in done.stderr, f"'{word}' is not in {done.stderr}")


def with_tree(case):
    def body():
        with tempfile.TemporaryDirectory(prefix="uncored-release-") as name:
            case(Tree(pathlib.Path(name)))
    return case.__doc__, body


def dirty(tree):
    """A tree with changes that are not committed is not released"""
    tree.write("planted", "")
    tree.must_refuse("is made of what is committed", "?? planted")


def unknown(tree):
    """A version that CHANGELOG.md does not know is not released"""
    tree.write("CHANGELOG.md", "## Unreleased\n")
    tree.commit()
    tree.must_refuse(f"CHANGELOG.md has no section '## {tree.version} - DATE'")


def unpackaged(tree):
    """A version that debian/changelog does not begin with is not released"""
    tree.write("debian/changelog", "uncored (0.0.1-2) unstable; urgency=medium\n")
    tree.commit()
    tree.must_refuse("debian/changelog begins with version '0.0.1'", f"an entry for {tree.version}")


def tagged(tree):
    """A version whose tag is another commit is not released"""
    tree.git("tag", f"v{tree.version}")
    tree.write("planted", "")
    tree.commit()
    tree.must_refuse(f"The tag v{tree.version} is another commit")


builds.become_nobody()
if not shutil.which("git"):
    tap.skip_all("needs git")
tap.run_functions([with_tree(case) for case in (dirty, unknown, unpackaged, tagged)])
