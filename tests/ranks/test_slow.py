# SPDX-License-Identifier: BSD-3-Clause
"""How long each rank was in a region: one that is slow, killed, still inside, or not there is told apart. Prints TAP.

Sleeps on a busy machine are longer than they should be. So the tests compare ranks, not seconds.
"""
import json
import math

import ranks
import tap

RANKS, SLOW = 8, 5
MS, SLOW_MS = 100, 1000


def member(uncored, rank, steps, **more):
    return ranks.Rank(uncored, steps, UNCORE_REPORT=str(uncored.folder / "report.json"), PMI_RANK=str(rank), PMI_SIZE=str(RANKS), **more)


def outliers_of(times):
    """By the rule of uncore-report(5), the farthest first: (rank, time)."""
    known = sorted(one for one in times if one)
    lower, median, upper = (known[math.ceil(share * len(known)) - 1] for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (upper - lower)
    found = [(rank, one) for rank, one in enumerate(times) if one and not lower - reach <= one <= upper + reach
             and abs(one - median) >= 0.05 * median]
    return sorted(found, key=lambda one: -abs(one[1] - median))


def times_of(report, region):
    """Of each rank, in their order."""
    at = [one["rank"] for one in report["members"]]
    return [region["member_ns"][at.index(rank)] for rank in range(len(at))]


def slow():
    """Of 8 ranks the one that sleeps ten times as long is named first, in the report and its table"""
    with ranks.serving() as uncored:
        steps = "begin start say in wait end start begin solve sleep {} end solve"
        members = [member(uncored, rank, steps.format(SLOW_MS if rank == SLOW else MS)) for rank in range(RANKS)]
        for one in members:
            one.expect("in")
        for one in members:
            one.go()
        for one in members:
            one.end()
        path = uncored.folder / "report.json"
        report = ranks.read_report(path)
        shown = uncored.command("report", str(path)).stdout
    region = ranks.region_of(report, "solve")
    times, told = times_of(report, region), region["rank_time"]
    tap.equal((told["ranks"], told["not_known"], told["dead"]), (RANKS, 0, []), "ranks")
    tap.equal(sum(times), region["time_ns"], "the sum over ranks")
    tap.equal(told["quartiles_ns"], [sorted(times)[i] for i in (0, 1, 3, 5, 7)], "quartiles")
    tap.equal(times.index(max(times)), SLOW, "the rank that was inside for the longest time")
    tap.equal([(one["rank"], one["time_ns"]) for one in told["outliers"]], outliers_of(times), "outliers")
    tap.equal((told["outliers"][0]["rank"], told["outliers"][0]["host"]), (SLOW, report["host"]), "the farthest")
    tap.equal(told["outliers"][0]["pid"], members[SLOW].process.pid, "its process")
    tap.check(f"the farthest rank {SLOW}: " in shown, shown)


def killed():
    """The time of a rank that was killed inside a region is not known, that of one killed later is; both are named"""
    with ranks.serving() as uncored:
        steps = [f"begin solve sleep {MS} end solve say done wait"] * 2 + ["begin solve say done wait end solve"]
        members = [member(uncored, rank, text) for rank, text in enumerate(steps)]
        for one in members:
            one.expect("done")
        for one in members[1:]:
            one.kill()
        members[0].go()
        members[0].end()
        report = ranks.read_report(uncored.folder / "report.json")
    region = ranks.region_of(report, "solve")
    times, told = times_of(report, region), region["rank_time"]
    tap.check(times[0] and times[1] and times[2] is None, f"{times}")
    tap.equal((told["ranks"], told["not_known"]), (2, 1), "ranks")
    tap.equal([(one["rank"], one["time_ns"]) for one in told["dead"]], [(2, None), (1, times[1])], "the dead")


def inside():
    """A rank that is inside has a time so far, which grows, and one that did not enter has none"""
    with ranks.serving() as uncored:
        members = [member(uncored, rank, f"begin {name} say in wait end {name}") for rank, name in enumerate(("solve", "other"))]
        for one in members:
            one.expect("in")
        found = []
        for _ in range(2):
            report = json.loads(uncored.command("report", "--running", "--json").stdout)[0]
            found.append(times_of(report, ranks.region_of(report, "solve")))
        tap.equal(ranks.region_of(report, "solve")["time_ns"], 0, "the time of what has ended")
        for one in members:
            one.go()
            one.end()
    tap.check(0 < found[0][0] < found[1][0] and found[0][1] == found[1][1] == 0, f"{found}")


tap.run_functions([(body.__doc__, body) for body in (slow, killed, inside)])
