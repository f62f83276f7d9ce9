# SPDX-License-Identifier: BSD-3-Clause
"""A machine of its own for `uncore job`: a program that calls enter() runs in a mount namespace with an empty /run, in
which even CPUs are package 0 and odd ones package 1, as on the stand-in machine. All that is written to /run and
/var/spool goes with the namespace."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
sys.path.insert(0, str(pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"]) / "tests/ranks"))
import ranks  # noqa: E402 pylint: disable=wrong-import-position

INSIDE = "UNCORE_TEST_MACHINE"
UNCORE = BUILD / "client/uncore"
TOUCH = BUILD / "tests/workload/touch-pages"
OPEN = pathlib.Path("/run/uncored-jobs")
SPOOL = pathlib.Path("/var/spool/uncored-jobs")
CPUS = "/sys/devices/system/cpu"
NOBODY, DAEMON, PAGE_BYTES, SECONDS = ranks.NOBODY, ranks.DAEMON, ranks.PAGE_BYTES, ranks.SECONDS


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True, timeout=SECONDS)


def enter():
    """Starts this program again in a new namespace, if it is not in one yet."""
    if os.geteuid() != 0:
        tap.skip_all("needs root")
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "yes"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", sys.argv[0]])
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", SPOOL.parent)
    mount("--bind", f"{BUILD}/tests/machines/standin{CPUS}", CPUS)


class Machine:
    """uncored, the folder of open jobs, and one of records."""

    def __init__(self, config, **more):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-jobs-"))
        self.folder.chmod(0o755)
        self.records = self.folder / "records"
        self.uncored = ranks.Uncored(self.folder, config, **more)

    def job(self, *words, status=0, user=0, before=(), stdout=subprocess.PIPE, **more):
        """Runs `uncore job`; before: a program that runs it."""
        done = subprocess.run([*map(str, before), UNCORE, "job", *map(str, words)], user=user, group=user,
                              extra_groups=[], env=self.uncored.environment(None, **more), stdin=subprocess.DEVNULL,
                              stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=SECONDS)
        tap.equal(done.returncode, status, f"status, of {done}")
        return done

    def begin(self, job, *words, uid=NOBODY, **more):
        return self.job("begin", job, "--uid", uid, *words, **more)

    def end(self, job, *words, **more):
        """The record, or None if it failed."""
        done = self.job("end", job, *words, **more)
        return json.loads(done.stdout) if done.stdout else None

    def files(self, job):
        return sorted(self.records.glob(f"{job}@*.json"))

    def open_jobs(self):
        return [entry["job"] for entry in json.loads(self.job("list", "--json").stdout) if entry["open"]]

    def owner(self):
        return self.uncored.command("owner", user=0).stdout.strip()

    def info(self):
        return json.loads(self.uncored.command("info", "--json", user=0).stdout)


@contextlib.contextmanager
def machine(config="", **more):
    """With no open job."""
    here = Machine(config, **more)
    try:
        yield here
    finally:
        here.uncored.process.send_signal(signal.SIGCONT)
        here.uncored.stop()
        for folder in (OPEN, SPOOL, here.records, here.folder):
            for path in folder.iterdir() if folder.exists() else ():
                path.unlink()
            if folder.exists():
                folder.rmdir()


def touch(pages, cpu=1):
    subprocess.run([TOUCH, str(pages), str(cpu)], check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)


def region_of(record):
    """The job. Its sockets are those that it could use."""
    region, = record["regions"]
    tap.equal(region["name"], record["job"][:63], "name")
    return region


def complete(record):
    tap.check("failure" not in record and region_of(record)["sockets"], f"{record}")
    return record


def incomplete(record, *words):
    tap.check(not region_of(record)["sockets"] and not record["outside"], f"{record}")
    for word in words:
        tap.check(word in record["failure"], f"there is no '{word}' in: {record['failure']}")
    return record


def others(record):
    return [socket["others"] for socket in region_of(record)["sockets"]]


def used(record):
    return [socket["socket"] for socket in region_of(record)["sockets"]]
