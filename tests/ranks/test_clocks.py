# SPDX-License-Identifier: BSD-3-Clause
"""Members in time namespaces of their own, whose clocks are ahead of uncored's or behind it. Needs root."""
import calendar
import json
import os
import re
import subprocess
import time

import tap
from ranks import BUILD, MEMBER, NOBODY, PAGE_BYTES, SECONDS, Rank, bytes_of, read_report, region_of, serving

PAGES = 2000
AHEAD = 100000  # seconds
BEHIND = -int(time.monotonic() / 2)  # no clock may be below zero
NAMESPACE = ("unshare", "--user", "--map-root-user", "--fork", "--kill-child", "--time", "--monotonic")


class Shifted(Rank):
    """A rank whose clock is so many seconds ahead."""

    def __init__(self, uncored, steps, seconds):
        self.process = subprocess.Popen(
            [*NAMESPACE, str(seconds), MEMBER, *steps.split()], user=NOBODY, text=True, cwd="/",
            env=uncored.environment("job", UNCORE_REPORT=str(uncored.folder / "report")), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def times_are_possible(report, since):
    """No time of the report is longer than the test took."""
    most = (time.monotonic() - since) * 1e9
    n_members = len(report["members"])
    for region in report["regions"]:
        tap.check(region["time_ns"] <= n_members * most, f"time_ns {region['time_ns']} of {most}")
        for key in ("window_ns", "lost_ns", "shared_ns"):
            tap.check(region.get(key, 0) <= most, f"{key} {region.get(key)} of {most}")


def one_team():
    """Members with other clocks are one team with right times"""
    program = (f"begin solve touch {PAGES} say in wait repeat 30 begin inner touch 10 sleep 5 end inner sleep 5 again "
               f"touch {PAGES} end solve")
    since = time.monotonic()
    with serving() as uncored:
        members = [Shifted(uncored, program, seconds) for seconds in (0, AHEAD, BEHIND)]
        for member in members:
            member.expect("in")
        for member in members:
            member.go()
        tap.equal([member.end() for member in members], [""] * 3, "stderr")
        report = read_report(uncored.folder / "report")
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "failed", "open", "died")], [3, 3, 0, 0, 0], "solve")
    tap.check(bytes_of(region) >= 6 * PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")
    times_are_possible(report, since)


def killed(seconds_of_dead, seconds_of_other):
    since = time.monotonic()
    with serving() as uncored:
        # it looks for the dead before it dies, at a time of its own
        dies = Shifted(uncored, "begin solve sleep 1100 begin inner end inner say in wait", seconds_of_dead)
        dies.expect("in")
        early = uncored.folder / "early"
        stays = Shifted(uncored, "begin other say in wait sleep 1100 begin inner end inner sleep 1100 begin inner "
                        f"end inner report {early} end other", seconds_of_other)
        stays.expect("in")
        dies.kill()
        dies.process.stdout.read()  # until all of the namespace are gone
        stays.go()
        tap.equal(stays.end(), "", "stderr")
        records = read_report(early), read_report(uncored.folder / "report")
    for record in records:
        tap.equal([member["died"] for member in record["members"]], [True, False], "members")
        tap.equal(region_of(record, "solve")["died"], 1, "solve")
        times_are_possible(record, since)


def killed_ahead():
    """Where a member whose clock is ahead was killed, one whose clock is behind finds out"""
    killed(AHEAD, BEHIND)


def killed_behind():
    """Where a member whose clock is behind was killed, one whose clock is ahead finds out"""
    killed(BEHIND, AHEAD)


def all_killed():
    """When figures of killed members were read is told right, whatever the clock of who asks"""
    begun = int(time.time())
    with serving() as uncored:
        dies = Shifted(uncored, "begin solve say in wait", AHEAD)
        dies.expect("in")
        dies.kill()
        dies.process.stdout.read()
        for seconds in (0, AHEAD, BEHIND):
            shown = subprocess.run(
                [*NAMESPACE, str(seconds), BUILD / "client/uncore", "report", "--json", "--keep"], user=NOBODY, text=True,
                env=uncored.environment(None), capture_output=True, check=False, timeout=SECONDS, cwd="/")
            tap.equal(shown.returncode, 0, shown.stderr)
            warning = json.loads(shown.stdout)[0]["warning"]
            last = re.search(r"uncored noticed at (\S+Z) that", warning)
            tap.check(last, warning)
            read = calendar.timegm(time.strptime(last[1], "%Y-%m-%dT%H:%M:%SZ"))
            tap.check(begun - 1 <= read <= time.time(), f"{warning} (asked at {time.time() - begun} s)")


if os.geteuid() != 0:
    tap.skip_all("needs root")
if subprocess.run([*NAMESPACE, str(AHEAD), "true"], user=NOBODY, capture_output=True, check=False).returncode:
    tap.skip_all("this kernel has no time namespaces, or lets no user have one")
tap.run_functions([(body.__doc__, body) for body in (one_team, killed_ahead, killed_behind, all_killed)])
