# SPDX-License-Identifier: BSD-3-Clause
"""uncore run, and uncore report without a file: what jobs leave that were killed. Needs root."""
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess

import ranks
import tap
from ranks import MEMBER, PAGE_BYTES, Rank, bytes_of, machine_faults, read_report, region_of, serving

PAGES = 20000
MOVES = f"begin solve touch {PAGES} end solve"
DIES = f"{MOVES} begin last kill"
NOTHING = "uncored keeps nothing of this user's jobs.\n"


def contains(text, *words):
    for word in words:
        tap.check(word in text, f"there is no '{word}' in:\n{text}")


def killed(uncored, team="job", user=ranks.NOBODY, count=2):
    """A job whose processes are all killed inside a region. Returns the faults of the machine meanwhile."""
    faults = machine_faults()
    members = []
    for _ in range(count):  # a reading follows each passage of solve, because no two are in it
        members.append(Rank(uncored, DIES.replace("kill", "say in wait"), team=team, user=user))
        members[-1].expect("in")
    for member in members:
        member.kill()
    return machine_faults() - faults


def report(uncored, *options, status=0, **more):
    done = uncored.command("report", *options, **more)
    tap.equal(done.returncode, status, f"status, of {done}")
    return done


def shown_once():
    """uncore report shows a job whose ranks were all killed, and says when it was read; uncored then forgets it"""
    with serving() as uncored:
        faults = killed(uncored)
        shown = report(uncored).stdout
        again = report(uncored).stdout
    contains(shown, "team own/job", "Ranks that were killed: 2 of 2", "a process died inside: 2",
             "read the regions that were open")
    tap.check(re.search(r"uncored noticed at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ that", shown), shown)
    tap.check(faults > 2 * PAGES, f"{faults} faults")
    tap.equal(again, NOTHING, "the second time")


def as_data():
    """--json is an array of records with exact bytes, and can be read; --csv has the same; --keep leaves them there"""
    with serving() as uncored:
        most = killed(uncored, "one") + killed(uncored, "two", count=1)
        records = json.loads(report(uncored, "--json", "--keep").stdout)
        path = uncored.folder / "kept.json"
        path.write_text(json.dumps(records), encoding="utf-8")
        again = json.loads(report(uncored, "--json", str(path)).stdout)
        rows = list(csv.DictReader(io.StringIO(report(uncored, "--csv").stdout)))
        empty = report(uncored, "--json").stdout, len(report(uncored, "--csv").stdout.splitlines())
    tap.equal([(record["team"], len(record["members"])) for record in records],
              [("own/one", 2), ("own/two", 1)], "teams, the oldest first")
    tap.check(0 < records[0]["run"] <= records[1]["run"], "runs go by the time")
    for record, count in zip(records, (2, 1)):
        region = region_of(record, "solve")
        tap.equal((region["count"], region["died"], region["open"]), (count, 0, 0), "solve")
        last = region_of(record, "last")
        tap.equal((last["count"], last["died"], last["open"]), (0, count, 0), "last")
        tap.check(count * PAGES <= bytes_of(region) / PAGE_BYTES <= most, f"{bytes_of(region)} bytes, {most} faults")
        contains(record["warning"], f"Ranks that were killed: {count} of {count}")
    for record in records:
        counted = sum(int(row["value"]) for row in rows if (row["team"], row["region"], row["metric"]) ==
                      (record["team"], "solve", "dram.read"))
        tap.equal(counted, bytes_of(region_of(record, "solve")), "CSV")
    tap.equal((json.loads(empty[0]), empty[1]), ([], 1), "nothing as data")
    tap.equal(again["nodes"], records, "the array, read from a file")


def outside_of_regions():
    """Of ranks that were killed while no region was open nothing is missing"""
    with serving() as uncored:
        Rank(uncored, f"{MOVES} kill").end()
        shown = report(uncored).stdout
    contains(shown, "Ranks that were killed: 1 of 1", "nothing is missing")


def some_left():
    """Ranks that left before the last one was killed are not counted as killed"""
    with serving() as uncored:
        stays = Rank(uncored, "begin solve say in wait")
        stays.expect("in")
        tap.equal(Rank(uncored, MOVES).end(), "", "stderr")
        stays.kill()
        shown = report(uncored).stdout
    contains(shown, "Ranks that were killed: 1 of 2. None lived to report")


def running():
    """A job that runs is named; --running shows what it did so far; neither has it forgotten"""
    with serving() as uncored:
        members = [Rank(uncored, f"{MOVES} begin solve say in wait end solve") for _ in range(2)]
        for member in members:
            member.expect("in")
        named = report(uncored).stdout
        shown = report(uncored, "--running").stdout
        data = report(uncored, "--json")
        for member in members:
            member.go()
        said = [member.end() for member in members]
        after = report(uncored).stdout
    contains(named, "team own/job", "2 processes still run; --running shows what it did so far.")
    tap.check("passages" not in named, named)
    contains(shown, "passages", "solve", "2 processes still run.")
    tap.check("killed" not in shown, shown)
    tap.equal(json.loads(data.stdout), [], "JSON")
    contains(data.stderr, "2 processes still run")
    tap.equal(sum(bool(text) for text in said), 1, f"tables in {said}")
    tap.equal(after, NOTHING, "after its report")


def of_others():
    """Root may show the jobs of a user; other users may not"""
    with serving() as uncored:
        killed(uncored, user=ranks.NOBODY)
        refused = report(uncored, "--user", str(ranks.NOBODY), status=1, user=ranks.DAEMON)
        none = report(uncored, user=ranks.DAEMON).stdout
        unknown = report(uncored, "--user", "no such user", status=1, user=0)
        shown = report(uncored, "--user", "nobody", user=0).stdout
        gone = report(uncored).stdout
    contains(refused.stderr, "Only root may look at tables of another user")
    contains(unknown.stderr, "this machine has no user no such user")
    contains(shown, "Ranks that were killed: 2 of 2")
    tap.equal((none, gone), (NOTHING, NOTHING), "others")


def left_to_a_child():
    """The user and root are told what a job moved, also if its forked child keeps the connection to uncored"""
    for user, options in ((ranks.NOBODY, []), (0, ["--user", "nobody"])):
        with serving() as uncored:
            rank = Rank(uncored, DIES.replace("kill", "fork say in wait"))
            rank.expect("in")
            rank.kill()
            shown = report(uncored, *options, user=user).stdout
            rank.go()  # the child, which has the same input
        contains(shown, "Ranks that were killed: 1 of 1", "uncored noticed at")


def not_written():
    """What cannot be written is not forgotten"""
    with serving() as uncored, open("/dev/full", "w", encoding="ascii") as full:
        killed(uncored)
        done = subprocess.run([ranks.BUILD / "client/uncore", "report"], env=uncored.environment(None),
                              user=ranks.NOBODY, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                              timeout=ranks.SECONDS)
        shown = report(uncored).stdout
    tap.equal(done.returncode, 1, "status")
    contains(done.stderr, "cannot write to stdout")
    contains(shown, "Ranks that were killed: 2 of 2")


def wrong_options():
    """Options that need files, and those that have none, are told apart"""
    with serving() as uncored:
        contains(report(uncored, "--keep", "file", status=2).stderr, "leave out FILE")
        contains(report(uncored, "--nodes", status=2).stderr, "need a FILE")
        contains(report(uncored, status=1, UNCORE_SOCKET="/nonexistent").stderr, "/nonexistent")


# --- uncore run ---

def script(*programs, end="wait"):
    """A launcher in place of mpirun: starts a rank for each, and waits for all."""
    return ["sh", "-c", "".join(f"{MEMBER} {program} & " for program in programs) + end]


def run(uncored, *words, status=0, **more):
    done = uncored.command("run", *words, **more)
    tap.equal(done.returncode, status, f"status, of {done}")
    return done


def run_normal():
    """uncore run adds nothing to the report of a job that ends normally, and ends with its status"""
    with serving() as uncored:
        done = run(uncored, "--", *script(MOVES, MOVES, end="wait; echo output; exit 7"), status=7)
        after = report(uncored).stdout
    tap.equal(done.stdout, "output\n", "stdout")
    tap.equal((done.stderr.count("Regions of"), "uncore run" in done.stderr), (1, False), done.stderr)
    contains(done.stderr, "team own/run-", ", 2 ranks")
    tap.equal(after, NOTHING, "after")


def run_killed():
    """uncore run reports in place of a job whose ranks were all killed"""
    with serving() as uncored:
        done = run(uncored, "--", *script(DIES, DIES, DIES))
        after = report(uncored).stdout
    contains(done.stderr, "no process of the job has reported", "Ranks that were killed: 3 of 3", "a process died inside: 3")
    tap.equal(done.stderr.count("Regions of"), 1, done.stderr)
    tap.equal(after, NOTHING, "after")


def run_to_file():
    """With -o FILE the report is JSON in a file, whether the ranks live or are killed"""
    together = MOVES.replace("begin solve", "begin solve sleep 300")  # one that comes later would be another run
    with serving() as uncored:
        for name, program in (("lives", together), ("dies", DIES.replace(MOVES, together))):
            path = str(uncored.folder / name)
            faults = machine_faults()
            done = run(uncored, "-o", path + "-%j", *script(program, program))
            faults = machine_faults() - faults
            tap.equal(done.stderr, "", "stderr")
            record = read_report(path + "-nojob")
            region = region_of(record, "solve")
            tap.check(2 * PAGES <= bytes_of(region) / PAGE_BYTES <= faults, f"{bytes_of(region)} bytes")
            tap.equal((region["count"], "warning" in record), (2, name == "dies"), name)
        done = run(uncored, "-o", "/nonexistent/file", "echo", "it ran", status=1)
    contains(done.stderr, "cannot write the report to /nonexistent/file", "The job was not run")
    tap.equal(done.stdout, "", "the job")


def run_own_name():
    """A name of the team that the user chose stays, whatever characters it has"""
    with serving() as uncored:
        done = run(uncored, "--", *script(DIES), UNCORE_TEAM="a b:" + 80 * "x")
    contains(done.stderr, "team own/a_b_xxx", "Ranks that were killed: 1 of 1")


def run_left():
    """Ranks that outlive their launcher are named, and reported when they have ended"""
    with serving() as uncored:
        done = subprocess.Popen(
            [ranks.BUILD / "client/uncore", "run", "--",
             *script(f"{MOVES} say in sleep 1000000", end="echo $$ $!; wait")],
            env=uncored.environment(None), user=ranks.NOBODY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = sorted(done.stdout.readline().strip() for _ in range(2))
        launcher, rank = map(int, lines[0].split())
        os.kill(launcher, signal.SIGKILL)
        said = done.stderr.readline()
        status = done.wait(ranks.SECONDS)
        named = report(uncored).stdout
        os.kill(rank, signal.SIGKILL)
        done.communicate(timeout=ranks.SECONDS)  # the rank had its ends of the pipes
        shown = report(uncored).stdout
    tap.equal((status, lines[1]), (128 + 9, "in"), "status")
    contains(said, "1 process of the job still runs")
    contains(named, "1 process still runs")
    contains(shown, "Ranks that were killed: 1 of 1", "nothing is missing")


# A rank that is in one region from its begin on, as most are in their main loop.
LOOP = f"begin main touch {PAGES} say in"


def run_in_loop():
    """Of ranks that are killed in the one region that they were ever in, uncore run has the bytes"""
    with serving() as uncored:
        path = str(uncored.folder / "report")
        faults = machine_faults()
        run(uncored, "-o", path, *script(LOOP + " kill", LOOP + " kill"))
        faults = machine_faults() - faults
        record = read_report(path)
    region = region_of(record, "main")
    tap.check(2 * PAGES <= bytes_of(region) / PAGE_BYTES <= faults, f"{bytes_of(region)} bytes, {faults} faults")
    tap.equal((region["count"], region["died"], region["lost_ns"]), (0, 2, 0), "main")
    tap.equal([member["died"] for member in record["members"]], [True, True], "members")
    contains(record["warning"], "Ranks that were killed: 2 of 2", "were read at", "after the last rank had ended")


def kept_bytes(uncored):
    """What the region of LOOP has so far, while it is open."""
    records = json.loads(report(uncored, "--running", "--keep", "--json").stdout)
    sockets = region_of(records[0], "main")["sockets"] if records else []
    return sum(socket["metrics"]["dram.read"]["bytes"] for socket in sockets)


def killed_both(number):
    """uncore run is killed together with its job, after @number, or after it had time to look"""
    with serving() as uncored:
        words = ["env", "--ignore-signal=TERM,HUP", MEMBER, *LOOP.split(), "wait"]
        with subprocess.Popen([ranks.BUILD / "client/uncore", "run", *words], env=uncored.environment(None), text=True,
                              user=ranks.NOBODY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as done:
            tap.equal(done.stdout.readline(), "in\n", "what the rank says")
            children = pathlib.Path(f"/proc/{done.pid}/task/{done.pid}/children").read_text(encoding="ascii").split()
            before = kept_bytes(uncored)
            if number:
                done.send_signal(number)
            ranks.wait_until(lambda: kept_bytes(uncored) >= PAGES * PAGE_BYTES, "a reading", done)
            done.kill()
            os.kill(int(children[0]), signal.SIGKILL)
        ranks.wait_until(lambda: "still runs" not in report(uncored, "--keep").stdout, "the end of the rank")
        record = json.loads(report(uncored, "--json").stdout)[0]
    tap.equal(before, 0, "bytes before")
    tap.check(bytes_of(region_of(record, "main")) >= PAGES * PAGE_BYTES, f"{record}")
    tap.equal(len(record["members"]), 1, "members: uncore run is none")
    contains(record["warning"], "Ranks that were killed: 1 of 1", "uncored noticed at")


def run_told_to_end():
    """uncore run reads when it is told to end, so that its job's figures are there when both are killed"""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        killed_both(number)


def run_reads_now_and_then():
    """While a region is open and nobody reads, uncore run does so now and then"""
    killed_both(None)


def run_fails():
    """The exit status tells a command that cannot run from one that was killed"""
    with serving() as uncored:
        contains(run(uncored, "/nonexistent", status=127).stderr, "cannot run /nonexistent")
        contains(run(uncored, "/etc", status=126).stderr, "cannot run /etc")
        tap.equal(run(uncored, "sh", "-c", "kill -9 $$", status=137).stderr, "", "killed")
        contains(run(uncored, status=2).stderr, "missing command")
        tap.equal(run(uncored, "true", UNCORE_SOCKET="/nonexistent").stderr, "", "without uncored")
        contains(run(uncored, *script(MOVES), UNCORE_SOCKET="/nonexistent").stderr, "no figures")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (
    shown_once, as_data, outside_of_regions, some_left, running, of_others, left_to_a_child, not_written, wrong_options,
    run_normal, run_killed, run_to_file, run_own_name, run_left, run_in_loop, run_told_to_end, run_reads_now_and_then, run_fails)])
