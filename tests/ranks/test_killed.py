# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are all killed without uncore run: uncored reads when it notices. On the simulated machine only this test
moves the counts, so what is read is exact, whenever it is read. Needs root."""
import json
import mmap
import os
import re
import signal
import socket
import struct
import time

import counts
import tap
from ranks import NOBODY, SECONDS, KeptUncored, Rank, Simulated, bytes_of, region_of, serving, wait_until

LINE_BYTES = 64
FIRST_LINE = 64  # offset of the reads of socket 0 in the file of counters
LAYOUT = 4  # TABLE_LAYOUT of client/region/table.h
LOOP = "begin main say in wait"  # as most programs are in their main loop
COUNTED = re.compile(r"uncored noticed at \S+ that no rank was left, and read the regions that were open (\S+ \w+) later. "
                     r"The last rank had ended at most (\S+ \w+) before it was noticed")
MISSING = "is missing since their last reading at"
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60}


def move(uncored, lines):
    """The programs of the machine read so many lines from memory."""
    with open(uncored.counters, "r+b") as file, mmap.mmap(file.fileno(), 65536) as counters:
        counts.add(counters, FIRST_LINE, lines)


def sweeps(uncored):
    sockets = json.loads(uncored.command("info", "--json").stdout)["sockets"]
    return [socket["sweeps"] for socket in sockets]


def report(uncored, *options, **more):
    done = uncored.command("report", "--json", *options, **more)
    tap.equal(done.returncode, 0, f"status, {done.stderr}")
    return json.loads(done.stdout)


def start(uncored, count=1, steps=LOOP, **more):
    members = [Rank(uncored, steps, **more) for _ in range(count)]
    for member in members:
        member.expect("in")
    return members


def kill(members):
    for member in members:
        member.process.kill()
    for member in members:
        member.process.wait(SECONDS)


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def bounds(record):
    """How long after it noticed uncored read, and how long before that the end was at most, in seconds."""
    found = COUNTED.search(record.get("warning", ""))
    tap.check(found, f"{record.get('warning')}")
    return seconds(found[1]), seconds(found[2])


def main_bytes(record):
    return bytes_of(region_of(record, "main"))


def read_at_once(count):
    """uncored reads before anybody asks: what is moved later is not in it."""
    with serving(kind=Simulated) as uncored:
        began = time.monotonic()
        members = start(uncored, count)
        move(uncored, 1000000)
        before = sweeps(uncored)
        kill(members)
        wait_until(lambda: all(now > then for now, then in zip(sweeps(uncored), before)), "a reading")
        took = time.monotonic() - began
        move(uncored, 7000000)
        first, again = report(uncored, "--keep"), report(uncored)
        after = sweeps(uncored)
    for record in first + again:  # from two clocks, read one after the other
        for name in ("ended", "ended_s", "ended_ns"):
            record.pop(name)
    tap.equal(first, again, "the same again")
    tap.equal([now - then for now, then in zip(after, before)], [1] * len(before), "sweeps")
    tap.equal((main_bytes(first[0]), region_of(first[0], "main")["died"]), (1000000 * LINE_BYTES, count), "main")
    later, before = bounds(first[0])
    tap.check(later <= took and before <= took, f"{first[0]['warning']} within {took} s")


def one():
    """Of a rank that is killed in the one region that it was ever in, uncored has the bytes until then"""
    read_at_once(1)


def many():
    """... and of eight ranks that are all killed at once"""
    read_at_once(8)


def asked_at_once():
    """A report right after the end waits for the reading, and by root it needs the user's connection to have ended"""
    for user in (NOBODY, 0):
        with serving(kind=Simulated) as uncored:
            members = start(uncored, 2)
            move(uncored, 3000)
            before = sweeps(uncored)
            kill(members)
            if not user:
                wait_until(lambda: sweeps(uncored) > before, "a reading")
            records = report(uncored, *(() if user else ("--user", str(NOBODY))), user=user)
        tap.equal(main_bytes(records[0]), 3000 * LINE_BYTES, f"as user {user}")


def one_stays():
    """While one rank lives, be it stopped, uncored reads nothing"""
    with serving(kind=Simulated) as uncored:
        members = start(uncored, 3)
        members[0].process.send_signal(signal.SIGSTOP)
        move(uncored, 1000)
        before = sweeps(uncored)
        kill(members[1:])
        tap.equal(report(uncored), [], "while it is stopped")
        tap.equal(sweeps(uncored), before, "sweeps")
        move(uncored, 500)
        kill(members[:1])
        records = report(uncored)
    tap.equal(main_bytes(records[0]), 1500 * LINE_BYTES, "main")
    bounds(records[0])


def normal_end():
    """A team that reports itself is not read again, and one that was never in a region is not either"""
    with serving(kind=Simulated) as uncored:
        members = start(uncored, 2, LOOP + " end main")
        for member in members:
            member.go()
        said = "".join(member.end() for member in members)
        before = sweeps(uncored)
        tap.equal(report(uncored), [], "kept")
        tap.equal(sweeps(uncored), before, "sweeps")
    tap.check("main" in said, said)


def child_keeps_connection():
    """A forked child that is not a member does not count, and only delays: who asks has the reading"""
    with serving(kind=Simulated) as uncored:
        rank = Rank(uncored, "begin main say in fork wait")
        rank.expect("in")
        with open(f"/proc/{rank.process.pid}/task/{rank.process.pid}/children", encoding="ascii") as file:
            wait_until(lambda: file.seek(0) == 0 and file.read(), "the child")
            file.seek(0)
            child = int(file.read())
        move(uncored, 2000)
        os.kill(rank.process.pid, signal.SIGKILL)
        wait_until(lambda: len(report(uncored, "--keep")) == 1, "the end of the rank")
        move(uncored, 900)
        records = report(uncored)
        os.kill(child, signal.SIGKILL)
        rank.process.wait(SECONDS)
    tap.equal(main_bytes(records[0]), 2000 * LINE_BYTES, "main")


def later_run():
    """The next job of the same name has a table and a reading of its own"""
    with serving(kind=Simulated) as uncored:
        for lines in (100, 20):
            members = start(uncored, 2)
            move(uncored, lines)
            kill(members)
        records = report(uncored)
    tap.equal([main_bytes(record) for record in records], [100 * LINE_BYTES, 20 * LINE_BYTES], "both")


def held_back():
    """Where the site holds readings back, this one is held back, too"""
    with serving("[disclosure]\nmin_interval_ms = 400\n", kind=Simulated) as uncored:
        members = start(uncored)
        move(uncored, 1000)
        kill(members)
        record = report(uncored)[0]
    tap.equal(main_bytes(record), 1000 * LINE_BYTES, "main")
    bounds(record)


def restarted():
    """A reading does not outlive uncored, and what is missing is said"""
    with serving(kind=KeptUncored) as uncored:
        members = start(uncored)
        kill(members)
        before = uncored.pid
        uncored.restart()
        uncored.expect_ready()
        tap.check(uncored.pid != before, "another process")
        record = report(uncored)[0]
    tap.check(MISSING in record["warning"], record["warning"])


def not_let_in():
    """Of a user that the rules do not let in any more nothing is read"""
    with serving(kind=Simulated) as uncored:
        members = start(uncored)
        uncored.config.write_text("[access]\nusers = root\n", encoding="ascii")
        uncored.process.send_signal(signal.SIGHUP)
        wait_until(lambda: uncored.command("info").returncode, "the new rules")
        move(uncored, 1000)
        kill(members)
        record = report(uncored)[0]
    tap.equal(main_bytes(record), 0, "main")
    tap.check(MISSING in record["warning"], record["warning"])


def table_bytes(rank):
    folder = f"/proc/{rank.process.pid}/fd"
    return next(os.stat(f"{folder}/{name}").st_size for name in os.listdir(folder)
                if "uncored-team" in os.readlink(f"{folder}/{name}"))


def seem_dead(uncored, team, size):
    """Gets the table of a team that does not exist yet, and fills some of it, without a lock."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.connect(uncored.socket)
        client.send(struct.pack("HHIII", 1, 0, 16, 1, 0))  # HELLO
        for descriptor in socket.recv_fds(client, 512, 64)[1]:
            os.close(descriptor)
        client.send(struct.pack("HHIIIIIQII120s", 5, 0, 160, 0, 0, 0xffffffff, 0, size, LAYOUT, 0,
                                team.encode()))  # TEAM
        table, = socket.recv_fds(client, 512, 64)[1]
        os.pwrite(table, bytes(65536), 1 << 20)
        os.close(table)


def read_too_early():
    """A table that was filled before its first process lives is not read for then, and its end is"""
    with serving(kind=Simulated) as uncored:
        members = start(uncored, user=0, team="other")
        before = sweeps(uncored)
        seem_dead(uncored, "own/job", table_bytes(members[0]))
        tap.equal(sweeps(uncored), before, "sweeps")
        kill(members)
        members = start(uncored, user=0)
        move(uncored, 1000)
        kill(members)
        record = next(record for record in report(uncored, user=0) if record["team"] == "own/job")
    tap.equal(main_bytes(record), 1000 * LINE_BYTES, "main")
    bounds(record)


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (
    one, many, asked_at_once, one_stays, normal_end, child_keeps_connection, later_run, held_back, restarted,
    not_let_in, read_too_early)])
