# SPDX-License-Identifier: BSD-3-Clause
"""What jobs cost uncored, and each other. Needs root."""
import pathlib
import re
import resource
import time

import machine as standin
import tap
from machine import complete, machine, others

JOBS = 20


def sweeps(here):
    """Of each socket so far. uncored gives a report of its state again for a moment."""
    time.sleep(1)
    return [socket["sweeps"] for socket in here.info()["sockets"]]


def wakeups(here):
    """Of all threads of uncored so far."""
    tasks = pathlib.Path(f"/proc/{here.uncored.process.pid}/task")
    return sum(int(line.split()[1]) for task in tasks.iterdir()
               for line in (task / "status").read_text(encoding="ascii").splitlines() if "ctxt_switches" in line)


def written(here):
    """KiB of uncored's own memory, and what it shares. The pages of libraries that it happened to touch are neither."""
    text = pathlib.Path(f"/proc/{here.uncored.process.pid}/status").read_text(encoding="ascii")
    return sum(int(kib) for kib in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB$", text, re.M))


def cpu_of_begin(here, count=40):
    """Seconds of CPU time of a begin, the least of many."""
    least = float("inf")
    for i in range(count):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        here.begin(f"timed{i}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    for i in range(count):
        here.end(f"timed{i}")
    return least


def cost():
    """A begin and an end are one reading each, and nothing of a job is in uncored: no wake-up, no memory"""
    with machine() as here:
        counts = [sweeps(here)]
        for verb in (here.begin, here.end):
            for i in range(JOBS):
                verb(i)
            counts.append(sweeps(here))
        for before, after in zip(counts, counts[1:]):
            tap.equal([b - a for a, b in zip(before, after)], [JOBS] * len(before), "sweeps of each socket")
        here.begin("idle")
        before = None
        for _ in range(20):  # what the begin has left for uncored to do
            before, after = wakeups(here), before
            if before == after:
                break
            time.sleep(0.5)
        time.sleep(2)
        tap.equal(wakeups(here) - before, 0, "wake-ups while a job is open")


def many():
    """With 1000 open jobs uncored has the memory that it had, and a begin takes at most twice the CPU time"""
    with machine() as here:
        for i in range(20):
            here.begin(f"warm{i}")
        alone = cpu_of_begin(here)
        memory = written(here)
        for i in range(980):
            here.begin(i)
        tap.equal(len(here.open_jobs()), 1000, "open jobs")
        crowd, grown = cpu_of_begin(here, 20), written(here) - memory
        print(f"# begin: {alone * 1000:.1f} ms of CPU time, with 1000 open jobs {crowd * 1000:.1f} ms; "
              f"uncored grew by {grown} KiB")
        tap.check(grown <= 64, f"uncored grew by {grown} KiB")
        tap.check(crowd <= 2 * alone, f"{crowd} s, and {alone} s with few")
        for i in range(24):
            here.begin(f"more{i}")
        said = here.begin("one-more", status=1).stderr
        tap.check("1024 open jobs" in said, said)
        tap.check(min(others(complete(here.end("0")))) >= 1000, "others")


standin.enter()
tap.run_functions([(body.__doc__, body) for body in (cost, many)])
