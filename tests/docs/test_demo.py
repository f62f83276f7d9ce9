# SPDX-License-Identifier: BSD-3-Clause
"""./dev demo shows what a program moved on the simulated machine, whose truth is known."""
import os
import pathlib
import re
import subprocess

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


tap.run_functions([("The demo ends well, and shows the bytes that its program read", shows_what_was_copied)])
