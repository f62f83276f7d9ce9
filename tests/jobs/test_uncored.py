# SPDX-License-Identifier: BSD-3-Clause
"""What jobs leave when uncored comes to grief; none is held up, fails or drains its host. Needs root and Slurm."""
import signal

import slurm
import tap
from hosts import TMP, TOUCH, Gate
from slurm import pages_of, sockets_of

KILLS = 20
PAGES = 20000
TIMED = f"now() {{ read up rest </proc/uptime; echo $up >>{TMP}/times; }}; now; $HOOK; now"


def timed_record(cluster, script="true"):
    """The record of a job that ended well on a host that takes jobs again; says how long Prolog and Epilog took."""
    (TMP / "times").unlink(missing_ok=True)
    with cluster.hook("prolog", TIMED), cluster.hook("epilog", TIMED):
        job = cluster.submit(script)
        record = cluster.records(job)[0]
        cluster.wait_for_state(job, "COMPLETED")
    times = [float(line) for line in (TMP / "times").read_text(encoding="ascii").split()]
    print(f"# Prolog {times[1] - times[0]:.2f} s, Epilog {times[3] - times[2]:.2f} s")
    return record


def incomplete(record, *words):
    tap.check(not sockets_of(record), f"{record}")
    for word in words:
        tap.check(word in record["failure"], f"{record['failure']}")


def killed(cluster):
    """A record over 20 kills of uncored, which has a descriptor store, is complete"""
    first, last = Gate(), Gate()
    job = cluster.submit(f"{first.script}; {TOUCH} {PAGES}; {last.script}; {TOUCH} {PAGES}")
    first.wait()
    first.open()
    for _ in range(KILLS):
        cluster.hosts[0].kill_uncored()
    last.wait()
    last.open()
    record = cluster.records(job)[0]
    tap.check(pages_of(record) >= 2 * PAGES, f"{pages_of(record)} pages")


def killed_without_store(cluster):
    """Without a descriptor store a record over a kill of uncored says that counts may be missing"""
    host = cluster.hosts[0]
    host.stop_uncored()
    host.start_uncored("--no-store")
    gate = Gate()
    job = cluster.submit(gate.script)
    gate.wait()
    host.kill_uncored()
    gate.open()
    incomplete(cluster.records(job)[0], "began to count anew")
    host.stop_uncored()
    host.start_uncored()


def away(cluster):
    """Where there is no uncored, jobs run, and their records say so"""
    cluster.hosts[0].stop_uncored()
    incomplete(timed_record(cluster), "/run/uncored/socket")
    cluster.hosts[0].start_uncored()


def hangs(cluster):
    """Where uncored hangs, jobs run, and their records say so"""
    host = cluster.hosts[0]
    host.signal_uncored(signal.SIGSTOP)
    incomplete(timed_record(cluster), "uncored")
    host.signal_uncored(signal.SIGCONT)


def comes_back(cluster):
    """Where uncored comes only after the begin of a job, the record says what the begin met"""
    host = cluster.hosts[0]
    host.stop_uncored()
    gate = Gate()
    job = cluster.submit(gate.script)
    gate.wait()
    host.start_uncored()
    gate.open()
    incomplete(cluster.records(job)[0], "/run/uncored/socket")


def held_back(cluster):
    """Where readings are held back for longer than a job takes, it runs, and its record says so"""
    host = cluster.hosts[0]
    host.reload_uncored("[disclosure]\nmin_interval_ms = 60000\n")
    incomplete(timed_record(cluster), "min_interval_ms")
    host.reload_uncored("")


if __name__ == "__main__":
    slurm.run_cases([killed, killed_without_store, away, hangs, comes_back, held_back])
