# SPDX-License-Identifier: BSD-3-Clause
"""What reports of many nodes take of memory: the peak of the command, whatever the machine does meanwhile."""
import json
import os
import pathlib
import subprocess
import tempfile

import tap

UNCORE = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"], "client/uncore")
NODES = 3000
MOST_KB = 2500 + 6 * NODES  # 62.5 MB for 10,000
ABSENT = {"absent": "This machine has no such memory, as most machines."}
COUNT = {"bytes": 10**9, "quality": ["estimated"], "share": 10**9, "alone": 10**8}
METRICS = {"dram.read": COUNT, "dram.write": COUNT, "hbm.read": ABSENT, "hbm.write": ABSENT, "itom": COUNT}


def sockets(**more):
    return [{"socket": i, "package": i, "window_ns": 10**9, "skew_ns": 10**5, "metrics": METRICS, **more} for i in range(2)]


def of_regions(host):
    return {"schema": 1, "version": "0", "platform": "icelake-sp", "generation": "0" * 32, "host": host, "team": "1.0",
            "run": 1, "job": "1", "command": "x", "begun_ns": 1795408200 * 10**9, "ended_ns": 1795408260 * 10**9, "expected": 1,
            "metrics": dict.fromkeys(METRICS, "bytes"), "members": [{"rank": 0, "pid": 1, "cpus": "0", "died": False}],
            "regions": [{"name": "solve", "count": 1, "failed": 0, "open": 0, "died": 0, "ranks": 1, "time_ns": 10**9,
                         "lost_ns": 0, "shared_ns": 0, "work": {}, "sockets": sockets(quantum_bytes=0)}],
            "outside": sockets(quantum_bytes=0)}


def of_job(host):
    return {"schema": 1, "version": "0", "platform": "icelake-sp", "generation": "0" * 32, "host": host, "job": "1",
            "begun_ns": 1795408200 * 10**9, "ended_ns": 1795408260 * 10**9, "uid": 0, "seconds": 60.0, "exit": "0:0",
            "metrics": dict.fromkeys(METRICS, "bytes"), "outside": [],
            "regions": [{"name": "1", "sockets": sockets(quantum_bytes=0, others=0, early_ns=0, late_ns=0)}]}


def peak(make, *words):
    """In kB. Each node has a file."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = json.dumps(make("HOST")).split("HOST")
        for i in range(NODES):
            pathlib.Path(folder, f"1@n{i:05}.json").write_text(f"{before}n{i:05}{after}", encoding="utf-8")
        with open(pathlib.Path(folder, "out"), "w+", encoding="utf-8") as out, \
                subprocess.Popen([UNCORE, *words, folder], stdout=out) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            out.seek(0)  # a line at a time: the peak of this process counts as that of the next child
            tap.check(any(f"{NODES} node" in line or f"{NODES} hosts" in line or f"n{NODES - 1:05}" in line for line in out), words)
        tap.equal(status, 0, "status")
        return usage.ru_maxrss


def regions():
    """uncore report of many nodes has at most 6 kB for each"""
    most = peak(of_regions, "report")
    tap.check(most <= MOST_KB, f"{most} kB")


def jobs():
    """uncore job report of many nodes has at most 6 kB for each, also as CSV, as JSON and with all nodes"""
    for words in ((), ("--csv",), ("--json",), ("--nodes",)):
        most = peak(of_job, "job", "report", "1", *words)
        tap.check(most <= MOST_KB, f"{words}: {most} kB")


tap.run_functions([(body.__doc__, body) for body in (regions, jobs)])
