# SPDX-License-Identifier: BSD-3-Clause
"""What jobs of a real Slurm leave: right bytes, one record for each run on each host. Needs root and Slurm."""
import json

import hosts
import slurm
import tap
from hosts import TMP, TOUCH, UNCORE, Gate, faults, wait_until
from slurm import pages_of, sockets_of

ARRAY = 50


def others_of(record):
    return [socket["others"] for socket in sockets_of(record)]


NOTE = f"note() {{ while read name n; do [ $name != pgfault ] || echo $n >>{TMP}/noted; done </proc/vmstat; }}"
AROUND = f"{NOTE}; note; $HOOK; note"


def truth(cluster):
    """A record has the pages that the job touched, and what the kernel counted between Prolog and Epilog"""
    pages = 200000
    with cluster.hook("prolog", AROUND), cluster.hook("epilog", AROUND):
        record = cluster.record(f"{TOUCH} {pages // 2} 0; {TOUCH} {pages // 2} 1", "-w", "n1")
    noted = [int(line) for line in (TMP / "noted").read_text(encoding="ascii").split()]
    least, most = noted[2] - noted[1], noted[3] - noted[0]
    tap.check(pages <= least <= pages_of(record) <= most, f"{pages_of(record)} pages, should be {least} to {most}")
    tap.equal((record["uid"], record["host"], record["exit"]), (hosts.NOBODY, "n1", "0:0"), "record")


def requeued(cluster):
    """A job that is requeued leaves a record of each run, each with the bytes of its own"""
    first, second = 30000, 60000
    gate = Gate()
    before = faults()
    job = cluster.submit(f"[ $SLURM_RESTART_COUNT ] && exec {TOUCH} {second}; {TOUCH} {first}; {gate.script}",
                         "-w", "n1", "--requeue")
    gate.wait()
    cluster.requeue(job)
    runs = cluster.records(job, 2)
    moved = [pages_of(run) for run in runs]
    tap.check(runs[0]["ended_ns"] <= runs[1]["begun_ns"], f"{runs}")
    tap.check(moved[0] >= first and moved[1] >= second, f"{moved} pages")
    tap.check(sum(moved) <= faults() - before, f"{moved} pages, more than the kernel counted")
    tap.equal([run["step"] for run in runs], [None, None], "this Slurm has no name for a run")


def array(cluster):
    """Each task of an array of 50 leaves its record"""
    job = cluster.submit("true", f"--array=1-{ARRAY}")
    ids = wait_until(lambda: done_tasks(cluster, job), "all tasks to end")
    for record in [cluster.records(task)[0] for task in ids]:
        tap.check(sockets_of(record), f"{record}")


def done_tasks(cluster, job):
    """The ids of all tasks, if all have ended; each has one of its own."""
    lines = cluster.command("squeue", "-h", "-t", "completed", "-j", job, "-o", "%A").stdout.split()
    return set(lines) if len(lines) == ARRAY else None


def heterogeneous(cluster):
    """Each component of a heterogeneous job leaves a record under its own id"""
    job = cluster.command("sbatch", "--parsable", "-o", "/dev/null", "-w", "n1", ":", "-w", "n2", "--wrap", "srun true",
                          user=hosts.NOBODY).stdout.strip()
    for offset, host in enumerate(("n1", "n2")):
        record = cluster.records(str(int(job) + offset))[0]
        tap.equal((record["host"], "failure" in record), (host, False), "record")


def shared(cluster):
    """Of two jobs at once on a host each record says that there was another; of one alone, that there was none"""
    gate = Gate()
    jobs = [cluster.submit(gate.script, "-w", "n1", "-n1") for _ in range(2)]
    gate.wait(2)
    gate.open()
    both = [cluster.records(job)[0] for job in jobs]
    alone = cluster.record("true", "-w", "n1")
    tap.equal([set(others_of(record)) for record in (*both, alone)], [{1}, {1}, {0}], "others")


def suspended(cluster):
    """The window of a job that is suspended and resumed includes the pause"""
    gate = Gate()
    job = cluster.submit(gate.script, "-w", "n1")
    gate.wait()
    cluster.command("scontrol", "suspend", job)
    cluster.wait_for_state(job, "SUSPENDED")
    pages = 20000
    cluster.hosts[0].run(TOUCH, pages)
    cluster.command("scontrol", "resume", job)
    gate.open()
    moved = pages_of(cluster.records(job)[0])
    tap.check(moved >= pages, f"{moved} pages")


def text_of_users(cluster):
    """Nothing that a user writes into a job is run, or looked at, by Prolog and Epilog"""
    trap = TMP / "trap"
    text = f"$(touch {trap});`touch {trap}`"
    folder = TMP / text.replace("/", "_")
    folder.mkdir()
    folder.chmod(0o777)
    script = TMP / "script"
    script.write_text(f"touch {trap}\n", encoding="ascii")
    variables = [f"ENV={script}", f"BASH_ENV={script}", "UNCORE_SOCKET=/nowhere", f"SLURM_JOB_SLUID={text}"]
    job = cluster.command("env", *variables, "sbatch", "--parsable", "-o", "/dev/null", "-J", text, "--comment", text,
                          "-D", folder, "-w", "n1", "--export=ALL", "--wrap", "exit 5",
                          user=hosts.NOBODY).stdout.strip()
    record = cluster.records(job)[0]
    tap.equal(("failure" in record, record["exit"], record["step"]), (False, "5:0", None), "record")
    tap.check(not trap.exists() and "trap" not in json.dumps(record), f"{record}")


def step(cluster):
    """uncore stat in a step of two hosts measures in one task of each; the step's exit status is the command's"""
    done = cluster.command("srun", "-N2", "--ntasks-per-node=2", UNCORE, "stat", "--anyway", "--first-of-node",
                           "--json", "-o", TMP / "%j-%h.json", "--", "sh", "-c", "echo ran; exit 7", user=hosts.NOBODY,
                           status=7)
    tap.equal(done.stdout, "ran\n" * 4, "what the tasks print")
    found = sorted(path.name.partition("-")[2] for path in TMP.glob("*-n*.json"))
    tap.equal(found, ["n1.json", "n2.json"], "files")
    for path in TMP.glob("*-n*.json"):
        tap.check(json.loads(path.read_text(encoding="utf-8"))["sockets"], f"{path} has no sockets")


def step_without_uncored(cluster):
    """Where a host has no uncored, uncore stat --anyway runs the step there all the same"""
    cluster.hosts[1].stop_uncored()
    done = cluster.command("srun", "-N2", UNCORE, "stat", "--anyway", "--first-of-node", "--", "sh", "-c",
                           "echo ran; exit 7", user=hosts.NOBODY, status=7)
    cluster.hosts[1].start_uncored()
    tap.equal(done.stdout, "ran\n" * 2, "what the tasks print")
    tap.equal((done.stderr.count("dram.read") > 0, "uncored" in done.stderr), (True, True), "figures, and a complaint")


if __name__ == "__main__":
    slurm.run_cases([truth, requeued, array, heterogeneous, shared, suspended, text_of_users, step,
                     step_without_uncored], n_hosts=2)
