# SPDX-License-Identifier: BSD-3-Clause
"""Images of containers, made of what this machine has: folders, which bubblewrap and Charliecloud run, and of which
podman makes images of its own."""
import os
import pathlib
import re
import shutil

import builds
import hosts
import tap
from builds import CLIENT_ONLY

# Where runtimes mount something of their own.
MOUNT_POINTS = ("dev", "etc", "home", "proc", "run", "sys", "tmp", "usr", "bin", "out")
SOCKET = "/socket"  # of a container that has it at a place of its own
MOUNTED_FILES = ("etc/group", "etc/hosts", "etc/passwd", "etc/resolv.conf", SOCKET.lstrip("/"))
MACHINE = os.uname().machine
LOADER = f"/lib/ld-musl-{MACHINE}.so.1"
LIBRARIES = f"lib/{MACHINE}-linux-gnu"
DEBIAN, MUSL, STATIC_ONLY = "debian", "musl", "static"
NAMES = (DEBIAN, MUSL, STATIC_ONLY)
STATIC = "/static/uncore"  # in Debian's image, beside its own


class Images:
    """path(NAME) is an image's folder. All have `uncore`, linked so or so, and a static touch-pages."""

    def __init__(self, folder):
        self.folder = folder
        environment = builds.musl_environment(folder)
        client = builds.Build(folder / "client", *CLIENT_ONLY, "-Dman=disabled", "-Doptimization=0",
                              environment=environment).compile().folder / "client"
        for name in NAMES:
            self.make(name)
        self.add(MUSL, "bin", client / "uncore")
        self.add(MUSL, "lib", client / "libuncore.so.0", LOADER)
        builds.run("meson", "configure", client.parent, *builds.STATIC, env=environment)
        builds.run("ninja", "-C", client.parent, env=environment)
        self.add(STATIC_ONLY, "bin", client / "uncore")
        self.add(DEBIAN, "static", client / "uncore")
        self.add_touch_pages(environment)
        self.fill_debian()

    def path(self, name):
        return self.folder / f"image-{name}"

    def make(self, name):
        for folder in MOUNT_POINTS:
            (self.path(name) / folder).mkdir(parents=True)
        (self.path(name) / "run/uncored").mkdir()
        for file in MOUNTED_FILES:
            (self.path(name) / file).touch()

    def add(self, name, folder, *files):
        for file in map(pathlib.Path, files):
            target = self.path(name) / folder
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / file.name)

    def add_touch_pages(self, environment):
        program = self.folder / "touch-pages"
        builds.run("musl-gcc", "-static", "-D_GNU_SOURCE", f"-I{hosts.SOURCE}", *environment["CFLAGS"].split(),
                   hosts.SOURCE / "tests/workload/touch-pages.c", "-o", program)
        for name in NAMES:
            self.add(name, "bin", program)

    def fill_debian(self):
        """As installed, with the libraries of this machine; a rank of a job, a shell, and uncored."""
        programs = [hosts.UNCORE, hosts.PREFIX / "sbin/uncored", hosts.BUILD / "tests/ranks/member", "/bin/sh"]
        self.add(DEBIAN, "bin", *programs)
        for program in programs:
            for library in re.findall(r"(?:=> |^\t)(/\S+)", builds.run("ldd", program), re.MULTILINE):
                self.add(DEBIAN, os.path.dirname(library)[1:] if "/ld-linux" in library else LIBRARIES, library)
        shutil.copytree(hosts.PREFIX / "share/uncored", f"{self.path(DEBIAN)}{hosts.PREFIX}/share/uncored")
        app = self.path(DEBIAN) / "bin/app"
        app.write_text("#!/bin/sh\nexec member begin solve touch 2000 end solve\n", encoding="ascii")
        app.chmod(0o755)

    def are_foreign(self):
        """Does no image have a C library of another's?"""
        tap.equal(builds.needed(self.path(STATIC_ONLY) / "bin/uncore"), set(), "libraries of the static command")
        tap.equal(builds.needed(self.path(MUSL) / "bin/uncore"), {"libc.so"}, "libraries with musl")
        tap.equal(list(self.path(MUSL).rglob("libc.so.6")), [], "glibc in the image of musl")
