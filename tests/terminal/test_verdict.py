# SPDX-License-Identifier: BSD-3-Clause
"""What `uncore run` says of a job without regions, on the simulated machine. Prints TAP."""
import os
import re
import subprocess
import sys
import time

import tap
from terminal import READ, SECONDS, UNCORE, WRITE, Machine, Mover, Terminal, wait_until

GB = 10**9
TRIES = 8
STALL_S = 0.1  # a block of the course: less is not a phase
STEP_SECONDS = 0.05  # between the first 1024 readings: client/command/report/samples.c
REGION = "import ctypes, time; u = ctypes.CDLL('libuncore.so.0'); u.uncore_region_begin(b'work'); time.sleep(1.5); " \
         "u.uncore_region_end(b'work')"


def run(machine, *words):
    """Its status and what it said."""
    done = subprocess.run([UNCORE, "run", *words], env=machine.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=SECONDS)
    return done.returncode, done.stderr


def told(machine, during):
    """What is said of a job that lasts until the function is through."""
    with subprocess.Popen([UNCORE, "run", "--", "cat"], env=machine.environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as job:
        during()
        _, said = job.communicate(timeout=SECONDS)
    tap.equal(job.returncode, 0, f"status; it said {said}")
    return said


def told_of_levels(levels):
    """What is said of a job beside which the levels are moved, one after the other."""
    for _ in range(TRIES):
        with Machine() as machine, Mover(machine, {(1, READ): levels[0], (0, WRITE): GB}) as mover:
            def during():
                for level in levels:
                    mover.rates[1, READ] = level
                    time.sleep(2)
            said = told(machine, during)
        if mover.longest_s < STALL_S:
            break
        print(f"# the mover stood still for {mover.longest_s:.2f} s: once more")
    print("#", said.replace("\n", "\n# "))
    return said


def phases():
    """the screen has the bytes, a course in blocks and the phases, and no sentence about a simulated machine's memory"""
    levels = [20 * GB, 60 * GB, 5 * GB]
    said = told_of_levels(levels)
    found = [float(rate) for rate in re.findall(r" s +(\d+\.\d+) GB/s(?:   begin \+- \d.*)?$", said, re.MULTILINE)]
    tap.equal(len(found), len(levels), "number of phases")
    for rate, level in zip(found, levels):
        tap.check(abs(rate / (level + GB) * GB - 1) < 0.25, f"a level of {level} is {rate}")
    read, = re.findall(r"^  1 dram +(\d+\.\d+) ", said, re.MULTILINE)
    tap.check(abs(float(read) / 170 - 1) < 0.2, f"{read} GB were read")
    tap.check(len(re.findall(r"^  [01] [▁-█]{60}$", said, re.MULTILINE)) == 2, "there are not two courses")
    tap.check("memory-bound" not in said and "SIMULATED" in said and "nobody has kept a report" in said, said)


def regions():
    """a job with regions has its report as before, and the verdict only with --verdict"""
    with Machine() as machine:
        status, said = run(machine, "--", sys.executable, "-c", REGION)
        tap.equal(status, 0, "status")
        tap.check("work" in said and "course of" not in said, said)
        status, said = run(machine, "--verdict", "--", sys.executable, "-c", REGION)
        tap.equal(status, 0, "status")
        tap.check("work" in said and "course of" in said, said)


def narrow():
    """the table of regions has lines of 80 on a terminal of 80 columns, with the error; and long lines in a file"""
    with Machine() as machine:
        with Terminal(machine, program=[sys.executable, "-c", REGION]) as terminal:
            tap.equal(terminal.process.wait(SECONDS), 0, "status")
            wait_until(lambda: b"SIMULATED" in terminal.said, lambda: f"{terminal.said} has the caveat")
        said = terminal.said.decode()
        print("#", said.replace("\r\n", "\n# "))
        tap.equal([line for line in said.splitlines() if len(line) > 80], [], "too long")
        tap.check(re.search(r"^ work +1  ", said, re.MULTILINE) and re.search(r" error\r?$", said, re.MULTILINE), said)
        _, said = run(machine, "--", sys.executable, "-c", REGION)
        tap.check(re.search(r"^ absent: .{80}", said, re.MULTILINE), said)


def nothing():
    """nothing is said of a job that ends at once, and without uncored; --verdict says why"""
    with Machine() as machine:
        tap.equal(run(machine, "--", "false"), (1, ""), "a job that ends at once")
        machine.environment["UNCORE_SOCKET"] = "/nonexistent"
        tap.equal(run(machine, "--", "sleep", "0.3"), (0, ""), "without uncored")
        status, said = run(machine, "--verdict", "--", "true")
        tap.check(status == 0 and said.startswith("uncore run: there are no figures for a verdict: ") and "/nonexistent" in said,
                  said)


def hint():
    """a person at a terminal is told why a job leaves nothing to show"""
    with Machine() as machine:
        for socket, said in ((machine.environment["UNCORE_SOCKET"], b"--verdict shows what moved."),
                             ("/nonexistent", b"there are no figures for a verdict: Cannot connect")):
            with Terminal(machine, program=[UNCORE, "run", "--", "true"], UNCORE_SOCKET=socket) as terminal:
                tap.equal(terminal.process.wait(SECONDS), 0, "status")
                wait_until(lambda: said in terminal.said, lambda: f"{said} is in {terminal.said}")


def held_back():
    """no job waits where a site holds readings back; --verdict says so"""
    with Machine("[disclosure]\nmin_interval_ms = 60000\n") as machine:
        tap.equal(run(machine, "--", "sleep", "0.3"), (0, ""), "status, and what was said")
        status, said = run(machine, "--verdict", "--", "true")
        tap.check(status == 0 and "The site holds readings back" in said, said)


def interrupted():
    """a job goes on while uncored is away, and the verdict says what is not known"""
    with Machine() as machine:
        def during():
            wait_until(lambda: min(machine.sweeps()) > 30, "its course is read")
            machine.kill()
            machine.start()
        said = told(machine, during)
        tap.check("Not all of the course is known: uncored was restarted and lost its counts." in said, said)


def cheap():
    """its course costs less than 1 % of a CPU, start and end included"""
    n_readings = 100
    with Machine() as machine, subprocess.Popen([UNCORE, "run", "--", "cat"], env=machine.environment, stdin=subprocess.PIPE,
                                                stderr=subprocess.DEVNULL) as job:
        wait_until(lambda: min(machine.sweeps()) > n_readings, "its course is read")
        job.stdin.close()
        _, status, used = os.wait4(job.pid, 0)
        job.returncode = status
        share = (used.ru_utime + used.ru_stime) / (n_readings * STEP_SECONDS)
        print(f"# {100 * share:.2f} % of a CPU")
        tap.check(share < 0.01, f"{share} of a CPU")


tap.run_functions([(case.__doc__, case) for case in (phases, regions, narrow, nothing, hint, held_back, interrupted, cheap)])
