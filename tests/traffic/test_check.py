# SPDX-License-Identifier: BSD-3-Clause
"""`uncore check` on programs whose bytes are known, on the simulated machine: only they move its counts."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import run
import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
UNCORE, SCATTER = BUILD / "client/uncore", BUILD / "tests/traffic/scatter"
BYTES, PERCENT = 100e6, 1
FITS, MORE, CANNOT_TELL, FAILED = 0, 1, 3, 125
PAIRS, PLANTED = 200, 60
SECONDS = 300


class Machine:
    """A simulated machine, and a folder; several may exist at once."""

    def __init__(self, folder, socket):
        self.folder, self.baseline = folder, folder / "baseline.json"
        self.environment = {**os.environ, "UNCORE_SOCKET": str(socket), "TRAFFIC_COUNTERS": str(folder / "counters")}

    def check(self, *words, n_bytes=BYTES, percent=PERCENT, command=None):
        return subprocess.run(
            [UNCORE, "check", *words, "--against", self.baseline, "--",
             *(command or [SCATTER, str(n_bytes), str(percent)])],
            env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False, timeout=SECONDS)

    def measure_baseline(self):
        """Ten runs, however long they take."""
        subprocess.run([UNCORE, "stat", "-r", "10", "--json", "-o", self.baseline, "--", SCATTER, str(BYTES), str(PERCENT)],
                       env=self.environment, check=True, timeout=SECONDS)

    def expect(self, status, *words, **more):
        done = self.check(*words, **more)
        tap.equal(done.returncode, status, f"{done.stdout}{done.stderr}status of check {words}")
        return done.stdout


@contextlib.contextmanager
def simulated():
    with tempfile.TemporaryDirectory(prefix="uncored-check-") as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            yield Machine(folder, socket)


def statuses(n, **more):
    """The statuses of n checks, each against a baseline of its own."""
    def of_some(share):
        found = []
        with simulated() as machine:
            for _ in range(share):
                machine.measure_baseline()
                found.append(machine.check("--time", "60s", **more).returncode)
        return found
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(of_some, [n // 2, n - n // 2]), [])


def equals():
    """200 pairs of equal programs: no alarm"""
    found = statuses(PAIRS)
    tap.equal(found.count(MORE), 0, "alarms")
    tap.check(found.count(FITS) >= PAIRS * 0.95, f"{found.count(FITS)} of {PAIRS} fit")


def planted():
    """A program that moves 10 % more is found in 95 % of pairs"""
    found = statuses(PLANTED, n_bytes=1.1 * BYTES)
    tap.check(found.count(MORE) >= PLANTED * 0.95, f"{found.count(MORE)} of {PLANTED} found")
    tap.equal(found.count(FITS), 0, "missed")


def scattered():
    """Where runs scatter too much for the time, it cannot be told, and not guessed"""
    with simulated() as machine:
        machine.expect(FITS, "--update", "--time", "1ms", percent=20)
        said = machine.expect(CANNOT_TELL, "--time", "1ms", percent=20)
        tap.check("Cannot tell" in said and "3 runs against 3 of baseline.json" in said.replace(f"{machine.folder}/", ""), said)


def told():
    """The table names metrics, change and verdict; Markdown has the same rows; small metrics are left out by name"""
    with simulated() as machine:
        machine.expect(FITS, "--update", "--time", "1s", percent=0)
        tap.check(len(json.loads(machine.baseline.read_text(encoding="utf-8"))["all_sockets"]["metrics"]["dram.read"]
                      ["bytes_each"]) >= 3, "runs of the baseline")
        said = machine.expect(MORE, "--markdown", "table.md", n_bytes=1.2 * BYTES, percent=0.01)
        rows = [line.split() for line in said.splitlines() if line.startswith(" dram.")]
        tap.equal([row[0] for row in rows], ["dram.read", "dram.write", "dram.total"], said)
        tap.equal({row[-1] for row in rows}, {"MORE"}, said)
        tap.check(all(row[5].startswith(("+19.9", "+20.0")) for row in rows), said)
        tap.check("not judged: itom specitom." in said and "SIMULATED" in said, said)
        marked = (machine.folder / "table.md").read_text(encoding="utf-8")
        tap.equal(marked.count("| MORE |"), 3, marked)
        said = machine.expect(FITS, "-e", "dram.write", "--max-growth", "30", n_bytes=1.2 * BYTES, percent=0.01)
        tap.check("dram.read" not in said and "fits" in said, said)


def refused():
    """What cannot be judged has a status and a sentence of its own"""
    with simulated() as machine:
        tap.check("--update makes a baseline." in machine.check().stderr, "no baseline")
        machine.expect(FITS, "--update", "--time", "1ms")
        kept = machine.baseline.read_bytes()
        tap.check("ended with 4" in machine.check(command=["sh", "-c", "exit 4"]).stderr, "a command that fails")
        machine.expect(FAILED, command=["sh", "-c", "exit 4"])
        machine.expect(FAILED, "--update", command=["sh", "-c", "exit 4"])
        machine.expect(127, command=["no-such-command"])
        tap.equal(machine.baseline.read_bytes(), kept, "the baseline after a failure")
        done = machine.check("--socket", "/nonexistent")
        tap.equal((done.returncode, "Cannot connect" in done.stderr), (CANNOT_TELL, True), done.stderr)


if __name__ == "__main__":
    tap.run_functions([(case.__doc__, case) for case in tap.of_suite((scattered, told, refused), long=(equals, planted))])
