# SPDX-License-Identifier: BSD-3-Clause
"""What the threads of a team count by region, with page faults in the place of misses of a cache. Needs root."""
import json
import os

import ranks
import tap
from ranks import Rank, read_report, region_of, serving

ROOT = 0  # where kernel.perf_event_paranoid is 3, only root may count
SLACK = 60  # pages of code, stacks and tables


def about(region, pages):
    misses = region["misses"]
    tap.equal(misses["event"], "page-faults", "event")
    tap.check("absent" not in misses, str(misses))
    tap.check(pages <= misses["count"] <= pages + SLACK, f"{region['name']}: {misses['count']} faults, not {pages}")


def ranks_of(uncored, *programs, **more):
    path = str(uncored.folder / "report.json")
    members = [Rank(uncored, program, user=ROOT, UNCORE_REPORT=path, **{"UNCORE_MISSES": "page-faults", **more})
               for program in programs]
    return path, members


def own():
    """A team has the faults of its own ranks: neither those outside of the region nor those of others on the socket"""
    with serving() as uncored:
        path, members = ranks_of(uncored, "touch 900 begin solve touch 20000 end solve touch 800 say done wait",
                                 "wait begin solve touch 3000 end solve begin deep touch 9000 end deep say done wait")
        members[0].expect("done")
        members[1].go()
        other = Rank(uncored, "begin solve touch 30000 end solve", team="other", user=ROOT)
        members[1].expect("done")
        tap.check("UNCORE_MISSES" not in other.end(), "the other team counted as well")  # its cost would be told
        for member in members:
            member.go()
            tap.equal(member.end(), "", "stderr")
        report = read_report(path)
        shown = uncored.command("report", "--candidates=1", path, user=ROOT).stdout
        table = uncored.command("report", path, user=ROOT).stdout
    about(region_of(report, "solve"), 23000)
    about(region_of(report, "deep"), 9000)
    tap.check(report["cost"]["misses_calls"] >= 4 and report["cost"]["misses_ns"] > 0, str(report["cost"]))
    tap.check("The order is that of page-faults (missed)" in shown, shown)
    tap.equal([line.split()[0] for line in shown.splitlines() if line.startswith((" solve ", " deep "))], ["solve", "deep"],
              "candidates")
    tap.check("LLC" not in shown and "last-level" not in shown, shown)
    tap.check(" more for UNCORE_MISSES (" in table, table)


def killed():
    """What ranks counted before they were killed stays, also of a passage that never ended"""
    with serving() as uncored:
        path, members = ranks_of(uncored, "wait begin solve touch 5000 end solve begin last touch 700 begin inner kill",
                                 "begin solve end solve say up wait begin solve touch 400 end solve begin last touch 50 end last")
        members[1].expect("up")
        members[0].go()
        members[0].process.wait(ranks.SECONDS)
        members[1].go()
        members[1].end()
        report = read_report(path)
    about(region_of(report, "solve"), 5400)
    about(region_of(report, "last"), 750)
    tap.equal(region_of(report, "last")["died"], 1, "died")
    tap.check("absent" in region_of(report, "inner")["misses"], "no passage has ended")


def differing():
    """If not all ranks are asked, or they are asked for different events, the report has no figure but says why"""
    with serving() as uncored:
        for wish, why in (("", "1 of 2 passages were counted."), ("rffffffffffffffff", "but the team counts another event.")):
            path, members = ranks_of(uncored, "begin solve touch 10 end solve say done wait")
            members[0].expect("done")
            members += ranks_of(uncored, "begin solve touch 10 end solve", UNCORE_MISSES=wish)[1]
            members[1].end()
            members[0].go()
            members[0].end()
            misses = region_of(read_report(path), "solve")["misses"]
            tap.check("count" not in misses and why in misses["absent"], json.dumps(misses))
            os.unlink(path)


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (own, killed, differing)])
