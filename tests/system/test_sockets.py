# SPDX-License-Identifier: BSD-3-Clause
"""A socket keeps its number while another package is missing: uncored on the stand-in machine, whole and with package 0
offline. Prints TAP; needs root.
"""
import contextlib
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
import tap
from listening import listens
from tap import equal
SECONDS = 180
PAGES = 5000
GONE = "no CPU of package 0 is online"


def make_trees(folder):
    """The stand-in machine with its packages 0 and 1, and without the CPUs of package 0."""
    text = (SOURCE / "tests/machines/standin.machine").read_text(encoding="ascii")
    even = " ".join(str(cpu) for cpu in range(0, os.cpu_count(), 2))
    for name, more in (("whole", ""), ("half", f"offline = {even}\n")):
        machine = folder / f"{name}.machine"
        machine.write_text(text.replace("order = alternate\n", "order = alternate\n" + more), encoding="ascii")
        subprocess.run([sys.executable, SOURCE / "tests/machines/mktree", machine, folder / name], check=True)


class Uncored:
    def __init__(self, folder):
        self.folder = folder
        self.log = ""

    def options(self, tree, state="state"):
        return ["--platforms", SOURCE / "conf/platforms", "--root", self.folder / tree, "--state", self.folder / state]

    def uncore(self, *words, **more):
        return subprocess.run([BUILD / "client/uncore", *words], check=True, text=True, timeout=SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, UNCORE_SOCKET=str(self.folder / "socket"), **more)).stdout

    def check(self, tree, state="state"):
        return subprocess.run([BUILD / "daemon/uncored", "--check", *self.options(tree, state)], check=True, text=True,
                              stdout=subprocess.PIPE, timeout=SECONDS).stdout

    @contextlib.contextmanager
    def on(self, tree, state="state"):
        process = subprocess.Popen([BUILD / "daemon/uncored", "--socket", self.folder / "socket",
                                    *self.options(tree, state)], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + SECONDS
        while not listens(self.folder / "socket"):
            assert process.poll() is None and time.monotonic() < deadline, "uncored does not listen"
            time.sleep(0.02)
        try:
            self.uncore("info")
            yield
        finally:
            process.terminate()
            self.log = process.communicate(timeout=SECONDS)[1]


def keeps_its_number(uncored):
    """socket 1 stays socket 1 while package 0 is missing: in every form of stat, in export and in info"""
    with uncored.on("whole"):
        pass
    with uncored.on("half"):
        touch = [BUILD / "tests/workload/touch-pages", str(PAGES), "1"]
        table = uncored.folder / "table.csv"
        uncored.uncore("stat", "--csv", "-o", table, *touch)
        rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="ascii"))))
        read = {row["socket"]: row for row in rows if row["metric"] == "dram.read"}
        equal({number: read[number]["package"] for number in ("0", "1", "all")}, {"0": "0", "1": "1", "all": ""},
              "packages")
        equal((read["0"]["mean"], read["0"]["absent"]), ("", GONE), "socket 0")
        equal((read["all"]["mean"], read["all"]["absent"]), ("", GONE), "all sockets")
        assert int(read["1"]["mean"]) >= PAGES * 4096, read["1"]
        text = uncored.uncore("export")
        assert 'uncore_dram_read_bytes_total{socket="1"' in text, text
        assert 'uncore_dram_read_bytes_total{socket="0"' not in text, text
        report = json.loads(uncored.uncore("stat", "--json", "true"))
        equal([(s["socket"], s["package"]) for s in report["sockets"]], [(0, 0), (1, 1)], "sockets")
        assert "socket 0: package 0, without counters" in uncored.uncore("info", "-v")


def checks_without_writing(uncored):
    """--check uses the numbers, and saves none"""
    with uncored.on("whole"):
        pass
    assert "Socket 1 (package 1), 2 boxes" in uncored.check("half")
    assert "Socket 0 (package 1), 2 boxes" in uncored.check("half", "nothing")
    equal(list((uncored.folder / "nothing").iterdir()), [], "files")


def tells_what_it_cannot_save(uncored):
    """a folder that is missing and a file that is damaged are told, and uncored serves"""
    with uncored.on("whole", "missing"):
        pass
    assert f"cannot be saved in {uncored.folder}/missing/sockets: No such file" in uncored.log, uncored.log
    (uncored.folder / "state/sockets").write_text("0 1 and 2\n", encoding="ascii")
    with uncored.on("half"):
        assert "socket 0: package 1, read on CPU 1" in uncored.uncore("info", "-v")
    assert "it is not a list of packages. They are made anew." in uncored.log, uncored.log
    equal((uncored.folder / "state/sockets").read_text(encoding="ascii"), "1\n", "what is saved now")


CASES = [keeps_its_number, checks_without_writing, tells_what_it_cannot_save]


def run(case):
    with tempfile.TemporaryDirectory(prefix="uncored-sockets-") as name:
        folder = pathlib.Path(name)
        make_trees(folder)
        for state in ("state", "nothing"):
            (folder / state).mkdir()
        case(Uncored(folder))


if os.geteuid() == 0:
    tap.run_functions([(case.__doc__, lambda case=case: run(case)) for case in CASES])
print("1..0 # SKIP it opens counters, which needs root")
