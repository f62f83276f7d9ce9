# SPDX-License-Identifier: BSD-3-Clause
"""Tables of several users: whose may be forgotten by whom, and what a user with too many of them loses. Needs root."""
import contextlib
import errno
import json
import os
import pathlib
import subprocess

import tap
from ranks import (BUILD, DAEMON, NOBODY, PAGE_BYTES, SECONDS, Rank, bytes_of, read_report, region_of, serving,
                   wait_until)

PAGES = 2000
MOVES = f"begin solve touch {PAGES} end solve"
LIVING_MOST, TABLES_MOST, MIB_MOST = 16, 32, 512  # of one uid: uncored(8)


def killed(uncored, team, user=NOBODY):
    rank = Rank(uncored, f"{MOVES} begin last say in wait", team=team, user=user)
    rank.expect("in")
    rank.kill()
    rank.end()


def kept_by(uncored, user):
    """Names of the teams whose tables uncored keeps, the oldest first."""
    done = uncored.command("report", "--json", "--keep", user=user)
    tap.equal(done.returncode, 0, done.stderr)
    return [record["team"] for record in json.loads(done.stdout)]


def run_of(uncored, team):
    """The run of the one table that uncored keeps for this team of nobody's."""
    done = uncored.command("report", "--json", "--keep", "--running")
    run, = [record["run"] for record in json.loads(done.stdout) if record["team"] == team]
    return run


def forget(uncored, by, team, run, of=NOBODY):
    """What uncore_team_forget() returns, and what it says."""
    rank = Rank(uncored, f"forget {of} {team} {run}", user=by)
    result = rank.number()
    return result, rank.end()


@contextlib.contextmanager
def flooded(uncored, count, mib, kind, user=NOBODY):
    """@user has asked for so many tables; gives what it got."""
    flood = subprocess.Popen([BUILD / "tests/ranks/flood", str(count), str(mib), kind], env=uncored.environment(None),
                             user=user, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")
    try:
        got = [int(flood.stdout.readline()) for _ in range(count)]
        tap.equal(flood.stdout.readline(), "done\n", "the last line of the flood")
        yield got
    finally:
        flood.communicate(timeout=SECONDS)
    tap.equal(flood.returncode, 0, "status of the flood")


def job_of_two(uncored, team, user=NOBODY):
    """The reports of two processes that are in a region at once: one report, if they are a team."""
    members = [Rank(uncored, f"begin solve touch {PAGES} say in wait end solve", team=team, user=user,
                    UNCORE_REPORT=str(uncored.folder / f"report-{team}-%p")) for _ in range(2)]
    for member in members:
        member.expect("in")
    for member in members:
        member.go()
    said = [member.end() for member in members]
    tap.equal(said, ["", ""], "stderr")
    return [read_report(path) for path in sorted(uncored.folder.glob(f"report-{team}-*"))]


def is_one_team(reports):
    """Two processes that shared a table."""
    tap.equal([(len(report["members"]), region_of(report, "solve")["count"], "warning" in report)
               for report in reports], [(2, 2, False)], "teams")


def go_alone(reports):
    """Two processes that had no table have each a report with figures, which says why."""
    tap.equal([(report["team"], len(report["members"]), region_of(report, "solve")["count"]) for report in reports],
              [(None, 1, 1)] * 2, "teams")
    for report in reports:
        tap.check(bytes_of(region_of(report, "solve")) >= PAGES * PAGE_BYTES, "bytes")
        tap.check("reported alone" in report["warning"] and "too many tables of teams, or too much memory in them"
                  in report["warning"], report["warning"])


def forgotten_by_root():
    """Root has the table of a user forgotten, which no other user can, and nobody twice"""
    with serving() as uncored:
        killed(uncored, "one")
        killed(uncored, "two")
        killed(uncored, "one", user=DAEMON)
        one, two = run_of(uncored, "own/one"), run_of(uncored, "own/two")
        refused = forget(uncored, DAEMON, "own/one", one)
        tap.equal(kept_by(uncored, NOBODY), ["own/one", "own/two"], "kept after a refusal")
        tap.equal(forget(uncored, 0, "own/one", one + 1)[0], -errno.ENODATA, "another run")
        tap.equal(forget(uncored, 0, "own/one", one), (0, ""), "root's request")
        tap.equal(forget(uncored, 0, "own/one", one)[0], -errno.ENODATA, "the same again")
        tap.equal((kept_by(uncored, NOBODY), kept_by(uncored, DAEMON)), (["own/two"], ["own/one"]), "kept")
        tap.equal(forget(uncored, NOBODY, "own/two", two), (0, ""), "the user's own request")
        tap.equal(kept_by(uncored, NOBODY), [], "kept")
    tap.equal(refused[0], -errno.EPERM, "another user's request")
    tap.check("Only root may look at tables of another user, or have them forgotten." in refused[1], refused[1])


def forgotten_while_it_runs():
    """Members of a team that root has forgotten go on together; who comes later is another team"""
    program = f"begin solve say in wait touch {PAGES} end solve say out wait"
    with serving() as uncored:
        members = [Rank(uncored, program, UNCORE_REPORT=str(uncored.folder / "first")) for _ in range(2)]
        for member in members:
            member.expect("in")
        run = run_of(uncored, "own/job")
        tap.equal(forget(uncored, 0, "own/job", run), (0, ""), "root's request")
        tap.equal(Rank(uncored, MOVES, UNCORE_REPORT=str(uncored.folder / "later")).end(), "", "stderr")
        for member in members:
            member.go()
            member.expect("out")
        for member in members:
            member.go()
        tap.equal([member.end() for member in members], ["", ""], "stderr")
        first, later = (read_report(uncored.folder / name) for name in ("first", "later"))
    is_one_team([first])
    tap.equal([(report["team"], len(report["members"])) for report in (first, later)],
              [("own/job", 2), ("own/job", 1)], "teams")
    tap.equal(first["run"], run, "the first run")
    tap.check(later["run"] > run, f"run {later['run']} after run {run}")


def too_many_living():
    """A user with 16 teams that live gets no table more, and its regions go on alone; another user has its team"""
    with serving() as uncored:
        with flooded(uncored, LIVING_MOST + 2, 0, "living") as got:
            tap.equal(got, [0] * LIVING_MOST + [-errno.EDQUOT] * 2, "what the flood got")
            go_alone(job_of_two(uncored, "mine"))
            is_one_team(job_of_two(uncored, "others", user=DAEMON))
        is_one_team(job_of_two(uncored, "later"))


def too_many_kept():
    """Of a user's tables 32 are kept, the newest; those of another user stay"""
    names = [f"job{number}" for number in range(TABLES_MOST + 3)]
    with serving() as uncored:
        killed(uncored, "others", user=DAEMON)
        for name in names:
            killed(uncored, name)
        kept = kept_by(uncored, NOBODY)
        with flooded(uncored, 3 * TABLES_MOST, 0, "ended") as got:
            tap.equal(got, [0] * 3 * TABLES_MOST, "what the flood got")
            tap.equal(kept_by(uncored, DAEMON), ["own/others"], "of another user")
            is_one_team(job_of_two(uncored, "mine"))
            is_one_team(job_of_two(uncored, "theirs", user=DAEMON))
    tap.equal(kept, ["own/" + name for name in names[3:]], "kept")


def memory_of_tables(uncored):
    """MiB that the tables take which uncored has open."""
    total = 0
    for fd in pathlib.Path(f"/proc/{uncored.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it is closed meanwhile
            if os.readlink(fd).startswith("/memfd:uncored-team."):
                total += os.stat(fd).st_blocks * 512
    return total >> 20


def client_that_leaves(uncored, user):
    """Any client does, also one that has no team."""
    done = uncored.command("stat", "--", "true", user=user)
    tap.equal(done.returncode, 0, done.stderr)


def filled_later():
    """Tables that a user fills after it has got them all take no more than 512 MiB after their processes ended"""
    with serving() as uncored:
        with flooded(uncored, 5, 160, "late") as got:
            tap.equal(got, [0] * 5, "what the flood got")
            client_that_leaves(uncored, NOBODY)
            tap.equal(memory_of_tables(uncored), 5 * 160, "MiB while the processes live")
            is_one_team(job_of_two(uncored, "others", user=DAEMON))
        client_that_leaves(uncored, NOBODY)
        wait_until(lambda: memory_of_tables(uncored) <= MIB_MOST, "the tables to go", uncored.process)
        tap.equal(memory_of_tables(uncored), 3 * 160, "MiB after their end")


def too_much_memory():
    """A user whose tables take 512 MiB gets none more while these live, and another user does"""
    with serving() as uncored:
        with flooded(uncored, 5, MIB_MOST // 4, "living") as got:
            tap.equal(got, [0] * 4 + [-errno.EDQUOT], "what the flood got")
            go_alone(job_of_two(uncored, "mine"))
            is_one_team(job_of_two(uncored, "others", user=DAEMON))
        is_one_team(job_of_two(uncored, "later"))


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (
    forgotten_by_root, forgotten_while_it_runs, too_many_living, too_many_kept, filled_later, too_much_memory)])
