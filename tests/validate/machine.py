# SPDX-License-Identifier: BSD-3-Clause
"""Simulated machines whose counters are wrong on purpose, and `uncore validate` on them.

A defect is a change of the platform file, of the machine's PMUs, or of both. uncored, libuncore and the command are
the real ones; the counts are those of tests/traffic.
"""
import contextlib
import ctypes
import dataclasses
import fcntl
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import run
import simulation

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
CACHE = "128K"
SECONDS = 300
START_S = 1  # a neighbour has its memory by then
CHANNELS = 4
KINDS = {"read": 0, "write": 1, "itom": 2, "specitom": 3}
RIGHT, DEFECT, INCONCLUSIVE, NOT_MEASURED = 0, 1, 3, 125  # exit statuses of uncore validate
CLONE_NEWNET = 0x40000000  # <linux/sched.h>

cpu = 0  # On which programs run, 0 or 1. Memory is of node 0, and so should this CPU be.

HEAD = ("[platform]\ntitle = A simulated machine, made for a test (not memory traffic of this machine)\n"
        "vendor = Simulated\nstandin = yes\n")


@dataclasses.dataclass
class Machine:
    """What uncored is told. events: the event of each term of a metric; boxes: the channel that each PMU counts."""
    events: dict = dataclasses.field(default_factory=lambda: {kind: [kind] for kind in KINDS})
    scales: dict = dataclasses.field(default_factory=dict)  # metric: bytes of a count
    boxes: tuple = tuple(range(CHANNELS))
    write_boxes: tuple = ()  # the same for writes, where they are counted elsewhere
    glob: str = "uncore_simulated_[0-9]*"
    packages: str = dataclasses.field(default_factory=lambda: f"{cpu} {1 - cpu}")
    header: str = ""  # lines of [platform]
    more: str = ""  # lines for each metric of the DRAM
    name: str = "simulated"  # of the platform

    def section(self, metric, kind):
        for i, event in enumerate(self.events[kind]):
            yield (f"[{metric}{f'/term{i}' if i else ''}]\npmu = {self.glob}\nevent = sysfs:{event}\n"
                   f"bytes = {self.scales.get(kind, 64)}\n")
            if metric.startswith("dram"):
                yield "channel = imc\n"
            if not i:
                yield f"source = made for a test\nconfidence = low\n{self.more if metric.startswith('dram') else ''}"

    def platform(self):
        names = {"read": "dram.read", "write": "dram.write", "itom": "itom", "specitom": "specitom"}
        return HEAD + self.header + "".join(line for kind, metric in names.items() for line in self.section(metric, kind))

    def definition(self):
        pmus = "".join(
            f"\n[pmu uncore_simulated_{box}]\ntype = {5000 + box}\ncpumask = packages\n"
            "format event = config:0-7\nformat channel = config:8-15\n"
            + "".join(f"event {kind} = event={number:#x},channel={channel[kind == 'write']}\n"
                      for kind, number in KINDS.items())
            for box, channel in enumerate(zip(self.boxes, self.write_boxes or self.boxes)))
        return (f"[machine]\npackages = {self.packages}\ncpus = host\norder = alternate\n\n"
                f"[cpuinfo]\nvendor_id = Simulated\n{pmus}")


class Served:
    """uncored on such a machine."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "UNCORE_SOCKET": str(folder / "socket")}

    def simulated(self, pinned=True):
        """The words before a program that runs on one CPU of the machine, or on any."""
        plugin = ",".join([str(BUILD / "tests/traffic/plugin/memory-controller.so"),
                           f"counters={self.folder / 'counters'}", "sockets=2", f"ll={CACHE}"])
        return [*(["taskset", "-c", str(cpu)] if pinned else []), run.QEMU, "-cpu", "max", "-plugin", plugin]

    def command(self, *words, pinned=True):
        return [*self.simulated(pinned), str(BUILD / "client/uncore"), "validate", "--cache", CACHE, *words]

    def kill(self):
        """Kills this uncored, which its socket's path tells from others."""
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_text().split("\0")
                if words[0].endswith("/uncored") and str(self.folder / "socket") in words:
                    os.kill(int(path.parent.name), signal.SIGKILL)

    def validate(self, *words, **more):
        return subprocess.run(self.command(*words), capture_output=True, text=True, timeout=SECONDS, check=False,
                              env=self.environment, cwd="/", **more)

    def judge(self, *words):
        """(exit status, report)"""
        done = self.validate("--json", *words)
        if done.returncode == NOT_MEASURED or not done.stdout:
            raise AssertionError(f"ended with {done.returncode}: {done.stderr}{done.stdout}")
        return done.returncode, json.loads(done.stdout)


@contextlib.contextmanager
def serving(machine):
    with tempfile.TemporaryDirectory(prefix="uncored-validate-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "platforms").mkdir()
        (folder / f"platforms/{machine.name}.conf").write_text(machine.platform(), encoding="ascii")
        (folder / "made.machine").write_text(machine.definition(), encoding="ascii")
        subprocess.run([sys.executable, SOURCE / "tests/machines/mktree", folder / "made.machine", folder / "tree"],
                       check=True)
        with open(folder / "counters", "wb") as file:
            file.truncate(run.COUNTERS_BYTES)
        (folder / "counters").chmod(0o666)  # for a user without privilege
        with run.uncored(BUILD, folder, folder / "platforms", folder / "tree"):
            yield Served(folder)


@contextlib.contextmanager
def neighbour(served):
    """Another program on the same memory, which comes and goes."""
    program = [*served.simulated(), str(BUILD / "tests/traffic/kernel"), "load", "passes=100000"]
    shell = f"while :; do timeout 0.3 {shlex.join(program)}; sleep 0.2; done"
    process = subprocess.Popen(["sh", "-c", shell], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def steady_neighbour(served):
    """A program that moves about a fifth of what the kernels move, on another CPU if there is one."""
    program = [*served.simulated(), str(BUILD / "tests/traffic/kernel"), "copy", "passes=100000000", "number=20000",
               "rest_us=20000"]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(START_S)  # its memory is on the node of the CPU where it began
            for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {min(1 - cpu, os.cpu_count() - 1)})
            yield
        finally:
            process.kill()


def findings(report):
    return [text for node in report["nodes"] for text in node["findings"]]


def keep_apart():
    """One `uncore validate` runs at a time in a network namespace: a test takes one of its own. Without the privilege for
    that, it waits for the test beside it."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNET):
        fcntl.flock(os.open(BUILD, os.O_RDONLY), fcntl.LOCK_EX)


simulation.need(run.QEMU, "taskset")
keep_apart()
