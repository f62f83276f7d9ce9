# SPDX-License-Identifier: BSD-3-Clause
"""Processes of a test: started with or without privilege, ended by number, none left behind.

The test program is its descendants' reaper: processes that a program leaves behind when it ends become children of the
test, so the test sees leftovers of every program.
"""
import ctypes
import os
import re
import signal
import subprocess
import time

NOBODY = 65534
TERM_SECONDS = 10
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

started = {}  # pid: Popen, of every process that some test object still answers for


prctl = ctypes.CDLL(None).prctl


def adopt_descendants():
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_the_test():
    """In a child: it ends with the test, even if the test is killed."""
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def as_user(uid=NOBODY, groups=()):
    """Arguments of subprocess that make a child this user, in the group of its number and these."""
    return {"user": uid, "group": uid, "extra_groups": list(groups)}


def start(argv, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen([str(word) for word in argv], preexec_fn=end_with_the_test,
                               **options)
    started[process.pid] = process
    return process


def wait_until(condition, seconds, what):
    """Waits until condition() is true, and returns what it returned."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.01)


def end(process, number=signal.SIGTERM):
    """Ends a process; returns whether it heard this signal, and did not have to be killed."""
    heard = True
    if process.poll() is None:
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(TERM_SECONDS)
        except subprocess.TimeoutExpired:
            heard = False
            process.kill()
            process.wait()
    started.pop(process.pid, None)
    return heard


def kill(process):
    process.kill()
    process.wait()
    started.pop(process.pid, None)


def all_processes():
    """Yields (pid, parent's pid, name, state) of every process."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        state, parent = text.rpartition(")")[2].split()[:2]
        yield int(name), int(parent), text.partition("(")[2].rpartition(")")[0], state


def children_of(parent, name=None):
    """Children that still run, with this name if one is given."""
    return [pid for pid, its_parent, its_name, state in all_processes()
            if its_parent == parent and state != "Z" and name in (None, its_name)]


def port_of(pid):
    """The IPv4 port at which a process listens for TCP."""
    inodes = {re.sub(r"\D", "", link) for link in sockets_of(pid)}
    for line in open("/proc/net/tcp", encoding="ascii"):
        fields = line.split()
        if len(fields) > 9 and fields[3] == "0A" and fields[9] in inodes:
            return int(fields[1].rpartition(":")[2], 16)
    raise AssertionError("pmcd listens at no port")


def sockets_of(pid):
    folder = f"/proc/{pid}/fd"
    return [link for fd in os.listdir(folder)
            for link in [os.readlink(f"{folder}/{fd}")] if link.startswith("socket:")]


def reap(pid):
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


def leftovers():
    """Descendants of the test that no test object answers for; reaps descendants that have ended."""
    found = []
    for pid, parent, name, state in list(all_processes()):
        if parent != os.getpid() or pid in started:
            continue
        if state == "Z":
            reap(pid)
        else:
            found.append((pid, name))
    return found


def end_leftovers(seconds=3):
    """Gives leftovers time to end; kills and returns the others."""
    limit = time.monotonic() + seconds
    while leftovers() and time.monotonic() < limit:
        time.sleep(0.02)
    stayed = leftovers()
    for pid, _ in stayed:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return stayed
