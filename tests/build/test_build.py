# SPDX-License-Identifier: BSD-3-Clause
"""What packagers and users build: from a tarball, the client alone, into any prefix. test_kinds.py has other kinds."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import builds
import tap
from builds import CLIENT_ONLY, SOURCE, Build, must_run, needed, outcome, run


class Suite:
    """Its cases share a folder, and builds that several look at."""

    def __init__(self, folder):
        self.folder = folder
        self.alone = builds.tools_alone(folder)
        self.source = SOURCE  # until there is a tarball

    def tarball(self):
        """The tarball of a release is the same each time, and has every file and the man pages"""
        if not (SOURCE / ".git").exists() or not shutil.which("scdoc"):
            raise tap.Skip("needs git's repository and scdoc")
        trusting = os.environ | {
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        folder, contents = Build(self.folder / "dist", *CLIENT_ONLY).folder, []
        for _ in range(2):
            run("meson", "dist", "-C", folder, "--no-tests", "--allow-dirty", "--formats", "gztar", env=trusting)
            [tarball] = (folder / "meson-dist").glob("*.tar.gz")
            with gzip.open(tarball) as file:  # gzip keeps the time
                contents.append(file.read())
        tap.check(contents[0] == contents[1], "two tarballs of one commit differ")
        run("tar", "-xf", tarball, "-C", self.folder)
        self.source = self.folder / tarball.name.removesuffix(".tar.gz")
        names = run("git", "-C", SOURCE, "ls-tree", "-r", "--name-only", "HEAD", env=trusting).splitlines()
        tap.equal([name for name in names if not os.path.lexists(self.source / name)], [], "files that the tarball lacks")
        tap.equal({path.name for path in (self.source / "man/ready").iterdir()},
                  {path.stem for path in SOURCE.glob("man/*.scd")}, "ready pages")

    def client_only(self):
        """The client builds where there is a C compiler and meson and nothing else. Unoptimised, in a third of the time"""
        self.client = Build(self.folder / "client", *CLIENT_ONLY, "-Ddefault_library=both", "-Dwerror=true", "-Doptimization=0",
                            source=self.source, environment=self.alone).compile()
        for name in ("libuncore.so", "uncore"):
            others = {library for library in needed(self.client.folder / "client" / name)
                      if not library.startswith(("libc.", "libm.", "ld-linux", "ld64", "libuncore."))}
            tap.equal(others, set(), f"what {name} needs beside libuncore and the C library")
        must_run(self.client.folder / "client/uncore")

    def left_out(self):
        """The command that needs hwloc is not in --help of a build without; it and --http say why when they are called"""
        command = self.client.folder / "client/uncore"
        said = outcome(command, "--help")[1]
        offered = [line.split()[0] for line in said.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
        tap.equal(offered, ["stat", "top", "list", "compare", "check", "run", "info", "report", "tiers", "trace", "export",
                            "job", "owner", "help", "version"], "commands in --help")
        tap.equal(outcome(command, "validate", "--help"),
                  (2, "", "uncore: this build does not have `uncore validate`, which needs hwloc. Use the uncore of the "
                          "node, or build it with hwloc.\n"), "uncore validate")
        tap.equal(outcome(command, "export", "--http"),
                  (2, "", "uncore export: this build does not have --http, which needs GNU libmicrohttpd. Use the uncore "
                          "of the node, or build it with libmicrohttpd.\n"), "uncore export --http")

    def user_install(self):
        """A user without privilege installs the client into a prefix of his own, as doc/install.md says"""
        said = f'meson setup build-client {" ".join(CLIENT_ONLY)} --prefix="$HOME/uncored"\n' \
               "meson install -C build-client\n"
        tap.check(f"```sh run by suite build\n{said}```" in (SOURCE / "doc/install.md").read_text(encoding="utf-8"), said)
        files = self.client.install()
        pages = [file for file in files if file.startswith("share/man/")]
        tap.check(self.source == SOURCE or {"share/man/man1/uncore.1", "share/man/man3/libuncore.3"} <= set(pages), f"{pages}")
        libdir = self.client.option("libdir")
        python = [name for name in files if re.fullmatch(r"lib/python3[./].*-packages/uncore/(\w+\.py|py\.typed)", name)]
        tap.equal(len(python), len([*(self.source / "client/python/uncore").iterdir()]), "files of Python's module")
        tap.equal(sorted(set(files) - set(pages)), sorted([
            "bin/uncore", "include/uncore.h", "include/uncore.hpp", f"{libdir}/cmake/uncore/uncore-config-version.cmake",
            f"{libdir}/cmake/uncore/uncore-config.cmake", *python, "share/libuncore/uncore.f90", f"{libdir}/libuncore.a",
            f"{libdir}/libuncore.so", f"{libdir}/libuncore.so.0", f"{libdir}/libuncore.so.0.1.0", f"{libdir}/pkgconfig/libuncore.pc",
            *(f"{libdir}/uncore/libuncore-{family.name}.so" for family in (SOURCE / "client/markers").iterdir()
              if family.is_dir() and family.name != "base"), f"{libdir}/uncore/libuncore-heap.so",
            f"{libdir}/uncore/libuncore_async_plugin.so", f"{libdir}/uncore/libuncore_plugin.so",
            "share/bash-completion/completions/uncore", "share/fish/vendor_completions.d/uncore.fish",
            "share/zsh/site-functions/_uncore"]), "files")

    def starts(self):
        """The installed command starts without any environment, also after its prefix was moved"""
        moved = self.client.prefix.with_name("moved") / "elsewhere"
        for prefix in (self.client.prefix, moved):
            done = subprocess.run([prefix / "bin/uncore", "--version"], env={}, check=False, text=True,
                                  capture_output=True)
            tap.equal((done.returncode, done.stderr), (0, ""), f"{prefix}: status and stderr")
            if prefix != moved:
                moved.parent.mkdir()
                prefix.rename(moved)
        moved.rename(self.client.prefix)

    def run_path(self):
        """A file has a run path only where ld.so does not look into libdir by itself"""
        for bindir, libdir, path in (("/usr/local/bin", "/usr/local/lib", ""), ("/opt/a/bin", "/opt/a/lib", "$ORIGIN/../lib"),
                                     ("/opt/a/bin", "/opt/b/lib64", "$ORIGIN/../../b/lib64")):
            tap.equal(run(SOURCE / "client/libuncore/rpath.sh", bindir, libdir).strip(), path, f"from {bindir} to {libdir}")

    def static_library(self):
        """A program that has functions of the same names links the static library, as pkg-config says"""
        flags = run("pkg-config", "--static", "--cflags", "--libs", "libuncore", env=self.alone | {
            "PATH": os.environ["PATH"],
            "PKG_CONFIG_PATH": str(self.client.prefix / self.client.option("libdir") / "pkgconfig")}).split()
        builds.link_same_names(self.folder, *flags)

    def in_prefix(self):
        """Nothing of the whole product goes outside a prefix, unless an option asks for it"""
        prefix = self.folder / "prefix"
        build = Build(self.folder / "whole", "-Dtests=disabled", f"--prefix={prefix}")
        files = build.destinations()
        outside = [file for file in files if not file.startswith(f"{prefix}/")]
        tap.equal(outside, [], "files outside")
        for name in ("lib/systemd/system/uncored.socket", "lib/sysusers.d/uncored.conf", "sbin/uncored"):
            tap.check(f"{prefix}/{name}" in files, f"{name} is not among {files}")



def main():
    builds.become_nobody()
    with tempfile.TemporaryDirectory(prefix="uncored-build-") as name:
        suite = Suite(pathlib.Path(name))
        cases = (suite.tarball, suite.client_only, suite.left_out, suite.user_install, suite.starts, suite.run_path,
                 suite.static_library, suite.in_prefix)
        tap.run_functions([(case.__doc__, case) for case in cases])


main()
