# SPDX-License-Identifier: BSD-3-Clause
"""Locks on a team's table that no member holds. A process of the same user can set them, since it can have the table:
here it is the test itself. Nobody waits for such a lock, and what is told is true. Needs root."""
import contextlib
import fcntl
import json
import os
import pathlib
import threading

import tap
from ranks import PAGE_BYTES, SECONDS, Rank, bytes_of, read_report, region_of, serving

PAGES = 2000
PLACES = 1024
MOVES = f"begin solve touch {PAGES} end solve"


def start(uncored, steps, report="report"):
    return Rank(uncored, steps, UNCORE_REPORT=str(uncored.folder / report))


@contextlib.contextmanager
def table_of(rank):
    """A descriptor of the table that the rank has."""
    for link in pathlib.Path(f"/proc/{rank.process.pid}/fd").iterdir():
        if os.readlink(link).startswith("/memfd:") and "own/job" in os.readlink(link):
            table = os.open(link, os.O_RDWR)
    try:
        yield table
    finally:
        os.close(table)


def other_places():
    """Where all places that no member has are locked, the team goes on, and who comes then is told, and goes alone"""
    with serving() as uncored:
        members = [start(uncored, f"begin solve say in wait touch {PAGES} end solve {MOVES} say out wait")
                   for _ in range(2)]
        for member in members:
            member.expect("in")
        with table_of(members[0]) as table:
            fcntl.lockf(table, fcntl.LOCK_EX | fcntl.LOCK_NB, PLACES - 2, 2)
            said = start(uncored, MOVES, "late").end()
            for member in members:
                member.go()
                member.expect("out")
            for member in members:
                member.go()
            tap.equal([member.end() for member in members] + [said], [""] * 3, "stderr")
        report, late = (read_report(uncored.folder / name) for name in ("report", "late"))
    tap.equal((len(report["members"]), region_of(report, "solve")["count"]), (2, 4), "the team")
    tap.check(bytes_of(region_of(report, "solve")) >= 4 * PAGES * PAGE_BYTES, "bytes of the team")
    tap.equal((late["team"], region_of(late, "solve")["count"]), (None, 1), "the one that came late")
    tap.check("Each of the 1024 places of this team is held by a process." in late["warning"], late["warning"])


def place_of_the_dead():
    """A member that was killed counts as living while its place is locked; when it is free, the report has its death"""
    with serving() as uncored:
        dies = start(uncored, f"{MOVES} begin last say in wait")
        dies.expect("in")
        stays = start(uncored, f"begin solve say in wait touch {PAGES} sleep 1100 end solve {MOVES}")
        stays.expect("in")
        with table_of(stays) as table:
            taker = threading.Thread(target=fcntl.lockf, args=(table, fcntl.LOCK_EX, 1, 0))  # waits for slot 0
            taker.start()
            dies.kill()
            taker.join(SECONDS)
            tap.check(not taker.is_alive(), "the place of the dead is free")
            stays.go()
            tap.equal(stays.end(), "", "stderr")
            tap.check(not (uncored.folder / "report").exists(), "one seems to live, so nobody reports")
            said = uncored.command("report")
            tap.equal((said.returncode, "1 process still runs" in said.stdout), (0, True), said.stdout)
        # to close the table has given up the lock
        shown = uncored.command("report", "--json")
        tap.equal(shown.returncode, 0, shown.stderr)
    report, = json.loads(shown.stdout)
    tap.equal({member["pid"]: member["died"] for member in report["members"]},
              {dies.process.pid: True, stays.process.pid: False}, "members")
    solve, last = region_of(report, "solve"), region_of(report, "last")
    tap.equal((solve["count"], solve["open"], solve["died"], last["died"]), (3, 0, 0, 1), "passages")
    tap.check(bytes_of(solve) >= 3 * PAGES * PAGE_BYTES, f"{bytes_of(solve)} bytes")
    tap.check("Ranks that were killed: 1 of 2" in report["warning"], report["warning"])


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (other_places, place_of_the_dead)])
