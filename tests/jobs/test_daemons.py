# SPDX-License-Identifier: BSD-3-Clause
"""What jobs leave when Slurm's daemons, the host or the Prolog come to grief. Needs root and Slurm."""
import hosts
import slurm
import tap
from hosts import TOUCH, Gate, wait_until
from slurm import pages_of, sockets_of

PAGES = 20000


def only_record(cluster, job):
    """The record of a job, after which all hosts take jobs again."""
    record = cluster.records(job)[0]
    cluster.wait_idle()
    tap.equal(len(cluster.found(job)), 1, "records")
    return record


def says(record, words):
    tap.check(words in record["failure"] and not sockets_of(record), f"{record}")


def cancelled_during_prolog(cluster):
    """A job that is cancelled during its Prolog leaves one record"""
    gate = Gate()
    with cluster.hook("prolog", f"{gate.script}; exec $HOOK"):
        job = cluster.submit("true")
        gate.wait()
        cluster.command("scancel", job)
        gate.open()
        tap.check(sockets_of(only_record(cluster, job)), "it is incomplete")


def prolog_fails(cluster):
    """Where a Prolog of the site's own fails before that of uncored, the record says that the job did not begin"""
    with cluster.hook("prolog", "exit 1"):
        job = cluster.submit("true")
        record = cluster.records(job)[0]
        cluster.command("scancel", job)
        cluster.command("scontrol", "update", "nodename=n1", "state=resume")
    says(record, "begin")


def slurmd_killed(cluster):
    """A job whose slurmd is killed and comes back leaves one record, with all that it moved"""
    gate = Gate()
    job = cluster.submit(f"{gate.script}; {TOUCH} {PAGES}")
    gate.wait()
    cluster.kill("n1")
    cluster.start_slurmd(cluster.hosts[0])
    gate.open()
    tap.check(pages_of(only_record(cluster, job)) >= PAGES, "bytes are missing")


def slurmctld_killed(cluster):
    """A job whose slurmctld is killed and comes back leaves one record, with all that it moved"""
    gate = Gate()
    job = cluster.submit(f"{gate.script}; {TOUCH} {PAGES}")
    gate.wait()
    cluster.save(job)
    cluster.kill("slurmctld")
    cluster.start_slurmctld()
    gate.open()
    tap.check(pages_of(only_record(cluster, job)) >= PAGES, "bytes are missing")


def slurmd_away(cluster):
    """Where slurmd is away at the end of a job, its window lasts until slurmd is back"""
    gate = Gate()
    job = cluster.submit(gate.script)
    gate.wait()
    cluster.kill("n1")
    gate.open()
    wait_until(lambda: not slurm.steps(), "the job to end")
    cluster.hosts[0].run(TOUCH, PAGES)
    cluster.start_slurmd(cluster.hosts[0])
    tap.check(pages_of(only_record(cluster, job)) >= PAGES, "the window does not last until slurmd was back")


def host_reboots(cluster):
    """A job whose host reboots leaves a record of the new boot, which says that it did not begin there"""
    gate = Gate()
    allocation = cluster.start_command("salloc", "sh", "-c", f"echo $SLURM_JOB_ID; {gate.script}")
    gate.wait()
    job = allocation.stdout.readline().strip()
    cluster.reboot(cluster.hosts[0])
    gate.open()
    says(only_record(cluster, job), "begin")
    allocation.communicate(timeout=hosts.SECONDS)


def no_prolog(cluster):
    """Without PrologFlags=Alloc an allocation without steps has an Epilog only: its record says so"""
    cluster.restart(slurm.SITE)
    done = cluster.command("salloc", "sh", "-c", "echo $SLURM_JOB_ID", user=hosts.NOBODY)
    says(only_record(cluster, done.stdout.strip()), "begin")
    tap.check(sockets_of(only_record(cluster, cluster.submit("true"))), "a batch job is incomplete")


if __name__ == "__main__":
    slurm.run_cases([cancelled_during_prolog, prolog_fails, slurmd_killed, slurmctld_killed, slurmd_away, host_reboots,
                     no_prolog])
