# SPDX-License-Identifier: BSD-3-Clause
"""Where reports go: no rank is lost when uncored is restarted as a job begins, and no report replaces one that somebody
still wants. Needs root."""
import json
import os
import time

import ranks
import tap
from ranks import Rank, reports_at, serving

RANKS = 4
ROUNDS = int(os.environ.get("UNCORE_TEST_RESTARTS", "12"))
STEPS = 12  # of half a millisecond: in that time ranks join their team here
MOVES = "begin solve touch 100 end solve"


def pids_in(reports):
    """Process ids of all ranks that some report has; one that came as a run ended is in two."""
    return sorted({member["pid"] for report in reports for member in report["members"]})


def restarted_once(uncored, number):
    """A job of four; uncored is killed or restarted meanwhile. Returns the reports, and which ranks there were."""
    path = uncored.folder / f"round-{number}.json"
    members = [Rank(uncored, f"say up wait {MOVES} sleep 20 {MOVES}", team=f"round-{number}", UNCORE_REPORT=str(path))
               for _ in range(RANKS)]
    for member in members:
        member.expect("up")
    for member in members:
        member.go()
    time.sleep(number % STEPS / 2000)
    if number // 2 % 2:
        uncored.kill()
    else:
        uncored.restart()
    uncored.expect_ready()
    said = [member.end() for member in members]
    return reports_at(path), sorted(member.process.pid for member in members), said


def restarted_at_start():
    """Where uncored is restarted as a job begins, each rank is in some report"""
    with serving(kind=ranks.KeptUncored) as uncored:
        for number in range(ROUNDS):
            reports, pids, said = restarted_once(uncored, number)
            tap.equal(pids_in(reports), pids, f"ranks in the reports of round {number}, which said {said}")
        left = [path.name for path in uncored.folder.glob(".*")]
    tap.equal(left, [], "files that are left")


def sockets_of(region):
    """What a row says of each socket."""
    return [(socket["metrics"], socket["window_ns"]) for socket in region["sockets"]]


def goes_beside(path, said, number):
    """The rank said where its report is."""
    tap.equal(said, f"uncore: {path} is there, and is not of an earlier run of this job step. The report is in "
              f"{path}.{number}.\n", "stderr")


def alone_beside_team():
    """Ranks that reach no uncored report beside their team, with their job step and the reason"""
    with serving() as uncored:
        path = uncored.folder / "report.json"
        members = [Rank(uncored, f"{MOVES} say in wait {MOVES}", UNCORE_REPORT=str(path)) for _ in range(2)]
        for member in members:
            member.expect("in")
        alone = [Rank(uncored, f"say up wait {MOVES}", UNCORE_REPORT=str(path), UNCORE_SOCKET="/nonexistent")
                 for _ in range(2)]
        for rank in alone:
            rank.expect("up")
        for rank, there in zip(alone, ("", f"The report is in {path}.2.")):
            rank.go()
            said = rank.end()
            tap.check("begin solve: Cannot connect" in said and there in said, said)
        for member in members:
            member.go()
        goes_beside(path, "".join(member.end() for member in members), 3)
        reports = reports_at(path)
        joined = json.loads(uncored.command("report", "--json", str(uncored.folder)).stdout)
    tap.equal([(report["team"], report["step"], len(report["members"])) for report in reports],
              [(None, "own/job", 1)] * 2 + [("own/job", "own/job", 2)], "reports")
    tap.equal(pids_in(reports), sorted(rank.process.pid for rank in members + alone), "ranks")
    for report in reports[:2]:
        tap.check("without the others of its job step" in report["warning"], report["warning"])
    tap.equal((joined["runs"], joined["apart"]), ([], [0, 1, 2]), "records that are in a sum, and in none")
    tap.equal([(row["name"], row["node"], sockets_of(row)) for row in joined["total"]["regions"]],
              [("solve", place, sockets_of(report["regions"][0])) for place, report in enumerate(reports)], "rows")


def two_tables():
    """Two teams of one name, because the tables were lost, are two runs and have a report each"""
    program = f"{MOVES} say in wait {MOVES}"
    with serving() as uncored:
        path = uncored.folder / "report.json"
        first = [Rank(uncored, program, UNCORE_REPORT=str(path)) for _ in range(2)]
        for member in first:
            member.expect("in")
        uncored.stop()
        uncored.start()
        second = [Rank(uncored, program, UNCORE_REPORT=str(path)) for _ in range(2)]
        for member in second:
            member.expect("in")
        members = first + second
        for member in members:
            member.go()
        for member in members:
            member.end()
        reports = reports_at(path)
    tap.equal([(report["step"], len(report["members"])) for report in reports], [("own/job", 2)] * 2, "reports")
    tap.equal(pids_in(reports), sorted(member.process.pid for member in members), "ranks")


def one_after_the_other():
    """A later run of a team replaces its report; another team's is beside it"""
    with serving() as uncored:
        path = uncored.folder / "report.json"
        last = 0
        for _ in range(2):
            tap.equal(Rank(uncored, MOVES, team="one", UNCORE_REPORT=str(path)).end(), "", "stderr")
            report, = reports_at(path)
            tap.check(report["run"] > last, f"run {report['run']} after run {last}")
            last = report["run"]
        last = 0  # two teams that begin at once may have the same number
        for _ in range(2):
            goes_beside(path, Rank(uncored, MOVES, team="two", UNCORE_REPORT=str(path)).end(), 2)
            one, two = reports_at(path)
            tap.equal([(one["step"], one["run"]), two["step"]], [("own/one", report["run"]), "own/two"], "reports")
            tap.check(two["run"] > last, f"run {two['run']} after run {last}")
            last = two["run"]


def child_of_an_earlier_run():
    """A child that lived while a run ended does not replace its report by that of the next run; a later one does"""
    with serving() as uncored:
        path = uncored.folder / "report.json"
        rank = Rank(uncored, "begin a end a detach say in orphan begin b end b", UNCORE_REPORT=str(path))
        rank.expect("in")
        rank.go()
        goes_beside(path, rank.end(), 2)
        tap.equal([region["name"] for report in reports_at(path) for region in report["regions"]], ["a", "b"], "regions")
        tap.equal(Rank(uncored, "sleep 20 fork begin c end c", UNCORE_REPORT=str(path)).end(), "", "stderr")
        tap.equal([region["name"] for report in reports_at(path) for region in report["regions"]], ["c", "b"], "regions")


def runs_have_rows():
    """uncore report never adds runs of one host that were one after the other"""
    with serving() as uncored:
        for name in ("a", "b", "c"):
            path = uncored.folder / f"{name}.json"
            tap.equal(Rank(uncored, MOVES, team=name, UNCORE_REPORT=str(path)).end(), "", "stderr")
        reports = reports_at(uncored.folder / "[abc].json")
        joined = json.loads(uncored.command("report", "--json", str(uncored.folder)).stdout)
        table = uncored.command("report", str(uncored.folder)).stdout
    tap.equal((joined["runs"], joined["apart"]), ([[0], [1], [2]], []), "records that are in a sum, and in none")
    tap.equal([(row["run"], sockets_of(row)) for row in joined["total"]["regions"]],
              [(number, sockets_of(report["regions"][0])) for number, report in enumerate(reports, 1)], "rows")
    tap.check(all(f"\n solve#{number} " in table for number in (1, 2, 3)), table)


def of_uncore_run():
    """uncore run replaces the report of an earlier one, though each gives its team another name"""
    with serving() as uncored:
        path = uncored.folder / "report.json"
        steps = set()
        for program in (MOVES, f"{MOVES} kill", MOVES):
            done = uncored.command("run", "-o", str(path), "sh", "-c", f"{ranks.MEMBER} {program}; true")
            tap.equal(done.stderr.replace("Killed\n", ""), "", "stderr")
            steps |= {report["step"] for report in reports_at(path)}
            tap.equal(len(reports_at(path)), 1, "reports")
    tap.equal(len(steps), 3, "names")


def not_joined():
    """The report says how many of the processes that the launcher announced did not join"""
    with serving() as uncored:
        path = uncored.folder / "report.json"
        members = [Rank(uncored, f"{MOVES} say in wait", UNCORE_REPORT=str(path), MPI_LOCALNRANKS="5")
                   for _ in range(3)]
        for member in members:
            member.expect("in")
        for member in members:
            member.go()
            tap.equal(member.end(), "", "stderr")
        report, = reports_at(path)
        table = uncored.command("report", str(path)).stdout
    tap.equal((report["expected"], report["not_joined"], len(report["members"])), (5, 2, 3), "ranks")
    tap.check(" 2 of the 5 processes that the launcher announced on this node did not join" in table, table)


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (
    restarted_at_start, alone_beside_team, two_tables, one_after_the_other, child_of_an_earlier_run, runs_have_rows,
    of_uncore_run, not_joined)])
