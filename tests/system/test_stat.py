# SPDX-License-Identifier: BSD-3-Clause
"""`uncore stat` in a job, against the real uncored on the stand-in machine: ranks of a node, a daemon that refuses,
repetition until the error is small, and the forms for programs. Prints TAP; needs root.
"""
import csv
import json
import math
import os
import pathlib
import pty
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import tap
from listening import listens

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])

SECONDS = 180
NOBODY = 65534
PAGE_BYTES = 4096
PAGES = 5000
TOUCH = BUILD / "tests/workload/touch-pages"


class Daemon:
    """uncored on the stand-in machine, in a folder that everybody may write to."""

    def __init__(self, config="", dead=None):
        self.place = tempfile.TemporaryDirectory(prefix="uncored-stat-")
        self.folder = pathlib.Path(self.place.name)
        self.folder.chmod(0o777)
        self.socket = self.folder / "socket"
        (self.folder / "conf").write_text(config, encoding="ascii")
        root, platforms = BUILD / "tests/machines/standin", SOURCE / "conf/platforms"
        if dead is not None:
            root, platforms = self.make(dead)
        self.process = subprocess.Popen(
            [BUILD / "daemon/uncored", "--platforms", platforms, "--root", root, "--config", self.folder / "conf", "--socket", self.socket],
            stderr=subprocess.DEVNULL)

    def make(self, dead):
        """The stand-in machine with eight boxes on a socket; those that are @dead count emulated instructions: none."""
        machine = (SOURCE / "tests/machines/standin.machine").read_text(encoding="ascii")
        begin, box, clock = re.split(r"(?=\[pmu )", machine)
        boxes = [box.replace("standin_0", f"standin_{i}") for i in range(8)]
        for i in dead:
            boxes[i] = re.sub(r"event=0x[256]", "event=0x8", boxes[i])
        (self.folder / "made.machine").write_text("".join([begin, *boxes, clock]), encoding="ascii")
        subprocess.run([sys.executable, SOURCE / "tests/machines/mktree", self.folder / "made.machine",
                        self.folder / "tree"], check=True)
        (self.folder / "platforms").mkdir()
        platform = (SOURCE / "conf/platforms/standin.conf").read_text(encoding="ascii")
        (self.folder / "platforms/standin.conf").write_text(re.sub(r"(sysfs:\w+) \| raw:.*", r"\1", platform),
                                                            encoding="ascii")
        return self.folder / "tree", self.folder / "platforms"

    def __enter__(self):
        deadline = time.monotonic() + SECONDS
        while not listens(self.socket):
            tap.check(time.monotonic() < deadline and self.process.poll() is None, "uncored does not start")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.place.cleanup()

    def start(self, *words, variables=(), **more):
        """`uncore stat` as nobody, in the folder."""
        return subprocess.Popen(
            [BUILD / "client/uncore", "stat", *words], text=True, cwd=self.folder, user=NOBODY, group=NOBODY,
            extra_groups=[], env=dict(os.environ, UNCORE_SOCKET=str(self.socket), **dict(variables)), **more)

    def stat(self, *words, variables=()):
        """Its status and what it printed."""
        process = self.start(*words, variables=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output, _ = process.communicate(timeout=SECONDS)
        return process.returncode, output

    def info(self):
        return subprocess.run([BUILD / "client/uncore", "info", "--socket", self.socket], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def result(self, name):
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


def within(text, *parts):
    for part in parts:
        tap.check(part in text, f"{part!r} is not in: {text}")


def bytes_of(result):
    return result["all_sockets"]["metrics"]["dram.read"]["bytes"]


# The first rank's command lasts until the others, which wait for its begin, have ended.
FIRST = f": >begun; {TOUCH} {PAGES} 0; while [ $(ls ended-* 2>/dev/null | wc -l) -lt 3 ]; do sleep 0.01; done"
OTHER = f"until [ -e begun ]; do sleep 0.01; done; {TOUCH} {PAGES} 0; : >ended-$OMPI_COMM_WORLD_RANK"


def one_rank_measures():
    """of four ranks of a node the first one measures what all of them move"""
    with Daemon() as daemon:
        ranks = [daemon.start(
            "--first-of-node", "--json", "-o", "%j-%r.json", "--", "sh", "-c", OTHER if rank else FIRST,
            variables={"OMPI_COMM_WORLD_RANK": str(rank + 4), "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
                       "SLURM_LOCALID": "0", "SLURM_JOB_ID": "4711"},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for rank in range(4)]
        for rank in ranks:
            _, said = rank.communicate(timeout=SECONDS)
            tap.equal((rank.returncode, said), (0, ""), "status, and what was said")
        tap.equal([path.name for path in daemon.folder.glob("*.json")], ["4711-4.json"], "the files")
        result = daemon.result("4711-4.json")
        tap.check(bytes_of(result) >= 4 * PAGES * PAGE_BYTES, f"only {bytes_of(result)} bytes")
        tap.equal(result["host"], socket.gethostname(), "host")
        tap.equal(result["command"], ["sh", "-c", FIRST], "command")
        tap.equal(len(result["wall_ns"]), 1, "number of runs")


def runs_anyway():
    """--anyway runs the command where uncored refuses the user, and says so in one line"""
    with Daemon("[access]\nusers = root\n") as daemon:
        status, output = daemon.stat("--", "sh", "-c", "echo hello; exit 3")
        tap.equal((status, "hello" in output), (125, False), "status without --anyway, and the command's output")
        status, output = daemon.stat("--anyway", "--", "sh", "-c", "echo hello; exit 3")
        tap.equal(status, 3, "status")
        lines = sorted(output.splitlines())
        tap.equal((len(lines), lines[0]), (2, "hello"), "number of lines, and the command's")
        within(lines[1], "uncore stat: sh runs without being measured: ", "users")


def repeats_until():
    """--until stops when the error that is seen is below what is wanted"""
    with Daemon() as daemon:
        status, output = daemon.stat("--until", "50", "--json", "-o", "result", "--", str(TOUCH), str(PAGES), "0")
        tap.equal(status, 0, "status")
        result = daemon.result("result")
        within(output, f"After {result['runs']} runs the standard error of the mean is ")
        tap.check(3 <= result["runs"] <= 100, f"{result['runs']} runs")
        tap.equal(result["until"]["wanted_percent"], 50, "the goal")
        figures = result["all_sockets"]["metrics"]["dram.read"]
        error = figures["bytes_stddev"] / math.sqrt(result["runs"]) / figures["bytes"]
        tap.equal(result["until"]["reached"], not result["until"]["not_reached"], "reached")
        tap.equal(error >= 0.5, "dram.read" in result["until"]["not_reached"], f"missed by an error of {error}")
        tap.check("itom" in result["until"]["left_out"], "itom counts nothing here, and was judged")
        tap.check(figures["bytes_min"] <= figures["bytes_median"] <= figures["bytes_max"], str(figures))
        tap.equal(len(result["wall_ns"]), result["runs"], "number of wall times")


# Counts that triple from run to run, so that no mean is ever good.
GROW = f"n=$(cat n 2>/dev/null || echo 300); echo $((3 * n)) >n; {TOUCH} $n 0; sleep 0.9"


def all_of(terminal):
    """What was printed there, until the last process has closed its other end."""
    said = b""
    try:
        while block := os.read(terminal, 4096):
            said += block
    except OSError:
        os.close(terminal)
    return said


def tells_progress():
    """--until tells a terminal how far it is, and nothing else than a terminal"""
    words = ("--until", "0.01", "-r", "5", "-o", "result", "--", "sh", "-c", GROW)
    with Daemon() as daemon:
        ours, theirs = pty.openpty()
        process = daemon.start(*words, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        said = all_of(ours)
        tap.equal(process.wait(SECONDS), 0, "status")
        within(said.decode(), "uncore stat: ", " of at most 5 runs in ", "; standard error of dram.",
               "wanted below 0.01 %; about ")
        (daemon.folder / "n").unlink()
        _, output = daemon.stat(*words[:3], "3", *words[4:])
        tap.check("of at most" not in output, output)


def colours():
    """A terminal gets colours, unless NO_COLOR is set or it has none; a file gets none"""
    with Daemon() as daemon:
        for colours, variables in ((True, {"TERM": "xterm", "NO_COLOR": ""}), (False, {"TERM": "xterm", "NO_COLOR": "1"}),
                                   (False, {"TERM": "dumb"})):
            ours, theirs = pty.openpty()
            process = daemon.start("true", variables=variables.items(), stdin=theirs, stdout=theirs, stderr=theirs)
            os.close(theirs)
            said = all_of(ours)
            tap.equal(process.wait(SECONDS), 0, "status")
            tap.equal(b"\033[1m" in said, colours, f"colours with {variables} in {said}")
        _, output = daemon.stat("true", variables={"TERM": "xterm"}.items())
        tap.check("\033" not in output, output)


def rows_add_up():
    """--csv has documented columns; the rows of the sockets add up to those of all"""
    with Daemon() as daemon:
        status, _ = daemon.stat("--csv", "-r", "3", "-o", "result", "--", str(TOUCH), str(PAGES), "0")
        tap.equal(status, 0, "status")
        page = (SOURCE / "man/uncore.1.scd").read_text(encoding="utf-8")
        with open(daemon.folder / "result", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for column in rows[0]:
            tap.check(f"*{column}*" in page.replace("\\", ""), f"uncore(1) has no column {column}")
        reads = {row["socket"]: row for row in rows if row["metric"] == "dram.read"}
        whole = int(reads.pop("all")["mean"])
        tap.check(abs(sum(int(row["mean"]) for row in reads.values()) - whole) <= len(reads), f"{reads}, {whole}")
        tap.check(whole >= PAGES * PAGE_BYTES, f"only {whole} bytes")
        tap.check(all(row["mean"] == "" for row in rows if row["absent"]), "an absent metric has a mean")
        tap.equal([row["runs"] for row in rows if row["metric"] == "wall_time"], ["3"], "runs of wall_time")


def figures_agree():
    """the JSON's deviation and median are those of the runs"""
    with Daemon() as daemon:
        daemon.stat("--json", "-r", "4", "-I", "3600000", "-o", "result", "--", str(TOUCH), str(PAGES), "0")
        lines = (daemon.folder / "result").read_text(encoding="utf-8").splitlines()
        *intervals, result = [json.loads(line) for line in lines]
        runs = [bytes_of(interval) for interval in intervals]  # one interval for each run
        tap.equal([interval["run"] for interval in intervals], [1, 2, 3, 4], "runs")
        figures = result["all_sockets"]["metrics"]["dram.read"]
        tap.equal((figures["bytes_min"], figures["bytes_max"]), (min(runs), max(runs)), "ends")
        tap.equal(figures["bytes_median"], int(statistics.median(runs)), "median")
        tap.check(abs(figures["bytes_stddev"] - statistics.stdev(runs)) <= 1, f"{figures}, {runs}")


def boxes_that_stand():
    """A box that stands at 0 while its sisters count is named, and its sum is flagged; boxes without memory are not"""
    said = "dram.read of socket 0 may be too low: standin3 has counted nothing since uncored began, while its 7 sisters"
    touch = ("--", str(TOUCH), str(PAGES), "0")
    with Daemon(dead=[3]) as daemon:
        _, table = daemon.stat(*touch)
        within(" ".join(table.split()), said)
        tap.check(re.search(r"dram\.read +[\d,]+ bytes .* partial", table), table)
        daemon.stat("--json", "-o", "result", *touch)
        result = daemon.result("result")
        tap.equal([one for one in result["standing"] if one["socket"] == 0],
                  [{"socket": 0, "metric": metric, "channel": "standin3", "has_counted": False}
                   for metric in ("dram.read", "dram.write")], "boxes")
        for of in (result["sockets"][0], result["all_sockets"]):
            tap.check("partial" in of["metrics"]["dram.read"]["quality"], f"{of}")
        _, rows = daemon.stat("--csv", *touch)
        within(" ".join(rows.split()), f"uncore stat: {said}")
        within(" ".join(daemon.info().split()), "standin3 of socket 0 has counted nothing since uncored began, while its 7")
    for dead in ([6, 7], [0, 1, 2, 3]):
        with Daemon(dead=dead) as daemon:
            _, table = daemon.stat(*touch)
            tap.check("partial" not in table and "too low" not in table, table)
            within(" ".join(daemon.info().split()),
                   "socket 0: " + " ".join(f"standin{i}" for i in dead) +
                   " have counted nothing since uncored began: if no memory is fitted there, that is right "
                   "(`uncore validate` shows whether bytes are missing)")
    with Daemon(dead=[]) as daemon:
        _, table = daemon.stat(*touch)
        tap.check("partial" not in table and "too low" not in table, table)
        tap.check("counted nothing" not in daemon.info(), "a whole machine")


CASES = [one_rank_measures, runs_anyway, repeats_until, tells_progress, colours, rows_add_up, figures_agree,
         boxes_that_stand]


if os.geteuid() == 0:
    tap.run_functions([(case.__doc__, case) for case in CASES])
print("1..0 # SKIP it opens counters, which needs root")
