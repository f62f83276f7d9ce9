# SPDX-License-Identifier: BSD-3-Clause
"""The client built with another C library, musl, of headers of musl and the kernel alone. Prints TAP."""
import pathlib
import shutil
import tempfile

import builds
import tap
from builds import CLIENT_ONLY, STATIC, Build, must_run, needed, run


class Suite:
    """Its cases share a build."""

    def __init__(self, folder):
        self.build = Build(folder / "musl", *CLIENT_ONLY, "-Ddefault_library=both", "-Dwerror=true",
                           environment=builds.musl_environment(folder))

    def library(self):
        """With musl the library builds, and needs nothing else"""
        self.build.compile()
        tap.equal(needed(self.build.folder / "client/libuncore.so"), {"libc.so"}, "libraries")

    def static_command(self):
        """With musl a static command builds, and runs"""
        run("meson", "configure", self.build.folder, *STATIC, env=self.build.environment)
        self.build.compile()
        tap.equal(needed(self.build.folder / "client/uncore"), set(), "libraries that the command needs")
        must_run(self.build.folder / "client/uncore")


def main():
    if not shutil.which("musl-gcc"):
        tap.skip_all("musl-gcc is not installed: ./dev setup --tests")
    builds.become_nobody()
    with tempfile.TemporaryDirectory(prefix="uncored-musl-") as name:
        suite = Suite(pathlib.Path(name))
        tap.run_functions([(case.__doc__, case) for case in (suite.library, suite.static_command)])


main()
