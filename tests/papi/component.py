# SPDX-License-Identifier: BSD-3-Clause
"""PAPI's component uncored (contrib/papi), built into PAPI by `./dev papi`, on machines whose counts a test knows: on the
simulated machine the test itself moves them. Nothing there needs privilege."""
import contextlib
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile

import counts
import tap
from talk import Talk

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
PAPI = SOURCE / "build-papi"
SECONDS = 400  # where other programs want the CPUs, too
LINE = 64
COUNTERS_BYTES, LINES_AT, CHANNELS, KINDS = 1 << 16, 64, 16, 4  # struct traffic_counters
READ, WRITE = 0, 1  # enum traffic_kind
OK, ESYS, ECLOST, ENOEVNT, ENOSUPP = 0, -3, -5, -7, -18  # papi.h


class Uncored:
    """uncored under a service manager, which starts it again when it was killed, and may keep its descriptors."""

    def __init__(self, folder, machine, *options, **environment):
        self.folder, self.socket = folder, folder / "socket"
        with open(folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", SOURCE / "tests/harness/manager.py", *options, self.socket, BUILD / "daemon/uncored",
                 "--platforms", SOURCE / "conf/platforms", "--root", BUILD / "tests/machines" / machine, "--config",
                 os.devnull], stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **environment})
        self.expect_ready()

    def expect_ready(self):
        for line in self.process.stdout:
            if line.startswith("uncored is process "):
                self.pid = int(line.split()[-1])
            if line == "uncored is ready\n":
                return
        raise AssertionError((self.folder / "log").read_text(encoding="utf-8"))

    def kill(self):
        """It is there again when this returns."""
        os.kill(self.pid, 9)
        self.expect_ready()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(SECONDS)
        self.process.stdout.close()

    def environment(self, **more):
        return {**os.environ, "UNCORE_SOCKET": str(self.socket), "LD_LIBRARY_PATH": f"{PAPI}/lib:{BUILD}/client", **more}

    def run(self, *words, seconds=SECONDS, **more):
        return subprocess.run([str(word) for word in words], env=self.environment(**more), text=True, cwd=self.folder,
                              capture_output=True, check=False, timeout=seconds)

    def tool(self, name, *words, **more):
        """What one of PAPI's own programs printed."""
        done = self.run(PAPI / "bin" / name, *words, **more)
        tap.equal(done.returncode, 0, f"{done.stdout}{done.stderr}status of {name}")
        return done.stdout


class Simulated(Uncored):
    """Socket s is node s of the counters."""

    def __init__(self, folder, *options):
        self.path = folder / "counters"
        self.path.write_bytes(bytes(COUNTERS_BYTES))
        super().__init__(folder, "simulated", *options, TRAFFIC_COUNTERS=str(self.path),
                         LD_PRELOAD=str(BUILD / "tests/traffic/simulated-pmu.so"))
        with open(self.path, "r+b") as file:
            self.counters = mmap.mmap(file.fileno(), 0)

    def move(self, socket, kind, channel, lines):
        counts.add(self.counters, LINES_AT + 8 * ((socket * KINDS + kind) * CHANNELS + channel), lines)


@contextlib.contextmanager
def serving(kind, *arguments):
    with tempfile.TemporaryDirectory(prefix="uncored-papi-") as name:
        uncored = kind(pathlib.Path(name), *arguments)
        try:
            yield uncored
        finally:
            uncored.stop()


class Program(Talk):
    """papi-talk."""

    def __init__(self, uncored, **more):
        super().__init__(subprocess.Popen([PAPI / "bin/papi-talk"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          text=True, env=uncored.environment(**more)))
        tap.equal(self.hear(), "ready", "what papi-talk says")

    def do(self, line):
        """[status, values...]"""
        return [int(word) for word in self.ask(line).split()]

    def expect(self, line, *answer):
        tap.equal(self.do(line), list(answer), line)

    def begin(self, where, *events):
        for event in events:
            self.expect(f"{where} add uncored:::{event}", OK)
        self.expect(f"{where} start", OK)

    def end(self):
        self.process.stdin.close()
        tap.equal(self.process.wait(SECONDS), 0, "status of papi-talk")
        self.process.stdout.close()


@contextlib.contextmanager
def program(uncored, **more):
    talk = Program(uncored, **more)
    try:
        yield talk
        talk.end()
    finally:
        talk.process.kill()
        talk.process.wait()
