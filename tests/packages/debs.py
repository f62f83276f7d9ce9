# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages of a clean copy of the tree, for the cases of one program."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
SECONDS = 900


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    tap.equal(done.returncode, 0, f"{words}: {done.stdout[-4000:]}status")
    return done.stdout


def build(folder, umask=0o022, **environment):
    """Without the unit tests that belong to a build: ./dev test runs them, too."""
    options = {"DEB_BUILD_OPTIONS": f"nocheck parallel={os.cpu_count()}"}
    run(SOURCE / "tests/packages/build-debs", folder, umask=umask, env={**os.environ, **options, **environment})


class Built(unittest.TestCase):
    """The packages are built once for all cases."""

    @classmethod
    def setUpClass(cls):
        if not hasattr(Built, "folder"):
            Built.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-debs-"))
            build(Built.folder)

    def deb(self, package):
        return next(self.folder.glob(f"{package}_*.deb"))

    @classmethod
    def remove(cls):
        """At the end of the program."""
        if hasattr(Built, "folder"):
            shutil.rmtree(Built.folder)
