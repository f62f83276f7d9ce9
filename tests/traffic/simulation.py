# SPDX-License-Identifier: BSD-3-Clause
"""Programs on a simulated memory controller, for the tests of this folder."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"]) / "tests/traffic"
QEMU = "qemu-x86_64"
SECONDS = 120
COUNTERS_BYTES = 1 << 16
LINE = 64
KINDS = ("read", "write", "itom", "specitom")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            tap.skip_all(f"{program} is not installed: ./dev setup --tests")


@contextlib.contextmanager
def counters_file():
    with tempfile.NamedTemporaryFile(prefix="uncored-traffic-") as file:
        file.truncate(COUNTERS_BYTES)
        yield file.name


def run(options, *command):
    """Runs a program of this folder on a memory controller with these options; the result has its output."""
    with counters_file() as path:
        words = ",".join([str(BUILD / "plugin/memory-controller.so"), f"counters={path}", *options.split()])
        return subprocess.run(
            [QEMU, "-cpu", "max", "-plugin", words, str(BUILD / command[0]), *command[1:]],
            env={**os.environ, "TRAFFIC_COUNTERS": path}, capture_output=True, text=True, timeout=SECONDS, check=False)


def counted(options, *command):
    """What the program printed."""
    done = run(options, *command)
    tap.check(done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)
