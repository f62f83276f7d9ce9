# SPDX-License-Identifier: BSD-3-Clause
"""Where a guest cannot be made or does not run, ./dev guest says so in a sentence, fails, and leaves nothing running.

usage: refusals.py

Needs the guests that `./dev guest KIND --make` makes, and root, for a small file system.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests/harness")]

import tap  # noqa: E402

SHORT_S = 3       # no guest has booted by then
PATIENCE_S = 120
SMALL = 'mount -t tmpfs -o size=64m small "$0" &&'
APT_CONF = """Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
"""


def images_of(kind):
    return ROOT / f"build-guest-{kind}"


def not_source(folder, names):
    """For copytree: names of build folders and of the history."""
    return [name for name in names if folder == str(ROOT) and name.startswith(("build", ".git"))]


def end_of(process):
    """(status, output); a process left in its group is a failure."""
    said, _ = process.communicate(timeout=PATIENCE_S)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return process.returncode, said
    raise AssertionError("Something was left running.")


def start(words, environment):
    return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, start_new_session=True,
                            env={**os.environ, **environment})


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def boot(self, *options, vmlinux=None, **environment):
        """Boots with logs of its own, because other tests boot the same guest meanwhile."""
        images = self.folder / "images"
        images.mkdir()
        for path in images_of(self.kind).iterdir():
            if path.suffix != ".log" and path.name != "memory":
                (images / path.name).symlink_to(path)
        if vmlinux:
            (images / "vmlinux").unlink()
            (images / "vmlinux").write_bytes(vmlinux)
        return start([sys.executable, "-B", HERE / self.kind / "main.py", images, *options], environment)

    def make(self, prepare="", **environment):
        """Runs ./dev guest in a copy of the source tree."""
        source, tree = self.folder / "source", self.folder / "tree"
        shutil.copytree(ROOT, source, symlinks=True, ignore=not_source)
        tree.mkdir()
        script = prepare + ' cp -r "$1/." "$0" && cd "$0" && exec ./dev guest "$2" --make'
        return end_of(start(["unshare", "-m", "sh", "-c", script, tree, source, self.kind], environment))

    def assert_fails_with(self, sentence, outcome):
        status, said = outcome
        self.assertNotEqual(status, 0, said)
        self.assertIn(sentence, said)

    def test_no_qemu(self):
        """without QEMU, the sentence says which program is missing, and what installs it"""
        self.assert_fails_with(f"There is no {self.qemu}: ./dev guest installs it.",
                               end_of(self.boot(PATH="/nowhere")))

    def test_hangs(self):
        """a boot that takes too long is given up"""
        self.assert_fails_with(f"not ended within {SHORT_S} s", end_of(self.boot("counts", "--limit", str(SHORT_S))))

    def test_damaged(self):
        """a kernel that does not run is noticed"""
        self.assert_fails_with("The guest has ended", end_of(self.boot(vmlinux=b"nonsense")))

    def test_no_such_suite(self):
        """for an unknown suite, the sentence lists the suites"""
        self.assert_fails_with("there is no suite 'nonsense' in this guest; there are: counts",
                               end_of(self.boot("nonsense")))

    def test_ended(self):
        """a signal ends a guest that boots"""
        process = self.boot()
        time.sleep(SHORT_S)
        process.terminate()
        self.assertNotEqual(end_of(process)[0], 0)

    def test_no_space(self):
        """with too little disk, the sentence says how much a guest takes, and how much there is"""
        self.assert_fails_with("MB of disk space while it is made, and here are", self.make(SMALL))

    def test_no_packages(self):
        """without packages, the sentence says that apt knows none"""
        for name in ("lists", "cache"):
            (self.folder / name).mkdir()
        (self.folder / "sources.list").touch()
        conf = self.folder / "apt.conf"
        conf.write_text(APT_CONF.format(folder=self.folder))
        self.assert_fails_with("apt knows no ", self.make(APT_CONFIG=str(conf)))


class X86(Refusals):
    title = "x86: "
    kind, qemu = "x86", "qemu-system-x86_64"


class Power9(Refusals):
    title = "power9: "
    kind, qemu = "power9", "qemu-system-ppc64"


def main():
    for case in (X86, Power9):
        if not (images_of(case.kind) / "complete").exists():
            tap.skip_all(f"there is no {case.kind} guest: `./dev guest {case.kind} --make` makes it")
    if os.geteuid() != 0:
        tap.skip_all("needs root to mount a small file system")
    tap.run([X86, Power9])


main()
