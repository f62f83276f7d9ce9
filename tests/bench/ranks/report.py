# SPDX-License-Identifier: BSD-3-Clause
"""report.py UNCORE: `uncore report` of 10,000 files of 55 kB against json.load of the same, both warm.

Prints the CPU time of uncore / that of json.load, and the largest memory of uncore in MB."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

NODES = 10000
METRICS = ("dram.read", "dram.write", "hbm.read", "hbm.write", "pmm.read", "pmm.write", "itom", "specitom")


def value(metric, count):
    if metric[:3] in ("hbm", "pmm"):
        return {"absent": "The simulated machine has no such memory."}
    return {"bytes": count, "quality": ["standin"], "share": count // 2, "alone": count // 3,
            "derived": {"rate": count / 7, "text": "x" * 180}}


def region(number, node):
    sockets = [{"socket": s, "package": s, "window_ns": 2 * 10**9, "skew_ns": 10**6, "quantum_bytes": 0,
                "metrics": {metric: value(metric, 10**9 + 1000 * node + s) for metric in METRICS}} for s in range(2)]
    return {"name": f"region{number}", "count": 10, "failed": 0, "open": 0, "died": 0, "ranks": 48, "time_ns": 10**9,
            "lost_ns": 0, "shared_ns": 100, "work": {"cell": 1000}, "sockets": sockets}


def record(node):
    return {"schema": 1, "version": "0", "platform": "simulated", "generation": "0" * 32, "host": f"n{node:05}",
            "team": "1.0", "run": 1, "job": "1", "command": "x", "begun_ns": 1795408200 * 10**9, "ended_ns": 1795408260 * 10**9,
            "expected": 48, "metrics": dict.fromkeys(METRICS, "bytes"), "regions": [region(i, node) for i in range(13)],
            "outside": [],
            "members": [{"rank": i, "pid": 100 + i, "cpus": str(i), "died": False} for i in range(48)]}


with tempfile.TemporaryDirectory() as folder:
    for i in range(NODES):
        pathlib.Path(folder, f"{i:05}.json").write_text(json.dumps(record(i)), encoding="utf-8")
    began = time.process_time()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            json.load(file)
    load_s = time.process_time() - began
    child = subprocess.Popen([sys.argv[1], "report", "--hosts", f"n[00000-{NODES - 1:05}]", folder],
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"uncore report failed with {status}.")
    print((usage.ru_utime + usage.ru_stime) / load_s, usage.ru_maxrss / 1000)
