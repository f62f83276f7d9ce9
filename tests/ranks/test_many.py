# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of 128 and 576 ranks that do not wait for each other, and ranks of several threads. Needs root."""
import os
import subprocess

import ranks
import tap
from ranks import PAGE_BYTES, Rank, bytes_of, machine_faults, read_report, region_of, serving

MANY = ranks.BUILD / "tests/ranks/many"
# A node of so many ranks has as many CPUs, and so has room for a connection of each.
ROOM = "[server]\nmax_clients_per_user = 2048\n"
COUNTS = ("count", "ranks", "failed", "open", "died")


def counts_of(report, name):
    region = region_of(report, name)
    return [region[key] for key in COUNTS]


def many(size, regions, passages, pages):
    """The report, and the least and the most faults that may be in region "all". Each passage is read, also a short
    one: only then are sums exact."""
    with serving(ROOM) as uncored:
        path = str(uncored.folder / "report.json")
        done = subprocess.run([MANY, *map(str, (size, regions, passages, pages))], user=ranks.NOBODY, cwd="/",
                              env=uncored.environment("many", UNCORE_REPORT=path, UNCORE_OVERHEAD="0"),
                              capture_output=True, text=True, check=False, timeout=2 * ranks.SECONDS)
        tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
        return read_report(path), *map(int, done.stdout.split())


def sums_of(size, regions, passages, pages):
    report, least, most = ranks.conclusive(lambda: many(size, regions, passages, pages))
    tap.equal(len(report["members"]), size, "members")
    tap.equal(counts_of(report, "all"), [size, size, 0, 0, 0], "all")
    ranks.between(region_of(report, "all"), least, most)
    for number in range(regions):
        name = f"r{number}"
        tap.equal(counts_of(report, name), [size * passages, size, 0, 0, 0], name)
        have = bytes_of(region_of(report, name)) / PAGE_BYTES
        tap.check(size * passages * pages <= have <= most / ranks.TOLERANCE, f"{name}: {have} faults of {most}")


def ranks_4():
    """4 ranks that meet in one short region, again and again: nothing that they touch is lost"""
    sums_of(4, 1, 1000, 20)


def ranks_128():
    """128 ranks in 4 regions: no passage is lost, and the sum is what the kernel counted"""
    sums_of(128, 4, 10, 100)


def ranks_576():
    """576 ranks in 3 regions: no passage is lost, and the sum is what the kernel counted"""
    sums_of(576, 3, 4, 100)


def threads():
    """Threads of several ranks pass one region: all passages count, and bytes count once"""
    with serving() as uncored:
        path = str(uncored.folder / "report.json")
        faults = machine_faults()
        program = "begin joins say in wait end joins threads 4 repeat 50 begin inner touch 10 end inner again"
        members = [Rank(uncored, program, UNCORE_REPORT=path) for _ in range(3)]
        for member in members:
            member.expect("in")
        for member in members:
            member.go()
        tap.equal([member.end() for member in members], [""] * 3, "stderr")
        faults = machine_faults() - faults
        report = read_report(path)
    tap.equal(counts_of(report, "inner"), [3 * 4 * 50, 3, 0, 0, 0], "inner")
    have = bytes_of(region_of(report, "inner")) / PAGE_BYTES
    tap.check(3 * 4 * 50 * 10 <= have <= faults, f"{have} faults of {faults}")


def threads_killed():
    """A rank that is killed while 4 of its threads are inside a region counts as 4 passages that died"""
    with serving() as uncored:
        path = str(uncored.folder / "report.json")
        stays = Rank(uncored, "begin solve say in wait end solve", UNCORE_REPORT=path)
        stays.expect("in")
        dies = Rank(uncored, "threads 4 begin solve say in sleep 1000000", UNCORE_REPORT=path)
        for _ in range(4):
            dies.expect("in")
        dies.kill()
        stays.go()
        tap.equal(stays.end(), "", "stderr")
        report = read_report(path)
    tap.equal(counts_of(report, "solve"), [1, 2, 0, 0, 4], "solve")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in tap.of_suite(
    (ranks_4, threads, threads_killed), long=(ranks_128, ranks_576))])
