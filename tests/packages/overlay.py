# SPDX-License-Identifier: BSD-3-Clause
"""A machine to install packages on: this one's files, in an overlay in memory, in namespaces that end with the program.
What is installed there goes with it. No systemd runs there; a recorder takes what packages ask of it."""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import tap

INSIDE = "UNCORE_TEST_OVERLAY"
SECONDS = 300
SYSTEMD = ("/usr/bin/systemctl", "/usr/bin/deb-systemd-invoke")
ASKED = "/run/asked"


def enter():
    """Starts this program again in new namespaces, if it is not in them yet. Without root it goes on without."""
    if os.geteuid() == 0 and INSIDE not in os.environ:
        os.environ[INSIDE] = "yes"
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                              sys.executable, "-B", sys.argv[0]])


def mount(*words):
    done = subprocess.run(["mount", *map(str, words)], check=False, timeout=SECONDS, capture_output=True, text=True)
    if done.returncode != 0:
        raise tap.Skip(f"mount {shlex.join(map(str, words))}: {done.stderr.strip()}")


class Machine:
    """Files that packages wrote are in `upper`.

    layers: folders, the topmost first. is_node: what boots an image: / is read-only, /var is empty.
    """

    def __init__(self, *layers, is_node=False):
        if INSIDE not in os.environ:
            raise tap.Skip("needs root")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-packages-"))
        mount("-t", "tmpfs", "tmpfs", self.folder)
        self.root, self.upper = self.folder / "root", self.folder / "upper"
        for folder in (self.root, self.upper, self.folder / "work"):
            folder.mkdir()
        lower = "lowerdir=" + ":".join(map(str, layers or ["/"]))
        mount("-t", "overlay", "overlay", "-o",
              lower if is_node else f"{lower},upperdir={self.upper},workdir={self.folder}/work", self.root)
        mount("-t", "proc", "proc", self.root / "proc")
        for name in ("dev", "sys"):
            mount("--rbind", f"/{name}", self.root / name)
        for name, mode in (("run", "755"), ("tmp", "1777"), *([("var", "755")] if is_node else [])):
            mount("-t", "tmpfs", "-o", f"mode={mode}", "tmpfs", self.root / name)

    def path(self, name):
        return self.root / name.lstrip("/")

    def run(self, *words, check=True, cwd="/", **more):
        """more: environment."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(["chroot", self.root, "sh", "-c", 'cd "$0" && exec "$@"', cwd, *map(str, words)],
                              env={**environment, **more}, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check:
            tap.equal(done.returncode, 0, f"{words}: {done.stdout}status")
        return done.stdout

    def record_systemd(self):
        """From here on packages find a systemd that runs, and that only notes what it is asked."""
        self.path("/run/systemd/system").mkdir(parents=True)
        for program in SYSTEMD:
            self.path(program).unlink()
            self.path(program).write_text(f'#!/bin/sh\necho "${{0##*/}} $*" >>{ASKED}\n', encoding="ascii")
            self.path(program).chmod(0o755)

    def asked(self):
        """What systemd was asked since the last call, without orders to read units again."""
        path = self.path(ASKED)
        lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line.removeprefix("deb-systemd-invoke ") for line in lines if not line.endswith("daemon-reload")]

    def written(self):
        """Paths below / that exist and that something wrote since the start."""
        return {f"/{path.relative_to(self.upper)}" for path in self.upper.rglob("*") if not path.is_char_device()}

    def close(self):
        subprocess.run(["umount", "--recursive", "--lazy", self.folder], check=True, timeout=SECONDS)
        self.folder.rmdir()
