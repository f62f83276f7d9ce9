# SPDX-License-Identifier: BSD-3-Clause
"""Users who connect faster than uncored can close, beside another user: the attacks of tests/hostile/test-crowds.c, with
as many open files as the unit permits, on a kernel without SO_PASSRIGHTS (before Linux 6.16)."""
import os
import pathlib
import subprocess

from harness import HERE, Case, is_all_wanted, sysctl_paranoid, word_of_command_line

FILES = 524288  # LimitNOFILE= of systemd/uncored.service.in
CROWDS = HERE / "crowds"  # the program, and what it looks for in a build folder and in the sources
LONG_S = 120  # for each attack, with --all
# A huge page would count as 2 MiB of the daemon's memory where it uses 4 KiB.
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")


def arguments():
    """Of the program. In a short run the calls of the other user are only shown: on a busy computer one of them may wait
    for an emulated CPU for longer than a client waits for an answer, a second."""
    seconds = word_of_command_line("seconds", str(LONG_S) if is_all_wanted() else None)
    return ["emulated", f"seconds={seconds}" if seconds else "only-daemon"]


def open_files_permitted():
    return min(int(pathlib.Path("/proc/sys/fs", name).read_text()) for name in ("file-max", "nr_open"))


class Crowds(Case):
    def test_crowds(self):
        """with 524,288 open files, crowds of one user and of ten take few descriptors, and harm no other user"""
        self.assertGreaterEqual(open_files_permitted(), FILES)
        sysctl_paranoid(2)
        HUGE_PAGES.write_text("never")
        pathlib.Path("/etc/subuid").touch()  # on which the program mounts its own
        words = ["prlimit", f"--nofile={FILES}", CROWDS / "test-hostile-crowds", FILES, *arguments()]
        folders = {"UNCORE_BUILD_ROOT": str(CROWDS), "UNCORE_SOURCE_ROOT": str(CROWDS), "CMOCKA_MESSAGE_OUTPUT": "TAP"}
        with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, **folders}) as program:
            for line in program.stdout:
                print("#", line.rstrip(), flush=True)
        self.assertEqual(program.returncode, 0)


CASES = [Crowds]
