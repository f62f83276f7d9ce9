# SPDX-License-Identifier: BSD-3-Clause
"""Records of nodes as libuncore and uncore job write them, made up: nobody measured these figures."""
import json
import random

import pages

ABSENT = {"absent": "This machine has no such memory, as most machines."}
UNITS = dict.fromkeys(("dram.read", "dram.write", "hbm.read", "specitom"), "bytes")


def count(number, own=(1, 1), quality=()):
    """Own: which parts of it moved while the region was alone, and are its share; None: of a job."""
    return {"bytes": int(number), "quality": list(quality),
            **({"alone": int(own[0] * number), "share": int(own[1] * number)} if own else {})}


def socket(number, read, write, own=(1, 1), **more):
    return {"socket": number, "package": number, "window_ns": 2 * 10**9, "skew_ns": 10**5, "quantum_bytes": 0, "metrics": {
        "dram.read": count(read, own, ["estimated"]), "dram.write": count(write, own), "hbm.read": ABSENT,
        "specitom": count(write / 4, own)}, **more}


def region(name, sockets, work=None, ranks=8):
    return {"name": name, "count": 120, "failed": 0, "open": 0, "died": 0, "ranks": ranks, "time_ns": 4 * 10**9, "lost_ns": 0,
            "shared_ns": 10**9, "work": work or {}, "sockets": sockets}


def times(ranks, scale):
    """Nanoseconds of each rank in a region; of eight and more the sixth is slow."""
    return [int(scale * 10**9 * (10 if rank == 5 and ranks >= 8 else 1 + 0.002 * (rank % 7))) for rank in range(ranks)]


def record(host, regions, begun_s=1795408200, ranks=8, **more):
    for number, made in enumerate(regions):
        made.setdefault("member_ns", times(ranks, 1 + number))
    return {"schema": 1, "version": "0.1.0", "platform": "icelake-sp", "generation": "0" * 32, "host": host, "team": "1.0",
            "run": 1, "job": "77", "command": "lbm-proxy", "begun_ns": begun_s * 10**9, "ended_ns": (begun_s + 60) * 10**9, "expected": ranks,
            "metrics": UNITS, "regions": regions, "outside": [],
            "members": [{"rank": i, "pid": 100 + i, "cpus": f"{i}", "died": False} for i in range(ranks)], **more}


def whole(host, scale=1.0, **more):
    """A program of four regions, of which two overlap; one has a hostile name."""
    def both(read, write, own=(1, 1)):
        times = scale * 10**9
        return [socket(i, read * times, write * times, own) for i in range(2)]
    return record(host, [
        region("collide and stream", both(40, 22), {"cells": 2e9 * scale, "flop": 4e11 * scale}),
        region("halo exchange", both(6, 5, (0.5, 0.75))),
        region(pages.HOSTILE[:60], both(12, 12), {"bytes stored": 2e10 * scale}),
        region("checkpoint", both(0.5, 9)),
    ], **more)


def write_nodes(folder, n, seed=1):
    """A file for each node; the third one moves more than all others."""
    folder.mkdir()
    scales = random.Random(seed)
    for i in range(n):
        scale = 1.9 if i == 2 else scales.gauss(1, 0.02)
        (folder / f"n{i:05}.json").write_text(json.dumps(whole(f"n{i:05}", scale)), encoding="utf-8")
    return folder


LABEL = "<b>ab&"


def write_runs(folder, scales=None):
    """Five runs on one node: with more and more ranks, or what each moves."""
    folder.mkdir()
    for i in range(5):
        made = whole("n1", scales[i] if scales else 1 / (i + 1) + 0.1, begun_s=1795408200 + 3600 * i, ranks=2**i)
        (folder / f"run{i}.json").write_text(json.dumps(dict(made, team=f"{i}.0", job=str(i), label=f"{LABEL}{i}")), encoding="utf-8")
    return folder


def at(seconds):
    return (1795298400 + seconds) * 10**9


def job(host, scale=1.0, job_id="123", begin=10, end=610, **more):
    """A record of `uncore job end`."""
    made = [socket(i, 1.2e12 * scale, 7e11 * scale, None, others=0, early_ns=0, late_ns=0) for i in range(2)]
    return {"schema": 1, "version": "0.1.0", "platform": "icelake-sp", "generation": "0" * 32, "host": host, "job": job_id,
            "step": None, "begun_ns": at(begin), "ended_ns": at(end), "uid": 1000, "seconds": float(end - begin), "exit": "0:0",
            "metrics": UNITS, "regions": [{"name": job_id, "sockets": made}], "outside": [], **more}


def incomplete_job(host, **more):
    made = job(host, **more)
    return {**made, "platform": None, "regions": [{"name": made["job"], "sockets": []}], "failure": "the node was restarted"}


def jobs(n, seed=1):
    """A job of n hosts that was requeued once: one host moves more, and one has no figures; another job is met."""
    scales = random.Random(seed)
    first = [job(f"n{i:05}", begin=10, end=70, exit="0:15", step="1") for i in range(2)]
    last = [job(f"n{i:05}", 1.9 if i == 2 else scales.gauss(1, 0.02), begin=1000, end=1600, step="2",
                 exit=pages.HOSTILE[:60]) for i in range(n - 1)]
    return [*first, *last, incomplete_job(f"n{n - 1:05}", begin=1000, end=1600, step="2", exit=pages.HOSTILE[:60]),
            job("n00001", 0.1, job_id="124", begin=1200, end=1300, uid=1001)]
