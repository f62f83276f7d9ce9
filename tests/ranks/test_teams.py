# SPDX-License-Identifier: BSD-3-Clause
"""Teams of ranks: their regions are one, whatever order they come, go and die in. Needs root."""
import os
import pathlib
import re
import signal

import ranks
import tap
from ranks import PAGE_BYTES, Rank, bytes_of, machine_faults, read_report, region_of, serving

PAGES = 20000


def report_path(uncored):
    return str(uncored.folder / "report.json")


def start(uncored, *programs, **more):
    return [Rank(uncored, program, UNCORE_REPORT=report_path(uncored), **more) for program in programs]


def go_one_by_one(*members):
    """Each goes on when the one before has said that it did its step."""
    for member in members:
        member.go()
        member.expect("done")


def four_in_one():
    """The report, and the least and the most faults that may be in region "solve"."""
    program = f"say up wait %s begin solve %s say in wait touch {PAGES} say done wait %s end solve %s say out wait"
    with serving() as uncored:
        members = start(uncored, program % ("faults", "faults", "faults", "faults"), *[program % (("",) * 4)] * 3)
        first = members[0]
        for member in members:
            member.expect("up")
        first.go()
        begun = [first.number() for _ in range(2)]
        first.expect("in")
        for member in members[1:]:
            member.go()
            member.expect("in")
        go_one_by_one(*members)
        for member in members[1:]:
            member.go()
            member.expect("out")
        first.go()
        ended = [first.number() for _ in range(2)]
        first.expect("out")
        for member in members:
            member.go()
        tap.equal([member.end() for member in members], [""] * 4, "stderr")
        return read_report(report_path(uncored)), ended[0] - begun[1], ended[1] - begun[0]


def counted_once():
    """What four ranks do in one region counts once, and only the last one reports"""
    report, least, most = ranks.conclusive(four_in_one)
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "failed", "open", "died")], [4, 4, 0, 0, 0], "solve")
    ranks.between(region, least, most)
    tap.check(bytes_of(region) >= 4 * PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")
    tap.equal((report["team"], len(report["members"])), ("own/job", 4), "team")


def one_table():
    """Without a file for the report, the last rank prints one table for all"""
    program = "begin solve touch 100 end solve say done wait"
    with serving() as uncored:
        members = [Rank(uncored, program) for _ in range(3)]
        for member in members:
            member.expect("done")
        for member in members:
            member.go()
        said = [text for text in (member.end() for member in members) if text]
    tap.equal(len(said), 1, f"{said}tables")
    tap.equal(re.findall(r"(?m)^ solve +(\d+) ", said[0])[:1], ["3"], said[0])  # more rows if the columns need two blocks
    tap.equal(said[0].count("Regions of"), 1, said[0])


def outside():
    """What ranks do while none is inside a region does not count"""
    program = ("begin solve say in wait end solve say done wait "
               f"touch {PAGES} say done wait begin solve say done wait end solve")
    with serving() as uncored:
        faults = machine_faults()
        members = start(uncored, program, program)
        for member in members:
            member.expect("in")
        for _ in range(3):
            go_one_by_one(*members)
        for member in members:
            member.go()
        for member in members:
            tap.equal(member.end(), "", "stderr")
        region = region_of(read_report(report_path(uncored)), "solve")
        faults = machine_faults() - faults
    tap.equal(region["count"], 4, "passages")
    tap.check(bytes_of(region) / PAGE_BYTES <= faults - 2 * PAGES, f"{bytes_of(region)} bytes of {faults} faults")


def killed_inside():
    """A rank that is killed inside a region closes it for itself alone; it died inside"""
    stays = f"begin solve say in wait touch {PAGES} say done wait end solve"
    dies = "begin solve say in wait"
    with serving() as uncored:
        first, second = start(uncored, dies, stays)
        first.expect("in")
        second.expect("in")
        first.kill()
        go_one_by_one(second)
        second.go()
        tap.equal(second.end(), "", "stderr")
        report = read_report(report_path(uncored))
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "died")], [1, 2, 1], "solve")
    tap.check(bytes_of(region) >= PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")
    tap.equal(sorted(member["died"] for member in report["members"]), [False, True], "members")


def last_killed():
    """If the ranks inside a region are all killed, it is open until another one has noticed that"""
    dies = f"say up wait begin solve touch {PAGES} end solve begin solve say in wait"
    stays = f"begin other say in wait touch {PAGES} end other"
    with serving() as uncored:
        dies, stays = start(uncored, dies, stays)
        dies.expect("up")
        stays.expect("in")
        dies.go()
        dies.expect("in")
        dies.kill()
        stays.go()
        tap.equal(stays.end(), "", "stderr")
        report = read_report(report_path(uncored))
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "died")], [1, 1], "solve")
    tap.check(bytes_of(region) >= PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")
    tap.check(bytes_of(region_of(report, "other")) >= PAGES * PAGE_BYTES, "other")


def stopped():
    """A rank that is stopped keeps nobody waiting"""
    program = f"begin solve say in wait repeat 50 begin inner touch 10 end inner again say done wait end solve"
    with serving() as uncored:
        first, second = start(uncored, program, program)
        for member in (first, second):
            member.expect("in")
        first.process.send_signal(signal.SIGSTOP)
        go_one_by_one(second)
        second.go()
        tap.equal(second.end(), "", "stderr")
        first.process.send_signal(signal.SIGCONT)
        go_one_by_one(first)
        first.go()
        tap.equal(first.end(), "", "stderr")
        report = read_report(report_path(uncored))
    tap.equal([region_of(report, name)["count"] for name in ("solve", "inner")], [2, 100], "passages")


def forked():
    """A forked child is a member of its own"""
    with serving() as uncored:
        member, = start(uncored, f"begin solve fork begin inner touch {PAGES} end inner")
        tap.check("still open" not in member.end(), "stderr")
        report = read_report(report_path(uncored))
    tap.equal(len(report["members"]), 2, "members")
    tap.check(bytes_of(region_of(report, "inner")) >= PAGES * PAGE_BYTES, "inner")


def executed():
    """A rank that executes another program is a new member; what it had open ended there"""
    program = f"begin solve touch {PAGES} end solve begin solve exec begin solve touch {PAGES} end solve"
    with serving() as uncored:
        other, member = start(uncored, "begin other say in wait end other", "say up wait " + program)
        other.expect("in")
        member.expect("up")
        member.go()
        tap.equal(member.end(), "", "stderr")
        other.go()
        other.end()
        report = read_report(report_path(uncored))
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "died", "ranks")], [2, 1, 2], "solve")


def second_run():
    """A second program of the same name is a later run, with figures of its own"""
    last = 0
    with serving() as uncored:
        for _ in range(3):
            member, = start(uncored, f"begin solve touch {PAGES} end solve")
            tap.equal(member.end(), "", "stderr")
            report = read_report(report_path(uncored))
            tap.equal(region_of(report, "solve")["count"], 1, "passages")
            tap.check(report["run"] > last, f"run {report['run']} after run {last}")
            last = report["run"]


def strangers():
    """Two users and two teams share nothing"""
    program = "begin solve say in wait end solve"
    with serving() as uncored:
        members = [Rank(uncored, program, team=team, user=user, UNCORE_REPORT=str(uncored.folder / f"{team}-{user}"))
                   for team in ("a", "b") for user in (ranks.NOBODY, ranks.DAEMON)]
        for member in members:
            member.expect("in")
        for member in members:
            member.go()
            tap.equal(member.end(), "", "stderr")
        reports = [read_report(path) for path in sorted(uncored.folder.glob("?-*"))]
    tap.equal([(report["team"], len(report["members"])) for report in reports],
              [("own/a", 1), ("own/a", 1), ("own/b", 1), ("own/b", 1)], "teams")


def restarted():
    """uncored may come back without its store: ranks that were there go on together"""
    program = f"begin solve touch {PAGES} end solve say in wait begin later say begun touch {PAGES} end later"
    with serving() as uncored:
        members = start(uncored, program, program)
        for member in members:
            member.expect("in")
        uncored.stop(signal.SIGKILL)
        uncored.start()
        for member in members:  # what begins before the first one has read has lost something
            member.go()
            member.expect("begun")
        said = [member.end() for member in members]
        report = read_report(report_path(uncored))
    tap.equal(said, ["", ""], "stderr")
    tap.equal([region_of(report, name)["count"] for name in ("solve", "later")], [2, 2], "passages")
    tap.check(bytes_of(region_of(report, "later")) >= PAGES * PAGE_BYTES, "later")


def kept():
    """uncored is killed while ranks are inside a region: with its store the region has what they moved meanwhile"""
    program = f"begin solve touch {PAGES} say in wait touch {PAGES} say touched wait end solve"
    with serving(kind=ranks.KeptUncored) as uncored:
        members = start(uncored, program, program)
        for member in members:
            member.expect("in")
        uncored.kill()
        for member in members:
            member.go()
            member.expect("touched")
        uncored.expect_ready()
        for member in members:
            member.go()
        said = [member.end() for member in members]
        report = read_report(report_path(uncored))
    solve = region_of(report, "solve")
    tap.equal(said, ["", ""], "stderr")
    tap.equal((solve["count"], solve["failed"], solve["lost_ns"]), (2, 0, 0), "passages, and lost time")
    tap.check(bytes_of(solve) >= len(members) * 2 * PAGES * PAGE_BYTES, f"{bytes_of(solve)} bytes")


def many_names():
    """Names of 63 bytes, and 999 regions: what is in others counts as one, exactly, and is named"""
    names = [f"{number:063}" for number in range(999)]
    program = "".join(f"begin {name} end {name} " for name in names)
    nested = f"begin other-0 begin other-1 touch {PAGES} end other-1 end other-0 end other-2 "
    with serving() as uncored:
        member, = start(uncored, program + nested
                        + "".join(f"begin other-{number} end other-{number} " for number in range(2, 30)))
        said = member.end()
        report = read_report(report_path(uncored))
    tap.equal(said.splitlines(), ["end other-2: Region other-2 is not open in this thread."], "stderr")
    tap.equal([region["name"] for region in report["regions"]], names + ["(other names)"], "names")
    found = report["regions"][-1]
    tap.equal((found["count"], found["failed"]), (30, 0), "passages")
    tap.check(PAGES * PAGE_BYTES <= bytes_of(found), f"{bytes_of(found)} bytes")
    tap.check("(other names): other-0, other-1," in report["warning"] and "other-19, and perhaps" in report["warning"],
              report["warning"])


def wishes():
    """The first rank decides how much readings may cost, and a rank that wishes something else is in the report"""
    for other in ({"UNCORE_OVERHEAD": "0"}, {}):
        with serving() as uncored:
            members = start(uncored, "begin solve say in wait end solve")
            members[0].expect("in")
            members += start(uncored, "begin solve say in wait end solve", **other)
            members[1].expect("in")
            for member in members:
                member.go()
                tap.equal(member.end(), "", "stderr")
            said = read_report(report_path(uncored)).get("warning", "")
        tap.equal("A rank wished UNCORE_OVERHEAD=" in said, bool(other), said)
        tap.equal("but the first rank decides: 2." in said, bool(other), said)


def own_sockets():
    """With UNCORE_SOCKETS=own only the sockets of the ranks' CPUs have figures, and the report names the others"""
    cpus = os.sched_getaffinity(0)
    last = max(cpus)
    package = int(pathlib.Path(f"/sys/devices/system/cpu/cpu{last}/topology/physical_package_id").read_text())
    own = sorted({package} & {0, 1}) or [0, 1]  # the stand-in machine has two
    program = f"begin solve touch {PAGES} say in wait end solve"
    with serving() as uncored:
        os.sched_setaffinity(0, {last})
        members = start(uncored, program, program, UNCORE_SOCKETS="own")
        os.sched_setaffinity(0, cpus)
        for member in members:
            member.expect("in")
        for member in members:
            member.go()
            tap.equal(member.end(), "", "stderr")
        report = read_report(report_path(uncored))
    tap.equal([socket["socket"] for socket in region_of(report, "solve")["sockets"]], own, "sockets")
    tap.equal("Not measured: socket 1 (UNCORE_SOCKETS=own)" in report.get("warning", ""), own == [0], "warning")


def closed():
    """A program that closes the descriptors of libuncore is told, and its region goes on without it"""
    with serving() as uncored:
        first, second = start(uncored, "begin solve close say in wait end solve begin solve end solve",
                              "say in wait begin solve sleep 1100 end solve begin solve end solve say done wait")
        for member in (first, second):
            member.expect("in")
        go_one_by_one(second)
        first.go()
        tap.check("closed a descriptor" in first.end(), "stderr")
        second.go()
        tap.equal(second.end(), "", "stderr")


def closed_in_window():
    """... also where passages are so short that a system call at each would cost more than they"""
    with serving() as uncored:
        member, = start(uncored, "repeat 2000 begin solve end solve again close sleep 2000 begin solve end solve")
        tap.check("closed a descriptor" in member.end(), "stderr")


def cost():
    """The report has what begin and end took: of each call that read counters, and of one passage in 64 of the others"""
    passages = 200
    with serving() as uncored:
        holder, = start(uncored, "begin solve say in wait end solve")
        holder.expect("in")
        other, = start(uncored, f"repeat {passages} begin solve end solve again")
        tap.equal(other.end(), "", "stderr")
        holder.go()
        tap.equal(holder.end(), "", "stderr")
        found = read_report(report_path(uncored))["cost"]
        table = uncored.command("report", report_path(uncored)).stdout
    sampled, others = 2 * 4, 2 * (passages + 1) - found["reading_calls"]
    tap.check(2 <= found["reading_calls"] < passages, f"{found}")  # a reading is taken once a second, too
    tap.check(sampled - found["reading_calls"] <= found["timed_calls"] <= sampled, f"{found}")
    tap.check(min(found["reading_ns"], found["timed_ns"]) > 0, f"{found}")
    total_ns = found["reading_ns"] + found["timed_ns"] / found["timed_calls"] * others
    tap.check(abs(found["total_ns"] - total_ns) <= 1, f"{found}")
    tap.check(re.search(rf"\n begin and end took .* for each of {found['reading_calls']} calls that read counters, .*"
                        rf" for others \({found['timed_calls']} timed\), .* in all\.\n", table),
              table)


def own_record():
    """A process that takes the record of its own team, however often, stays a member and keeps no descriptor"""
    with serving() as uncored:
        asks, other = start(
            uncored, "begin solve say in wait record own/job descriptors repeat 50 records record own/job again "
            "descriptors say done wait record own/job end solve",
            f"begin solve say in wait sleep 1100 begin inner end inner touch {PAGES} say done wait end solve")
        for member in (asks, other):
            member.expect("in")
        asks.go()
        tap.equal(asks.number(), 2, "processes that live")
        before = asks.number()
        tap.equal([asks.number() for _ in range(50)], [2] * 50, "processes that live")
        tap.equal(asks.number(), before, "descriptors")
        asks.expect("done")
        go_one_by_one(other)  # looks for the dead
        other.kill()
        asks.go()
        tap.equal(asks.number(), 1, "processes that live, after one was killed")
        tap.equal(asks.end(), "", "stderr")
        report = read_report(report_path(uncored))
    tap.equal({member["pid"]: member["died"] for member in report["members"]},
              {asks.process.pid: False, other.process.pid: True}, "members")
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "open", "died")], [1, 0, 1], "solve")
    tap.check(bytes_of(region) >= PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")


def side_by_side():
    """Two teams of a user at the same time count the same bytes: both reports say so, and none of one that came later"""
    with serving() as uncored:
        one, = start(uncored, "begin a say in wait end a", team="one")
        one.expect("in")
        two, = start(uncored, "begin b say in wait end b", team="two")
        two.expect("in")
        for member in (one, two):
            member.go()
            member.end()
        three, = start(uncored, "begin c end c", team="three")
        tap.check("same bytes" not in three.end(), "stderr")
        found = {report["team"]: report for report in ranks.reports_at(report_path(uncored))}
    tap.equal(found["own/one"]["warning"], "Another team of this user, own/two, counted the same bytes.", "one")
    tap.equal(found["own/two"]["warning"], "Another team of this user, own/one, counted the same bytes.", "two")
    tap.check("warning" not in found["own/three"], f"{found['own/three']}")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (
    counted_once, one_table, outside, killed_inside, last_killed, stopped, forked, executed, second_run, strangers,
    restarted, kept, many_names, wishes, own_sockets, closed, closed_in_window, cost, own_record, side_by_side)])
