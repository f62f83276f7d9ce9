# SPDX-License-Identifier: BSD-3-Clause
"""Processes without a team: they share their table with the children that they fork, and the last of them reports. Needs
root."""
import os
import subprocess
import sys

import ranks
import tap
from ranks import PAGE_BYTES, Rank, bytes_of, machine_faults, read_report, region_of, serving

PAGES = 20000
# A module for Python's workers, which end by os._exit().
WORKERS = f"""
import ctypes, mmap, multiprocessing, sys
uncore = ctypes.CDLL(sys.argv[1])

def passage(name):
    uncore.uncore_region_begin(name)
    memory = mmap.mmap(-1, {PAGES} * mmap.PAGESIZE)
    for page in range({PAGES}):
        memory[page * mmap.PAGESIZE] = 1
    uncore.uncore_region_end(name)

passage(b"parent")
with multiprocessing.get_context("fork").Pool(3) as pool:
    pool.map(passage, [b"worker"] * 12, 1)
"""


def start(uncored, steps, report="report"):
    return Rank(uncored, steps, team=None, UNCORE_REPORT=str(uncored.folder / report))


def reports(uncored):
    return {path.name: read_report(path) for path in uncored.folder.glob("report*")}


def one_report(uncored):
    found = reports(uncored)
    tap.equal(list(found), ["report"], "files")
    return found["report"]


def counts(record):
    return {region["name"]: region["count"] for region in record["regions"]}


def in_children():
    """What a forked child did is in the report of its parent, also if it ended by _exit(2)"""
    for end in ("", " quit"):
        with serving() as uncored:
            faults = machine_faults()
            said = start(uncored, f"begin a touch {PAGES} end a fork begin b touch {PAGES} end b{end}").end()
            faults = machine_faults() - faults
            record = one_report(uncored)
        tap.equal(said, "", "stderr")
        tap.equal((counts(record), record["team"], record["pid"]), ({"a": 1, "b": 1}, None, None), "record")
        tap.equal([member["died"] for member in record["members"]], [False, bool(end)], "members that died")
        tap.check("warning" not in record, f"{record}")
        for name in "ab":
            tap.check(PAGES <= bytes_of(region_of(record, name)) / PAGE_BYTES <= faults, f"{record}")


def last_one():
    """The last process that ends reports, and not its parent that ended before"""
    with serving() as uncored:
        rank = start(uncored, "begin a end a detach begin b end b say in orphan")
        rank.expect("in")
        rank.go()
        tap.equal(rank.end(), "", "stderr")
        record = one_report(uncored)
    tap.equal(counts(record), {"a": 1, "b": 1}, "passages")
    tap.equal([member["died"] for member in record["members"]], [False, False], "members that died")


def killed_child():
    """A child that is killed inside a region counts as died there; its parent reports"""
    with serving() as uncored:
        rank = start(uncored, f"begin a end a outlive begin b touch {PAGES} kill")
        tap.equal(rank.end(), "", "stderr")
        record = one_report(uncored)
    tap.equal((counts(record), region_of(record, "b")["died"]), ({"a": 1, "b": 0}, 1), "record")


def in_workers():
    """Of Python's worker processes every passage is in the report"""
    with serving() as uncored:
        path = str(uncored.folder / "report")
        done = subprocess.run([sys.executable, "-c", WORKERS, ranks.BUILD / "client/libuncore.so"], text=True,
                              env=uncored.environment(None, UNCORE_REPORT=path), check=False,
                              capture_output=True, timeout=ranks.SECONDS)
        tap.equal((done.returncode, done.stderr), (0, ""), "status")
        record = one_report(uncored)
    tap.equal(counts(record), {"parent": 1, "worker": 12}, "passages")
    tap.check(12 * PAGES / 3 <= bytes_of(region_of(record, "worker")) / PAGE_BYTES, f"{record}")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (in_children, last_one, killed_child, in_workers)])
