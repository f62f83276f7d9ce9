# SPDX-License-Identifier: BSD-3-Clause
"""Runs kernels under qemu-user with the simulated memory controller of tests/traffic.

What comes out are counts of a model of caches, and never memory traffic of a machine.
"""
import csv
import dataclasses
import io
import os
import pathlib
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
RUN_KERNEL = BUILD / "tests/papers/run-kernel"
PLUGIN = BUILD / "tests/traffic/plugin/memory-controller.so"
QEMU = "qemu-x86_64"

KIB, MIB = 1 << 10, 1 << 20


@dataclasses.dataclass(frozen=True)
class Machine:
    """Caches of 64-byte lines: a first level for each thread, a last level for each socket, least recently
    used goes."""
    ll: int                # bytes
    ll_ways: int = 16
    l1: int = 32 * KIB
    own_caches: int = 0    # so many ranks have a last level each; 0: all share one
    evaded: int = 0        # percent of write-allocates of whole lines in streams: an input, no result

    def options(self):
        # The program's main thread is the first CPU, and moves nothing.
        return [f"l1={self.l1}", f"ll={self.ll}:{self.ll_ways}", f"sockets={self.own_caches + 1}",
                f"speci2m={self.evaded}"]


@dataclasses.dataclass(frozen=True)
class Moved:
    """Bytes, of all ranks together."""
    read: float
    written: float
    claimed: float  # lines that were written whole without a read, by an instruction or in a stream

    @property
    def total(self):
        return self.read + self.written


class Failed(Exception):
    """A program that could not be run, with its own words."""


def missing():
    """Why nothing can be simulated here, or ""."""
    if not PLUGIN.exists():
        return f"the simulated memory controller was not built: there is no {PLUGIN.name}"
    for folder in os.environ["PATH"].split(":"):
        if os.access(os.path.join(folder, QEMU), os.X_OK):
            return ""
    return f"{QEMU} is not installed: package qemu-user"


def command(machine, counters, kernels, options):
    plugin = ",".join([str(PLUGIN), f"counters={counters}", *machine.options()])
    words = [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()]
    return [QEMU, "-cpu", "max", "-plugin", plugin, str(RUN_KERNEL), *words, *kernels]


def run(machine, kernels, **options):
    """{kernel: Moved}; options are those of run-kernel, with True for one that takes no value."""
    with tempfile.TemporaryDirectory(prefix="uncored-papers.") as folder:
        counters = f"{folder}/counters"
        done = subprocess.run(
            command(machine, counters, kernels, options), capture_output=True, text=True, check=False,
            env={**os.environ, "TRAFFIC_COUNTERS": counters})
    if done.returncode:
        raise Failed(f"run-kernel {' '.join(kernels)} ended with {done.returncode}: {done.stderr.strip()}")
    return {row["kernel"]: Moved(int(row["read"]), int(row["write"]), int(row["itom"]) + int(row["specitom"]))
            for row in csv.DictReader(io.StringIO(done.stdout))}


def predict(kernels, **options):
    """{kernel: (read, allocated, written)}: what the kernels' own models say; nothing is simulated."""
    words = [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run([RUN_KERNEL, "--predict", *words, *kernels], capture_output=True, text=True,
                          check=True)
    return {row["kernel"]: tuple(float(row[f"model_{part}"]) for part in ("read", "allocated", "written"))
            for row in csv.DictReader(io.StringIO(done.stdout))}
