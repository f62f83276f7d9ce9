# SPDX-License-Identifier: BSD-3-Clause
"""Hosts of a cluster on this machine: a program that calls enter() runs as the first process of new namespaces, in
which this build is installed, and each Host has a network, a name, a /run and a folder of records of its own.

All that is written lies in memory that goes with the namespaces, and all processes end with the first. The hosts share
one kernel, so the counters of the stand-in machine count the same page faults on each.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
PREFIX = pathlib.Path(os.environ["UNCORE_PREFIX"])
UNCORE = PREFIX / "bin/uncore"
TOUCH = BUILD / "tests/workload/touch-pages"
INSIDE = "UNCORE_TEST_INSIDE"
NAMESPACES = ("--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc",
              "--propagation", "private")
# Of all hosts, in memory; it hides nothing of the tree.
SHARED = next(path for path in map(pathlib.Path, ("/mnt", "/srv", "/media"))
              if path not in (*SOURCE.parents, *BUILD.parents))
TMP = SHARED / "tmp"  # where jobs may write
RECORDS = pathlib.Path("/var/lib/uncored-jobs")
SOCKET = pathlib.Path("/run/uncored/socket")
NETWORK = "10.98.0"
HEAD = f"{NETWORK}.254"
N_HOSTS = 3
SECONDS = 180
PAGE_BYTES = 4096
NOBODY, DAEMON = 65534, 1  # users
ENVIRONMENT = {"PATH": f"{PREFIX}/bin:{PREFIX}/sbin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "HOME": "/tmp"}


def run(*argv, status=0, **options):
    """Runs a program to its end. status: what it must end with; None: anything."""
    done = subprocess.run([str(word) for word in argv], check=False, text=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, capture_output=True, **{"env": ENVIRONMENT, **options})
    tap.check(status in (None, done.returncode), f"{done}")
    return done


def faults():
    """Of the whole machine so far, as the kernel counts them."""
    for line in pathlib.Path("/proc/vmstat").read_text(encoding="ascii").splitlines():
        if line.startswith("pgfault "):
            return int(line.split()[1])
    raise AssertionError("the kernel counts no faults")


class Gate:
    """Jobs that come to it say so, and wait until the test opens it."""
    made = 0

    def __init__(self):
        Gate.made += 1
        self.open_path, self.reached_path = (TMP / f"{word}-{Gate.made}" for word in ("open", "reached"))
        self.script = f"echo >>{self.reached_path}; until [ -e {self.open_path} ]; do sleep 0.05; done"

    def n_reached(self):
        return len(self.reached_path.read_text(encoding="ascii").splitlines()) if self.reached_path.exists() else 0

    def wait(self, count=1):
        wait_until(lambda: self.n_reached() >= count, f"{count} jobs at the gate")

    def open(self):
        self.open_path.touch()


def wait_until(condition, what):
    """Waits until condition() is true, and returns what it returned."""
    deadline = time.monotonic() + SECONDS
    while not (value := condition()):
        tap.check(time.monotonic() < deadline, f"waited in vain for {what}")
        time.sleep(0.02)
    return value


# --- the namespaces ---

def why_not():
    """Why there can be no such hosts here; "" if there can."""
    if os.geteuid() != 0:
        return "needs root, for namespaces and counters"
    done = run("unshare", *NAMESPACES, "true", status=None)
    return f"needs namespaces: {done.stderr.strip()}" if done.returncode else ""


def enter():
    """Starts this program again in new namespaces, if it is not in them yet."""
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "yes"
        os.execvp("unshare", ["unshare", *NAMESPACES, sys.executable, "-B", os.path.abspath(sys.argv[0])])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the first process gets no signal without a handler
    with contextlib.suppress(PermissionError):
        os.nice(-20)  # no node starves its daemons so long that they do not answer within a second; this machine may
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", SHARED)
    for folder in ("/run", "/var/spool"):
        mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
    TMP.mkdir()
    TMP.chmod(0o1777)
    install()
    overlay("/var/lib")
    shutil.rmtree(RECORDS, ignore_errors=True)  # what this machine's own jobs left is not seen in here
    RECORDS.mkdir()
    bring_up_network()


def mount(*words):
    run("mount", *words)


def overlay(path):
    """Makes a folder writable without writing to it."""
    upper, work = (SHARED / "overlays" / (kind + str(path).replace("/", "-")) for kind in ("upper", "work"))
    for folder in (upper, work):
        folder.mkdir(parents=True)
    mount("-t", "overlay", "-o", f"lowerdir={path},upperdir={upper},workdir={work}", "overlay", path)


def install():
    """As doc/install.md says, over the real folders."""
    root = SHARED / "root"
    run("meson", "install", "--no-rebuild", "--quiet", "-C", BUILD, "--destdir", root, env=os.environ)
    overlay("/etc")
    mount("-t", "overlay", "-o", f"lowerdir={root}{PREFIX}:{PREFIX}", "overlay", PREFIX)
    run("ldconfig")


def bring_up_network():
    """Slurm resolves not even "127.0.0.1" where the only address is that of lo."""
    run("hostname", "head")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "br0", "type", "bridge")
    run("ip", "addr", "add", f"{HEAD}/24", "dev", "br0")
    run("ip", "link", "set", "br0", "up")
    names = [f"{NETWORK}.{number} n{number}" for number in range(1, N_HOSTS + 1)]
    pathlib.Path("/etc/hosts").write_text("\n".join(["127.0.0.1 localhost", f"{HEAD} head", *names, ""]),
                                          encoding="ascii")


# --- a host ---

class Host:
    """n1, n2, ...; folder has what the test keeps of it."""

    def __init__(self, number):
        self.name = f"n{number}"
        self.folder = SHARED / self.name
        self.folder.mkdir()
        self.config = self.folder / "uncored.conf"
        self.config.write_text("", encoding="ascii")
        self.manager = None
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "--mount", "--propagation", "private", "sh", "-c",
             f"hostname {self.name} && echo && exec sleep infinity"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=ENVIRONMENT)
        self.holder.stdout.readline()
        self.join_network(number)
        self.new_folder("/run")
        self.new_folder("/var/spool")
        self.new_folder(RECORDS)
        self.run("systemd-tmpfiles", "--create", "uncored-jobs.conf")

    def join_network(self, number):
        run("ip", "link", "add", f"e{number}", "type", "veth", "peer", "name", "eth0", "netns", self.holder.pid)
        run("ip", "link", "set", f"e{number}", "master", "br0", "up")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")

    def new_folder(self, path):
        self.run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path)

    def path(self, path):
        """What this host has at path."""
        return pathlib.Path(f"/proc/{self.holder.pid}/root{path}")

    def argv(self, *words, user=0):
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        return ["nsenter", f"--target={self.holder.pid}", "--net", "--uts", "--mount", *become, *map(str, words)]

    def run(self, *words, user=0, status=0, **options):
        return run(*self.argv(*words, user=user), status=status, **options)

    def start(self, *words, log, **options):
        with open(self.folder / log, "ab") as output:
            return subprocess.Popen(self.argv(*words), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                    **{"env": ENVIRONMENT, **options})

    # --- its uncored ---

    def start_uncored(self, *options):
        """Under a service manager; option --no-store: one that keeps no descriptors."""
        readies = self.readies()
        self.manager = self.start(
            sys.executable, "-B", SOURCE / "tests/harness/manager.py", *options, SOCKET, PREFIX / "sbin/uncored",
            "--platforms", SOURCE / "conf/platforms", "--root", BUILD / "tests/machines/standin",
            "--config", self.config, log="manager")
        self.wait_for_ready(readies)

    def told(self, words):
        """Lines in which the manager says this."""
        path = self.folder / "manager"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(f"uncored is {words}")]

    def readies(self):
        return len(self.told("ready"))

    def wait_for_ready(self, readies):
        wait_until(lambda: self.readies() > readies, "uncored to be ready")

    def signal_uncored(self, number):
        os.kill(int(self.told("process")[-1].split()[-1]), number)

    def kill_uncored(self):
        """Returns when the next process serves."""
        readies = self.readies()
        self.signal_uncored(signal.SIGKILL)
        self.wait_for_ready(readies)

    def reload_uncored(self, config):
        readies = self.readies()
        self.config.write_text(config, encoding="ascii")
        self.signal_uncored(signal.SIGHUP)
        self.wait_for_ready(readies)

    def stop_uncored(self):
        self.manager.terminate()
        tap.equal(self.manager.wait(SECONDS), 0, "uncored's status")

    def new_boot(self):
        """Nothing of /run is to be seen, and nothing is left of uncored."""
        self.manager.kill()
        self.manager.wait(SECONDS)
        self.signal_uncored(signal.SIGKILL)
        self.new_folder("/run")
        self.start_uncored()

    # --- its jobs ---

    def files(self, job):
        """Of its records here, the oldest first."""
        return sorted(self.path(RECORDS).glob(f"{job}@*.json"))

    def records(self, job):
        return [json.loads(path.read_text(encoding="utf-8")) for path in self.files(job)]
