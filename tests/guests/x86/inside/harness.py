# SPDX-License-Identifier: BSD-3-Clause
"""A guest with the PMUs of some machine, uncored as a service, and a user without privilege."""
import csv
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PMUS = pathlib.Path("/sys/kernel/debug/test_pmu")
CONFIG = pathlib.Path("/etc/uncored/uncored.conf")
DROP_INS = pathlib.Path("/etc/systemd/system/uncored.service.d")
BPF = pathlib.Path("/usr/share/uncored/uncored-bpf.conf")
# The budget is in elapsed time. When the computer below stops an emulated CPU within a sweep, the reader would be
# charged for that time.
BUDGET = "[reader]\nbudget_percent = 100\nburst_ms = 10000\n"
PACKAGES = 2
OPT_IN = ("remote.", "link.", "pcie.", "energy.")  # metrics of platform files with opt_in = yes
CPUS_OF_PACKAGE = 2
VISITOR, STRANGER = "visitor", "stranger"
COMMAND_S = 300
WAIT_S = 90


def identity(user):
    """Options of subprocess that run a command as another user, with no group and no privilege."""
    return {"user": user, "group": user, "extra_groups": []} if user else {}


def run(*words, user=None, check=True, cwd="/", seconds=COMMAND_S):
    """Runs a command, as root unless told; the result has its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd,
                          timeout=seconds, stdin=subprocess.DEVNULL, **identity(user))
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n"
                             f"{done.stdout}{done.stderr}")
    return done


def wait_until(condition, what, seconds=WAIT_S, pause_s=0.05):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause_s)


def sysctl_paranoid(level):
    pathlib.Path("/proc/sys/kernel/perf_event_paranoid").write_text(str(level))


# --- what is wanted ---

def word_of_command_line(key, default=None):
    """The value of "uncored.KEY=" on the kernel's command line."""
    for word in pathlib.Path("/proc/cmdline").read_text().split():
        if word.startswith(f"uncored.{key}="):
            return word.partition("=")[2]
    return default


def is_all_wanted():
    """--all of `./dev guest x86`"""
    return word_of_command_line("all") == "1"


# --- the machine ---

def is_loaded():
    return pathlib.Path("/sys/module/test_pmu").exists()


def load_machine(name, platform=None, without=()):
    """Loads the PMUs of tests/machines/NAME.machine, but not those of some names; uncored is stopped but enabled."""
    stop_uncored()
    change_machine(name, platform, without)


def change_machine(name, platform=None, without=()):
    """As load_machine(), where uncored does not run. The guest has another processor, so the configuration names the
    platform."""
    if is_loaded():
        run("rmmod", "test_pmu")
    run("insmod", HERE / "test_pmu.ko")
    for definition in (HERE / "machines" / name).read_text().split("\n\n"):
        if definition.split()[1] not in without:
            (PMUS / "define").write_text(definition)
    CONFIG.write_text(f"[platform]\nname = {platform or name}\n{BUDGET}")


def control(*lines):
    (PMUS / "control").write_text("\n".join(lines))


def state():
    """{(pmu, package, config): (value, running)}"""
    rows = (line.split() for line in (PMUS / "state").read_text().splitlines())
    return {(pmu, int(package), int(config, 16)): (int(value), int(running))
            for pmu, package, _, config, value, running in rows}


def online(cpu, yes):
    pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/online").write_text(str(int(yes)))


# --- the facts of the sources ---

def expand(pmus, configs):
    """("imc_{0..1}", "{0x1,0x2}"): imc_0 has 0x1, imc_1 has 0x2."""
    span = re.search(r"{(\d+)\.\.(\d+)}", pmus)
    names = [pmus.replace(span[0], str(n)) for n in range(int(span[1]), int(span[2]) + 1)] if span \
        else [pmus]
    each = configs[1:-1].split(",") if configs.startswith("{") else itertools.repeat(configs)
    return [(name, int(config, 16)) for name, config in zip(names, each)]


def terms(text):
    """[(1 or -1, pmu, config)] of a cell of events.csv."""
    words = text.split()
    signs = [1] + [-1 if word == "-" else 1 for word in words[1::2]]
    return [(sign, pmu, config) for sign, word in zip(signs, words[0::2])
            for pmu, config in expand(*word.split("=", 1))]


def facts(machine):
    """Rows of tests/machines/events.csv, of the metrics that are counted unless a site chooses others: the terms of each
    one on each socket, from the sources."""
    with open(HERE / "events.csv", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file)
                if machine in row["machines"].split() and not row["metric"].startswith(OPT_IN)]


def sockets_of(row):
    """The guest has two sockets; a machine may have one."""
    if row["socket"] != "*":
        return [int(row["socket"])]
    return range(min(PACKAGES, len(row["cpus"].split("/"))))


# --- uncored ---

def start_uncored():
    """Starts uncored and waits until it is ready: in an emulated machine that takes longer than a client waits for its
    first answer."""
    run("systemctl", "start", "uncored.socket", "uncored.service")


def stop_uncored():
    run("systemctl", "stop", "uncored.service", "uncored.socket")
    run("systemctl", "reset-failed", "uncored.service", "uncored.socket", check=False)


def show(property_name, unit="uncored.service"):
    return run("systemctl", "show", "-P", property_name, unit).stdout.strip()


def is_active(unit):
    return run("systemctl", "is-active", unit, check=False).stdout.strip() == "active"


def uncored_pid():
    return int(show("MainPID"))


def reader_tasks():
    """The threads that read, by socket."""
    tasks = pathlib.Path(f"/proc/{uncored_pid()}/task").iterdir()
    names = {(task / "comm").read_text().strip(): int(task.name) for task in tasks}
    return [names[f"socket{socket}"] for socket in range(PACKAGES)]


def status_of(pid):
    """Of /proc/PID/status, as words."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: text.strip() for key, _, text in (line.partition(":") for line in lines)}


def journal(*words):
    """The lines of the service and its socket, and systemd's lines about them."""
    run("journalctl", "--sync")
    return run("journalctl", "-q", "--no-pager", "-o", "cat", "-u", "uncored.service",
               "-u", "uncored.socket", *words).stdout


def journal_mark():
    """A word for journal(): only lines from now on. (After --after-cursor, journalctl of systemd 252 leaves out the
    first line that matches.)"""
    run("journalctl", "--sync")
    return f"--since=@{time.time():.6f}"


def set_drop_ins(texts):
    """Sets the drop-ins {file name: text}, and no others."""
    if texts == {path.name: path.read_text() for path in DROP_INS.glob("*")}:
        return
    shutil.rmtree(DROP_INS, ignore_errors=True)
    DROP_INS.mkdir(parents=True)
    for name, text in texts.items():
        (DROP_INS / name).write_text(text)
    run("systemctl", "daemon-reload")


def stat(lines, check=True):
    """The report of `uncore stat` for a visitor, whose command makes the PMUs count."""
    path = pathlib.Path("/tmp/commands")
    path.write_text("\n".join(lines))
    path.chmod(0o644)
    done = run("uncore", "stat", "--json", "--", "sh", "-c", f"cat {path} >{PMUS}/control", user=VISITOR,
               check=check)
    return json.loads(done.stderr)


def measure(act):
    """As stat(), but act() does something here while the visitor's command runs."""
    begun, go = pathlib.Path("/tmp/begun"), pathlib.Path("/tmp/go")
    for path in (begun, go):
        path.unlink(missing_ok=True)
    command = f"touch {begun}; until [ -e {go} ]; do sleep 0.05; done"
    with subprocess.Popen(["uncore", "stat", "--json", "--", "sh", "-c", command], cwd="/", text=True,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **identity(VISITOR)) as process:
        try:
            wait_until(lambda: begun.exists() or process.poll() is not None, "the visitor's command runs")
            act()
        finally:
            go.touch()
        return json.loads(process.communicate(timeout=COMMAND_S)[1])


def info():
    """The report on uncored for a visitor."""
    return json.loads(run("uncore", "info", "--json", user=VISITOR).stdout)


def metrics_of(report):
    """{(socket, metric): object}"""
    return {(socket["socket"], name): value for socket in report["sockets"]
            for name, value in socket["metrics"].items()}


class Case(unittest.TestCase):
    """A case is a sentence; see tap.py."""


def by_program(case):
    """The same cases, where a program in the kernel reads the boxes, by the drop-in for it."""
    class ByProgram(case):
        about = getattr(case, "about", "") + "bpf: "

        @classmethod
        def setUpClass(cls):
            set_drop_ins({BPF.name: BPF.read_text()})
            cls.addClassCleanup(set_drop_ins, {})
            super().setUpClass()

        def test_program(self):
            """all boxes of a socket that are pinned to their counters are read by the program"""
            start_uncored()
            stat([])
            for socket in info()["sockets"]:
                n_pinned = [box["mode"] for box in socket["boxes"]].count("pinned")
                self.assertGreater(n_pinned, 0)
                self.assertEqual([socket["method"]["name"], socket["method"]["by_program"]], ["bpf", n_pinned])
    return ByProgram


def reports():
    return ["the journal of uncored:", journal("-n", "20")]


if os.getpid() != 1 and pathlib.Path("/run/systemd/system").exists():
    run("mount", "-o", "remount,mode=755", "/sys/kernel/debug")
