# SPDX-License-Identifier: BSD-3-Clause
"""A private Slurm on the hosts of hosts.py: munged and slurmctld on the head, a slurmd on each host, and uncored's
Prolog and Epilog as the build installs them.

Slurm's own traps: a folder of munged must not be writable for others; hosts need SlurmdParameters=config_overrides,
because they claim more CPUs than this machine may have; heterogeneous jobs need the backfill scheduler.
"""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time

import hosts
import tap
from hosts import NOBODY, PAGE_BYTES, PREFIX, SECONDS, SHARED, Host, run, wait_until

FOLDER = SHARED / "slurm"
CONF = pathlib.Path("/etc/slurm/slurm.conf")
HOOKS = PREFIX / "share/uncored/slurm"
SITE = f"""
PrologEpilogTimeout=30
Prolog={FOLDER}/prolog
Epilog={FOLDER}/epilog
"""
ALLOC = "PrologFlags=Alloc\n"
NEEDED = ("slurmctld", "slurmd", "munged", "sbatch")

COMMON = f"""
ClusterName=private
SlurmctldHost=head({hosts.HEAD})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={FOLDER}/munge.socket
CredType=cred/munge
StateSaveLocation={FOLDER}/state
SlurmdSpoolDir={FOLDER}/spool.%n
SlurmctldPidFile={FOLDER}/slurmctld.pid
SlurmdPidFile={FOLDER}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SlurmctldTimeout=5
SlurmdTimeout=20
KillWait=2
InactiveLimit=0
MinJobAge=3600
"""
NODE = "NodeName={name} NodeAddr={name} Sockets=2 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000\n"


def why_not():
    """Why there can be no such Slurm here; "" if there can."""
    missing = [name for name in NEEDED if not shutil.which(name, path=hosts.ENVIRONMENT["PATH"])]
    return f"Slurm is not installed: there is no {missing[0]}" if missing else hosts.why_not()


class Cluster:
    """n_hosts hosts with uncored. site: more lines of slurm.conf."""

    def __init__(self, n_hosts=1, site=SITE + ALLOC):
        FOLDER.mkdir()
        self.processes = {}
        self.hosts = [Host(number) for number in range(1, n_hosts + 1)]
        for host in self.hosts:
            host.start_uncored()
        for name in ("prolog", "epilog"):
            self.install_hook(name)
        self.configure(site)
        self.start_munged()
        self.start_slurmctld()
        for host in self.hosts:
            self.start_slurmd(host)
        self.wait_idle()

    def configure(self, site):
        nodes = "".join(NODE.format(name=host.name) for host in self.hosts)
        CONF.parent.mkdir(exist_ok=True)
        CONF.write_text(f"{COMMON}{site}{nodes}PartitionName=all Nodes=ALL Default=YES MaxTime=10\n", encoding="ascii")

    # --- its daemons ---

    def start_munged(self):
        run("mungekey", "--create", f"--keyfile={FOLDER}/munge.key")
        self.start("munged", "munged", "--foreground", f"--socket={FOLDER}/munge.socket",
                   f"--key-file={FOLDER}/munge.key", f"--pid-file={FOLDER}/munged.pid",
                   f"--log-file={FOLDER}/munged.log", f"--seed-file={FOLDER}/munge.seed")
        wait_until((FOLDER / "munge.socket").exists, "munged to listen")

    def start(self, name, *argv):
        with open(FOLDER / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(argv, env=hosts.ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=log,
                                                    stderr=log)

    def start_slurmctld(self, *options):
        self.start("slurmctld", "slurmctld", "-D", *options)
        wait_until(lambda: self.command("scontrol", "ping", status=None).returncode == 0, "slurmctld to answer")

    def start_slurmd(self, host, *options):
        self.start(host.name, *host.argv("slurmd", "-D", *options))

    def restart(self, site):
        """With other lines of slurm.conf."""
        for name in ("slurmctld", *(host.name for host in self.hosts)):
            self.processes[name].terminate()
            self.processes[name].wait(SECONDS)
        self.configure(site)
        self.start_slurmctld()
        for host in self.hosts:
            self.start_slurmd(host)
        self.wait_idle()

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait(SECONDS)

    @contextlib.contextmanager
    def read_again(self):
        """Something makes each slurmd read slurm.conf again, which it says in its log."""
        words = "CPU frequency setting not configured"
        logs = [FOLDER / f"{host.name}.log" for host in self.hosts]
        before = [path.read_text(encoding="utf-8").count(words) for path in logs]
        yield
        for path, count in zip(logs, before):
            wait_until(lambda path=path, count=count: path.read_text(encoding="utf-8").count(words) > count,
                       "slurmd to read slurm.conf")

    def save(self, job):
        """A slurmctld that is killed before it has saved that a job runs forgets it, and gives its id again."""
        now, path = time.time(), FOLDER / "state/job_state"
        self.command("scontrol", "update", f"jobid={job}", "comment=changed")
        wait_until(lambda: path.exists() and path.stat().st_mtime > now, "slurmctld to save its state")

    def reboot(self, host):
        """As if its power had failed: without its slurmd, all steps and all that was in memory."""
        self.kill(host.name)
        for pid in steps():
            os.kill(pid, signal.SIGKILL)
        host.new_boot()
        self.start_slurmd(host, "-b")

    def states(self):
        """The states of all nodes, as a set of words."""
        return set(self.command("sinfo", "-h", "-N", "-o", "%T").stdout.split())

    def wait_idle(self):
        wait_until(lambda: self.states() == {"idle"}, "all nodes to be idle")

    # --- its jobs ---

    def command(self, *words, user=0, status=0):
        return run(*words, status=status, env=hosts.ENVIRONMENT, cwd="/tmp", **as_user(user))

    def start_command(self, *words, user=NOBODY):
        return subprocess.Popen([str(word) for word in words], env=hosts.ENVIRONMENT, cwd="/tmp", text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                **as_user(user))

    def submit(self, script, *options, user=NOBODY):
        """A batch job; returns its id as text."""
        return self.command("sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap", script,
                            user=user).stdout.strip()

    def requeue(self, job):
        """Slurm would wait for two minutes before it starts the job again; slurmd refuses it in the second in which the
        former run ended."""
        self.command("scontrol", "requeue", job)
        self.wait_for_state(job, "PENDING")
        self.command("scontrol", "update", f"jobid={job}", "starttime=now+2")

    def state(self, job):
        return self.command("squeue", "-h", "-a", "-t", "all", "-j", job, "-o", "%T").stdout.split()

    def state_is_completing(self, job):
        return "COMPLETING" in self.command("scontrol", "show", "job", job).stdout

    def wait_for_state(self, job, word):
        wait_until(lambda: self.state(job) == [word], f"job {job} to be {word}")

    def records(self, job, count=1):
        """Waits for so many records of a job, on all hosts together."""
        wait_until(lambda: len(self.found(job)) >= count, f"{count} records of job {job}")
        tap.equal(len(self.found(job)), count, f"records of job {job}")
        return self.found(job)

    def found(self, job):
        return [record for host in self.hosts for record in host.records(job)]

    def record(self, script, *options, user=NOBODY):
        """The one record of a job that does this."""
        return self.records(self.submit(script, *options, user=user))[0]

    # --- its site ---

    @contextlib.contextmanager
    def hook(self, name, script):
        """The site's own Prolog or Epilog for a while, in which $HOOK is that of uncored."""
        path = FOLDER / name
        path.unlink()
        path.write_text(f"#!/bin/sh\nHOOK={HOOKS}/{name}\n{script}\n", encoding="ascii")
        path.chmod(0o755)
        try:
            yield
            self.wait_idle()
        finally:
            self.install_hook(name)

    def install_hook(self, name):
        path = FOLDER / name
        path.unlink(missing_ok=True)
        path.symlink_to(HOOKS / name)

    def logs(self):
        """The ends of all logs, as texts."""
        paths = [*FOLDER.glob("*.log"), *(path for host in self.hosts for path in host.folder.glob("manager"))]
        return [f"{path}:\n{path.read_text(encoding='utf-8', errors='replace')[-3000:]}" for path in sorted(paths)]


def as_user(user):
    """Slurm looks the user up; no case needs another group."""
    return {"user": user, "group": pwd.getpwuid(user).pw_gid, "extra_groups": []} if user else {}


def steps():
    """Processes of slurmstepd, and of the jobs that they run. Those that have ended are not reaped here."""
    lines = run("ps", "-e", "-o", "pid=,ppid=,comm=,stat=").stdout.splitlines()
    running = [line.split()[:3] for line in lines if not line.split()[-1].startswith("Z")]
    parents = [pid for pid, _, name in running if name == "slurmstepd"]
    return [int(pid) for pid, parent, _ in running if pid in parents or parent in parents]


def sockets_of(record):
    """None if it has no figures."""
    region, = record["regions"]
    return region["sockets"]


def bytes_of(record, metric="dram.read"):
    """Of all sockets."""
    tap.check("failure" not in record, f"the record is not complete: {record}")
    return sum(socket["metrics"][metric]["bytes"] for socket in sockets_of(record))


def pages_of(record):
    return bytes_of(record) / PAGE_BYTES


def run_cases(cases, **options):
    """Runs functions of a Cluster, whose docstrings are their sentences, and ends the program."""
    why = why_not()
    if why:
        tap.skip_all(why)
    hosts.enter()
    cluster = Cluster(**options)
    tap.run_functions([(case.__doc__, lambda case=case: case(cluster)) for case in cases], cluster.logs)
