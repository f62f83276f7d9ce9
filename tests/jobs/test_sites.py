# SPDX-License-Identifier: BSD-3-Clause
"""Records as a site has them: who may read them, and the sum over the hosts of a job. Needs root and Slurm."""
import json
import subprocess

import pcphost
import slurm
import tap
from hosts import DAEMON, NOBODY, RECORDS, SECONDS, TOUCH, UNCORE, Gate, wait_until
from slurm import PAGE_BYTES, bytes_of

PAGES = 20000
OWNER_ONLY = "[access]\nowner_only = yes\n"


def users(cluster):
    """Users read the records of their own jobs, and list, begin and end nothing"""
    host = cluster.hosts[0]
    own = cluster.submit("true", "-w", "n1", user=NOBODY)
    cluster.records(own)
    file = host.files(own)[0]
    can_read = {user: host.run("cat", RECORDS / file.name, user=user, status=None).returncode == 0
                for user in (NOBODY, DAEMON)}
    tap.equal(can_read, {NOBODY: True, DAEMON: False}, "who may read it")
    for words in (("ls", RECORDS), ("ls", "/run/uncored-jobs"), (UNCORE, "job", "begin", "1", "--uid", NOBODY),
                  (UNCORE, "job", "end", "1"), (UNCORE, "job", "list")):
        tap.check(host.run(*words, user=NOBODY, status=None).returncode != 0, f"{words} is allowed")


def owner(cluster):
    """Where only the owner may read counters, that is the user of all open jobs; with two users it is nobody"""
    host = cluster.hosts[0]
    host.reload_uncored(OWNER_ONLY)
    gates = [Gate(), Gate()]
    jobs, may = [], []

    def note():
        may.append([user for user in (NOBODY, DAEMON)
                    if host.run(UNCORE, "stat", "true", user=user, status=None).returncode == 0])

    for gate, user in zip(gates, (NOBODY, DAEMON)):
        jobs.append(cluster.submit(gate.script, "-w", "n1", "-n1", user=user))
        gate.wait()
        note()
    for gate, job in zip(gates, jobs):
        gate.open()
        cluster.records(job)
        wait_until(lambda job=job: not cluster.state_is_completing(job), "the Epilog to end")
        note()
    host.reload_uncored("")
    tap.equal(may, [[NOBODY], [], [DAEMON], []], "who may read, in turn")


def several_hosts(cluster):
    """The report of a job on three hosts has exact sums, as PCP has them, and names hosts without a record"""
    with_pcp = pcphost.is_there()
    for host in cluster.hosts if with_pcp else ():
        pcphost.start(host)
    before = {host.name: pcphost.counted(host) for host in cluster.hosts} if with_pcp else {}
    script = "; ".join(f"srun -N1 -n1 -w {host.name} {TOUCH} {PAGES}" for host in cluster.hosts)
    job = cluster.submit(script, "-N3")
    records = cluster.records(job, 3)
    for host in cluster.hosts if with_pcp else ():
        counted = wait_until(lambda host=host: pcphost.counted(host), "PCP's value") - before[host.name]
        moved, = (bytes_of(record) for record in records if record["host"] == host.name)
        tap.check(3 * PAGES * PAGE_BYTES <= moved <= counted, f"{host.name}: {moved} bytes, {counted} by PCP")
    names = cluster.command("scontrol", "show", "hostnames", "n[1-3]").stdout.split()
    report = report_of(job, records, names)
    tap.equal(sum_of(report), sum(map(bytes_of, records)), "bytes")
    tap.equal((report["missing"], len(report["nodes"])), ([], 3), "hosts without a record, and records")
    report = report_of(job, records[1:], names, status=1)
    tap.equal(report["missing"], [records[0]["host"]], "the host without a record")
    tap.equal(sum_of(report), sum(map(bytes_of, records[1:])), "bytes of the others")
    if not with_pcp:
        raise tap.Skip("PCP is not installed, so its sums were not compared")


def sum_of(report):
    return sum(socket["metrics"]["dram.read"]["bytes"] for socket in report["total"]["regions"][0]["sockets"])


def report_of(job, records, names, status=0):
    """uncore job report of these, from stdin."""
    done = subprocess.run([UNCORE, "job", "report", job, "--json", "--hosts", ",".join(names), "-"], check=False,
                          input="".join(json.dumps(record) + "\n" for record in records), capture_output=True,
                          text=True, timeout=SECONDS)
    tap.equal(done.returncode, status, f"status, of {done}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    slurm.run_cases([users, owner, several_hosts], n_hosts=3)
