# SPDX-License-Identifier: BSD-3-Clause
"""./dev demo shows what a program moved on the simulated machine, whose truth is known."""
import os
import pathlib
import re
import subprocess
import tempfile

import tap

DEV = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"]) / "dev"
BOUND = 0.01


def shows_what_was_copied():
    done = subprocess.run([DEV, "demo"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print("#", done.stdout.replace("\n", "\n# "))
    tap.equal(done.returncode, 0, "status")
    tap.check("NOT memory traffic of this machine" in done.stdout, "It does not say what it counts.")
    times, size = map(int, re.search(r"(\d+) x (\d+) bytes to read", done.stdout).groups())
    read = max(int(number.replace(",", "")) for number in re.findall(r"dram\.read +([\d,]+) bytes", done.stdout))
    tap.check(abs(read / (times * size) - 1) < BOUND, f"{read} bytes were read; the program read {times} x {size}.")


def needs_root():
    """A user who may not become root is told so before anything is built"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "sudo").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        (folder / "sudo").chmod(0o755)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", DEV, "demo"],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    tap.equal((done.returncode, done.stdout), (1, ""), f"status and stdout of {done}")
    tap.check("The demo runs uncored as root: run it as root, or as a user who may use sudo." in done.stderr, done.stderr)


def helps():
    """--help behind a command shows the help, and does nothing else"""
    done = subprocess.run([DEV, "demo", "--help"], capture_output=True, text=True, check=False)
    tap.equal((done.returncode, done.stderr), (0, ""), f"status and stderr of {done}")
    tap.check("Usage: ./dev COMMAND" in done.stdout, done.stdout)


tap.run_functions([("The demo ends well, and shows the bytes that its program read", shows_what_was_copied),
                   (needs_root.__doc__, needs_root), (helps.__doc__, helps)])
