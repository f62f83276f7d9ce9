# SPDX-License-Identifier: BSD-3-Clause
"""Programs in other languages than C, on the simulated machine: only they move its counts, so the truth is exact. Nothing
here needs privilege."""
import contextlib
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run  # of tests/traffic
import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
PREFIX = pathlib.Path(os.environ["UNCORE_PREFIX"])
PROGRAMS = SOURCE / "tests/languages/programs"
LINE = 64
SECONDS = 400  # where other programs want the CPUs, too
LAUNCHERS = ("UNCORE_", "OMPI_", "PMIX_", "PMI_", "SLURM_", "PALS_", "FLUX_", "PBS_", "MPI_", "MV2_", "LSB_")


@functools.lru_cache
def python_with(*modules):
    """A Python that has these modules, which may be Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        search = f"import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {modules})))"
        if subprocess.run([python, "-c", search], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    raise tap.Skip(f"no Python has {', '.join(modules)}: ./dev setup")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed: ./dev setup")


def environment(**more):
    """Without what a launcher has set for the test itself."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}, **more}


class Machine:
    """The simulated machine, uncored on it, and a folder to work in."""

    def __init__(self, folder, socket):
        self.folder, self.socket = folder, socket
        self.report_path = folder / "report.json"

    def environment(self, **more):
        return environment(**{
            "UNCORE_SOCKET": str(self.socket), "UNCORE_REPORT": str(self.report_path), "LD_LIBRARY_PATH": f"{BUILD}/client",
            "TRAFFIC_COUNTERS": str(self.folder / "counters"), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{SOURCE}/client/python:{PROGRAMS}", **more})

    def run(self, *command, status=0, **more):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment(**more), text=True,
                              capture_output=True, check=False, timeout=SECONDS)
        tap.equal(done.returncode, status, f"{done.stdout}{done.stderr}status of {command[0]}")
        return done

    def report(self):
        return json.loads(self.report_path.read_text(encoding="utf-8"))

    def regions(self):
        return {region["name"]: region for region in self.report()["regions"]}


@contextlib.contextmanager
def simulated():
    with tempfile.TemporaryDirectory(prefix="uncored-languages-") as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            yield Machine(folder, socket)


@functools.lru_cache
def installed():
    """A prefix in which this build is installed, for as long as this program runs."""
    root = tempfile.TemporaryDirectory(prefix="uncored-installed-")
    installed.kept = root  # it goes with the program
    (BUILD / "meson-logs/install-log.txt").unlink(missing_ok=True)  # which may be root's, of another suite
    subprocess.run(["meson", "install", "--no-rebuild", "--quiet", "-C", BUILD, "--destdir", root.name], check=True,
                   stdout=subprocess.DEVNULL)
    prefix = pathlib.Path(f"{root.name}{PREFIX}")
    for path in prefix.rglob("*.pc"):  # as if it had been configured for this prefix
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"prefix={PREFIX}\n", f"prefix={prefix}\n"), encoding="utf-8")
    return prefix


def user_of_prefix():
    """What a user sets who has the product in a prefix, on a machine whose programs are Debian's."""
    prefix = installed()
    library = next(prefix.rglob("libuncore.so.0")).parent
    return {"PATH": f"{prefix}/bin:/usr/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(library / "pkgconfig"),
            "LD_LIBRARY_PATH": str(library), "CMAKE_PREFIX_PATH": str(prefix)}


def bytes_of(region, metric="dram.read"):
    """By socket."""
    return [socket["metrics"][metric]["bytes"] for socket in region["sockets"]]


def counts_of(region, *keys):
    return [region[key] for key in keys or ("count", "failed", "open", "died")]
