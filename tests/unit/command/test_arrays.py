# SPDX-License-Identifier: BSD-3-Clause
"""`uncore report --arrays`: files of `uncore run --heap`, written here as uncore-report(5) describes them."""
import copy
import json
import os
import pathlib
import subprocess
import tempfile

import tap
from test_report import SECOND_NS, UNCORE, contains, record, region, report, socket

KEPT = pathlib.Path("/var/lib/uncored")
FIELD, HALO = "/opt/solver+0x11a7 build-id 755a", "/opt/solver+0x2000 build-id 755a"


def site(kind, size, blocks, *frames):
    return {"kind": kind, "most_bytes": size, "most_blocks": blocks, "live_bytes": 0, "live_blocks": 0, "frames": list(frames)}


def part(number, size, blocks):
    return {"site": number, "most_bytes": size, "most_blocks": blocks}


def heap(pid, *regions):
    return {"schema": "uncore-heap-1", "host": "n01", "pid": pid, "rank": None, "least_bytes": 65536,
            "objects": [{"name": "__fields_MOD_p", "bytes": 5 * 10**8, "module": "/opt/solver"}], "unnamed": [],
            "sites": [site(None, 0, 0), site("malloc", 10**9, 2, "/usr/lib/libstdc++.so.6+0x10", FIELD, "/lib/libc.so.6+0x20"),
                      site("mmap", 10**6, 1, HALO)],
            "regions": [{"name": name, "sites": list(parts)} for name, *parts in regions], "lost_blocks": 0}


def one_run():
    return {"run.json": record("n01", region("setup", socket(0, 10, 20)), region("small", socket(0, 60 * 10**9, 10**9)),
                               region("solve", socket(0, 90 * 10**9, 10**10))),
            "heap.1": heap(1, ("solve", part(1, 10**9, 2), part(2, 10**6, 1)), ("small", part(2, 10**6, 1))),
            "heap.2": heap(2, ("setup",), ("solve", part(1, 2 * 10**8, 1)))}


FILES = ["run.json", "heap.1", "heap.2"]


def by_region():
    """Below each candidate are its arrays, the largest first; those of several processes are added up"""
    done = report(one_run(), "--arrays", paths=FILES)
    tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()]
    tap.equal(lines[:9], [
        "region solve: 4 arrays of 1.20 GB", "1.20 GB 3 by malloc: /opt/solver+0x11a7", "1.00 MB 1 by mmap: /opt/solver+0x2000",
        "No lower bound of its time in HBM: `uncore validate --keep` has not run on this machine for this platform.",
        "region small: 1 array of 1.00 MB", "1.00 MB 1 by mmap: /opt/solver+0x2000",
        "No lower bound of its time in HBM: `uncore validate --keep` has not run on this machine for this platform.",
        "region setup: none was allocated",
        "No lower bound of its time in HBM: `uncore validate --keep` has not run on this machine for this platform."], "table")
    contains(done.stdout, "1.00 GB  __fields_MOD_p in /opt/solver", "What moved from and to each of them is not known.")
    few = report(one_run(), "--arrays", "--candidates=60", paths=FILES).stdout
    tap.check("region small" in few and "region setup" not in few, few)


def as_json():
    """As JSON, with the figures of the candidates and without bytes of an array's traffic"""
    said = json.loads(report(one_run(), "--arrays", "--json", paths=FILES).stdout)
    tap.equal([one["region"] for one in said["regions"]], ["solve", "small", "setup"], "order")
    solve = said["regions"][0]
    tap.equal((solve["bytes"], solve["window_ns"], solve["hbm_at_least_ns"]), (10**11, 2 * SECOND_NS, None), "figures")
    tap.equal(solve["arrays"][0], {"kind": "malloc", "place": "/opt/solver+0x11a7", "most_bytes": 1.2 * 10**9, "most_blocks": 3},
              "an array")
    tap.equal([(one["place"], one["most_bytes"]) for one in said["static"]], [("__fields_MOD_p in /opt/solver", 10**9)], "static")


def without_record():
    """Without a record each region of the files is there, and nothing of candidates"""
    done = report(one_run(), "--arrays", paths=["heap.1"])
    tap.equal(done.returncode, 0, "status")
    contains(done.stdout, "region small: 1 array of 1.00 MB", "region solve: 3 arrays of 1.00 GB")
    tap.check("HBM" not in done.stdout, done.stdout)


def what_is_missing():
    """Lost blocks, data without symbols and places without a name are said"""
    files = {"heap.1": heap(1, ("solve", part(0, 10**7, 9)))}
    files["heap.1"].update(lost_blocks=17, unnamed=[{"module": "/opt/solver", "bytes": 3 * 10**9}])
    contains(report(files, "--arrays", paths=["heap.1"]).stdout, "17 blocks are missing", "3.00 GB of static data have no names",
             "9 by other places: not told apart")


def other_files():
    """Another kind of file is refused; a folder is searched for both kinds, and read without the arrays as before"""
    files = one_run()
    broken = copy.deepcopy(files["heap.1"])
    broken["regions"][0]["sites"][0]["site"] = 9
    files["heap.3"] = broken
    files["heap.4"] = json.dumps(heap(4))[:-20]
    for name in ("heap.3", "heap.4"):
        done = report(files, "--arrays", paths=["run.json", name])
        tap.equal(done.returncode, 1, "status")
        contains(done.stderr, f"{name} cannot be read as what `uncore run --heap` writes")
    contains(report(files, paths=["heap.1"]).stderr, "heap.1 is of `uncore run --heap`: --arrays shows it")
    folder = {"run.json": files["run.json"], "heap.1.json": files["heap.1"]}
    contains(report(folder, "--arrays").stdout, "region solve: 3 arrays of 1.00 GB")
    done = report(folder)
    tap.equal((done.returncode, done.stderr), (0, ""), "the plain report of the folder")
    contains(report(files, "--arrays", "--csv").stderr, "--arrays prints a table, or JSON with --json")
    contains(report(files, "--arrays", paths=[]).stderr, "--arrays, --candidates, --hosts")


def bound():
    """At HBM's validated peak a region's bytes take a time, which is called a lower bound"""
    if os.geteuid() != 0:
        raise tap.Skip("needs root")
    with tempfile.TemporaryDirectory(prefix="uncored-arrays-") as name:
        folder = pathlib.Path(name)
        for file, document in one_run().items():
            (folder / file).write_text(json.dumps(document), encoding="utf-8")
        nodes = [{"socket": 0, "peak_bytes_per_ns": peak, "metrics": [{"metric": metric}]}
                 for metric, peak in (("dram.read", 60.0), ("hbm.read", 250.0))]
        said = [kept(folder, {"platform": "icelake-sp", "nodes": some}) for some in (nodes, nodes[:1])]
        run = one_run()["run.json"]
        solve = run["regions"][2]["sockets"][0]["metrics"]
        solve["dram.read"] |= {"share": 70 * 10**9, "alone": 50 * 10**9}
        solve["dram.write"] |= {"share": 10**10, "alone": 10**10}
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        said.append(kept(folder, {"platform": "icelake-sp", "nodes": nodes}))
    contains(said[0], "Lower bound: its 100 GB of DRAM take at least 400 ms of 2.00 s at HBM's validated peak of 250 GB/s.")
    contains(said[1], "No lower bound of its time in HBM: `uncore validate --keep` has no bandwidth of HBM on these sockets.")
    contains(said[2], "Lower bound: its 80.0 GB of DRAM (a share) take at least 320 ms of 2.00 s at HBM's validated peak of 250 GB/s.")


def kept(folder, document):
    """What the table says where this is the kept report of `uncore validate`."""
    (folder / "validated.json").write_text(json.dumps(document), encoding="utf-8")
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                           'mkdir -p "$1" && mount --bind "$2" "$1" && cd "$2" && shift 2 && exec "$@"', "sh", KEPT, folder,
                           UNCORE, "report", "--arrays", *FILES], check=True, capture_output=True, text=True).stdout


tap.run_functions([(case.__doc__, case) for case in (by_region, as_json, without_record, what_is_missing, other_files, bound)])
