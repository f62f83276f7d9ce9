# SPDX-License-Identifier: BSD-3-Clause
"""A program on the simulated machine: uncored shows its bytes, and nobody calls them memory traffic of this machine."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import run
import simulation
import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
RUN = [sys.executable, "-B", run.__file__, str(BUILD)]
LL_BYTES = 256 << 10
BYTES = 8 << 20
STRAY_BYTES = 160 << 10  # libuncore's own, and what starting a thread takes
WARNING = "SIMULATED: bytes that a model of caches counted, not traffic of this machine."
LIMITS = "no instruction fetches, page walks"


def simulated(folder, *command, **environment):
    """The program's run, with temporary files in the folder."""
    return subprocess.run([*RUN, f"ll={LL_BYTES}", "--", *command], capture_output=True, text=True,
                          timeout=simulation.SECONDS, check=False,
                          env={**os.environ, "TMPDIR": str(folder), **environment})


def within(value, low, high, what):
    tap.check(low <= value <= high, f"{what}: {value} bytes, should be {low} to {high}")


def bytes_of(region, socket, metric):
    return region["sockets"][socket]["metrics"][metric]["bytes"]


def regions():
    """Regions of a program have the simulated bytes of each socket"""
    if (os.cpu_count() or 1) < 2:
        raise tap.Skip("this computer has one CPU, and so one socket")
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        done = simulated(folder, BUILD / "tests/traffic/regions", str(BYTES), UNCORE_REPORT=str(report))
        tap.equal(done.returncode, 0, f"{done.stdout}{done.stderr}status")
        said = json.loads(report.read_text(encoding="utf-8"))
    tap.equal(said["platform"], "simulated", "platform")
    tap.check(said["note"].startswith(WARNING), f"the report's note is: {said['note']}")
    copy, load = said["regions"]
    within(bytes_of(copy, 0, "dram.read"), 2 * BYTES, 2 * BYTES + STRAY_BYTES, "read by the copy")
    within(bytes_of(copy, 0, "dram.write"), BYTES - LL_BYTES, BYTES + STRAY_BYTES, "written by the copy")
    within(bytes_of(copy, 1, "dram.read"), 0, 0, "read on the other socket")
    within(bytes_of(load, 1, "dram.read"), BYTES, BYTES + STRAY_BYTES, "read by the load")
    within(bytes_of(load, 0, "dram.read"), 0, STRAY_BYTES, "read on the other socket")
    for region in said["regions"]:
        tap.equal(region["sockets"][0]["metrics"]["dram.read"]["quality"], ["standin"], "quality")


def stat():
    """`uncore stat` shows a program's bytes, what they are not, and its exit status"""
    with tempfile.TemporaryDirectory() as folder:
        done = simulated(folder, "/bin/sh", "-c", "exit 7")
        tap.equal(os.listdir(folder), [], "files that are left")
    tap.equal(done.returncode, 7, f"{done.stderr}status")
    for words in ("ran, platform simulated:", " bytes ", WARNING, LIMITS):
        tap.check(words in done.stderr, f"'{words}' is not in: {done.stderr}")


def channels():
    """the channels of --channels add up to their socket, in JSON, CSV and the table"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            program = [run.write_launcher(BUILD, folder, []) / "simulated", BUILD / "tests/traffic/kernel", "load"]
            said = [subprocess.run([BUILD / "client/uncore", "stat", "--channels", *options, "--", *program], check=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "UNCORE_SOCKET": str(socket)}).stderr
                    for options in (["--json"], ["--csv"], ["-I", "200"])]
    report = json.loads(said[0])
    for found in report["sockets"]:
        for metric in ("dram.read", "dram.write", "dram.total"):
            parts = [part["metrics"][metric]["bytes"] for part in report["parts"] if part["socket"] == found["socket"]]
            tap.equal((len(parts), sum(parts)), (4, found["metrics"][metric]["bytes"]), f"{metric} of {found['socket']}")
    rows = {(row["socket"], row["metric"]): row for row in csv.DictReader(said[1].splitlines())}
    tap.equal(sum(int(rows[f"0/simulated{i}", "dram.read"]["mean"]) for i in range(4)),
              int(rows["0", "dram.read"]["mean"]), "CSV")
    lines = said[2].splitlines()
    tap.equal(lines[0], "     time s  GB/s of          dram.read dram.write dram.total", "heading")
    tap.check(lines[4][11:].startswith("   0/simulated3   ") and max(map(len, lines[:9])) <= 80, f"{lines[:9]}")


def info():
    """`uncore info`, --explain and `uncored --check` say what is counted"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            for options in ([], ["--explain", "dram.read"]):
                said = subprocess.run([BUILD / "client/uncore", "info", *options], capture_output=True, text=True,
                                      env={**os.environ, "UNCORE_SOCKET": str(socket)}, check=True).stdout
                tap.check(WARNING in said and LIMITS in said and "simulated" in said, f"{options}: {said}")
        log = (folder / "uncored.log").read_text(encoding="utf-8")
    tap.check("Serving simulated" in log and "nothing it counts is memory traffic of this machine" in log, log)
    plan = subprocess.run(
        [BUILD / "daemon/uncored", "--check", "--platforms", run.SOURCE / "conf/platforms", "--root",
         BUILD / "tests/machines/simulated", "--config", os.devnull], capture_output=True, text=True, check=True).stdout
    tap.check("nothing it counts is memory traffic of this machine" in plan, plan)
    tap.equal(plan.count("dram.read 0x0 x 64, dram.write 0x1 x 64, itom 0x2 x 64, specitom 0x3 x 64"),
              min(2, os.cpu_count() or 1), f"sockets with these events in {plan}")


def mistakes():
    """What cannot be simulated is refused in a sentence"""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "script")
        script.write_text("#!/bin/sh\n", encoding="utf-8")
        script.chmod(0o755)
        for words, status, sentence in ((["--", "no-such-program"], 127, "There is no program no-such-program."),
                                        (["--", str(script)], 126, f"{script} is not a program of x86-64."),
                                        (["--", "env", "X=1", "true"], 126, "Name that program itself"),
                                        (["--", "sh", "-c", "/bin/true; /bin/true"], 0, "by execve is not simulated."),
                                        (["sockets=4", "--", "true"], 2, "There is no option 'sockets=4'"),
                                        (["ll=3", "--", "true"], 2, "'ll=3' does not give ll"),
                                        (["true"], 2, "Usage: ./dev traffic"), (["--"], 2, "Usage: ./dev traffic")):
            done = subprocess.run([*RUN, *words], capture_output=True, text=True, check=False)
            tap.equal(done.returncode, status, f"status of {words}")
            tap.check(sentence in done.stderr, f"{words}: {done.stderr}")


def processes_naming(*texts):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
            if all(text in words for text in texts):
                found.append(path.parent.name)
        except OSError:
            pass  # it ended meanwhile
    return found


def signals():
    """SIGTERM ends the program and uncored, and leaves nothing behind"""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([*RUN, "--", "/bin/sleep", "1000"], env={**os.environ, "TMPDIR": folder},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + simulation.SECONDS
        while not processes_naming("qemu-x86_64", "sleep", folder):
            tap.check(time.monotonic() < deadline, "the program does not start")
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.wait(simulation.SECONDS)
        tap.equal(os.listdir(folder), [], "files that are left")
        tap.equal(processes_naming(folder), [], "processes that are left")


def main():
    simulation.need(simulation.QEMU)
    tap.run_functions([(case.__doc__, case) for case in (regions, stat, channels, info, mistakes, signals)])


if __name__ == "__main__":
    main()
