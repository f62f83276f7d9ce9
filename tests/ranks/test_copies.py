# SPDX-License-Identifier: BSD-3-Clause
"""Two copies of libuncore in one process, as a program and a module of Python may bring them. The kernel's locks belong
to the process, and not to a copy. Needs root."""
import contextlib
import os
import re
import shutil
import subprocess

import tap
from ranks import BUILD, NOBODY, PAGE_BYTES, SECONDS, Rank, bytes_of, read_report, region_of, serving

PAGES = 2000


@contextlib.contextmanager
def serving_with_copy():
    """uncored, and the path of a copy of libuncore."""
    with serving() as uncored:
        copy = uncored.folder / "libuncore-copy.so"
        shutil.copy(BUILD / "client/libuncore.so.0", copy)
        yield uncored, copy


def start(uncored, steps):
    return Rank(uncored, steps, UNCORE_REPORT=str(uncored.folder / "report"))


def check_report(uncored, n_members, **passages):
    """One report of all, in which nobody died and each region has the bytes of its passages."""
    report = read_report(uncored.folder / "report")
    tap.equal([member["died"] for member in report["members"]], [False] * n_members, "members")
    tap.equal({region["name"]: region["count"] for region in report["regions"]}, passages, "passages")
    for name, count in passages.items():
        region = region_of(report, name)
        tap.equal((region["failed"], region["open"], region["died"]), (0, 0, 0), name)
        tap.check(bytes_of(region) >= count * PAGES * PAGE_BYTES, f"{name}: {bytes_of(region)} bytes")


def passage(name):
    return f"begin {name} touch {PAGES} end {name}"


def both_are_members():
    """Two copies in a process are two members of its team; the last of them reports for both"""
    with serving_with_copy() as (uncored, copy):
        said = start(uncored, f"begin a copy {copy} {passage('b')} first touch {PAGES} end a copy {copy} "
                     f"{passage('b')} first {passage('a')}").end()
        tap.equal(said, "", "stderr")
        check_report(uncored, 2, a=2, b=2)


def beside_others():
    """Another process takes neither copy for dead"""
    with serving_with_copy() as (uncored, copy):
        other = start(uncored, f"begin c touch {PAGES} say in wait sleep 1100 end c {passage('c')} say done wait")
        other.expect("in")
        both = start(uncored, f"begin a copy {copy} begin b say in wait touch {PAGES} end b first end a say out wait")
        both.expect("in")
        other.go()
        other.expect("done")
        both.go()
        both.expect("out")
        other.go()
        tap.equal(other.end(), "", "stderr")
        both.go()
        tap.equal(both.end(), "", "stderr")
        check_report(uncored, 3, a=1, b=1, c=2)


def in_children():
    """The copies of a forked child are members beside those of its parent"""
    with serving_with_copy() as (uncored, copy):
        said = start(uncored, f"{passage('a')} copy {copy} {passage('b')} first fork {passage('a')} copy {copy} "
                     f"{passage('b')} first {passage('a')} copy {copy} {passage('b')}").end()
        tap.equal(said, "", "stderr")
        check_report(uncored, 4, a=3, b=3)


def one_collects():
    """A copy that is not a member takes the record of the other's team, which stays a member"""
    with serving_with_copy() as (uncored, copy):
        rank = start(uncored, f"begin a copy {copy} record own/job record own/job first touch {PAGES} end a "
                     f"{passage('a')}")
        tap.equal([rank.number() for _ in range(2)], [1, 1], "processes that live")
        tap.equal(rank.end(), "", "stderr")
        check_report(uncored, 1, a=2)


def calls_itself():
    """A copy calls its own functions, not those of the copy that the program is linked with"""
    with serving_with_copy() as (uncored, copy):
        said = start(uncored, f"end never copy {copy} {passage('b')} end b").end()
        failure = read_report(uncored.folder / "report")["failure"]
    tap.equal(said.splitlines(), ["end never: Region never is not open in this thread.",
                                  "end b: Region b is not open in this thread."], "stderr")
    tap.equal(failure, "Region b is not open in this thread.", "failure")


def goes_with_its_module():
    """A copy in a module is unloaded with it, and threads that were in it end later"""
    with serving() as uncored:
        done = subprocess.run([BUILD / "tests/ranks/unload", BUILD / "tests/ranks/unload-module.so", "3"], text=True,
                              env=uncored.environment(None), user=NOBODY, capture_output=True, check=False,
                              timeout=SECONDS)
    tap.equal(done.returncode, 0, "status")
    tap.equal(len(re.findall(r"^ *module +1 ", done.stderr, re.M)), 3, f"reports: {done.stderr}")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (both_are_members, beside_others, in_children, one_collects,
                                                  calls_itself, goes_with_its_module)])
