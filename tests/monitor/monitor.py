# SPDX-License-Identifier: BSD-3-Clause
"""A node with uncored on the stand-in machine, its exporter, and the programs that collect what it prints.

    class Something(Case):
        def test_up(self):
            \"\"\"what the case claims, as a sentence\"\"\"
            self.node.start_uncored()
            self.assertEqual(value_of(self.node.export(), "uncore_up"), 1)

    run_cases()

uncored runs as root, everything else as nobody, in a folder and a network of its own: ports are those of the shipped
files, and nothing outside is reached.
"""
import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
import urllib.request

import processes
import tap
from kernel import can_count
from processes import NOBODY, as_user, wait_until

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
UNCORE, UNCORED = BUILD / "client/uncore", BUILD / "daemon/uncored"
RULES = SOURCE / "conf/prometheus/uncore.rules.yml"
SECONDS = 30  # more than anything takes on a busy machine
# Ports; that of the exporter is its unit's.
EXPORTER = int(re.search(r"^ListenStream=127\.0\.0\.1:(\d+)$",
                         (SOURCE / "systemd/uncore-export-http.socket").read_text(encoding="ascii"), re.MULTILINE)[1])
NODE_EXPORTER, PROMETHEUS = 9100, 9090
BACKLOG = int(re.search(r"^Backlog=(\d+)$", (SOURCE / "systemd/uncore-export-http.socket").read_text(encoding="ascii"),
                        re.MULTILINE)[1])
CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP, IFREQ_BYTES = 0x8914, 1, 40
LOG_BYTES = 4000
SERIES = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)')


# --- the text ---

def series_of(text):
    """{(name, labels as pairs): value}"""
    found = {}
    for line in filter(lambda line: line and not line.startswith("#"), text.splitlines()):
        match = SERIES.fullmatch(line)
        tap.check(match, f"no series: {line}")
        labels = tuple(re.findall(r'(\w+)="([^"]*)"', match["labels"] or ""))
        tap.check((match["name"], labels) not in found, f"twice: {line}")
        found[match["name"], labels] = float(match["value"])
    return found


def names_of(text):
    return {name for name, _ in series_of(text)}


def value_of(text, name, **labels):
    """The value of the one series of this name that has these labels; None: there is none."""
    values = [value for (its_name, its_labels), value in series_of(text).items()
              if its_name == name and set(labels.items()) <= set(its_labels)]
    tap.check(len(values) < 2, f"{len(values)} series {name} {labels}")
    return values[0] if values else None


def comments_of(text):
    return [line[2:] for line in text.splitlines() if line.startswith("# ") and line[2:6] not in ("HELP", "TYPE")]


# --- HTTP ---

def get(port, path):
    """The body, as text."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=SECONDS) as answer:
        return answer.read().decode()


def query(expression):
    """What Prometheus finds: [{"metric": labels, "value": [time, text]}]."""
    return json.loads(get(PROMETHEUS, "/api/v1/query?" + urllib.parse.urlencode({"query": expression})))["data"]["result"]


class Activator(threading.Thread):
    """What systemd does for a socket with Accept=no: when somebody is in its queue, it starts a process for all."""

    def __init__(self, start):
        super().__init__(daemon=True)
        self.start_service = start
        self.listener = socket.create_server(("127.0.0.1", EXPORTER), backlog=BACKLOG)
        self.services = []
        self.ending = threading.Event()

    def run(self):
        while not self.ending.is_set():
            if select.select([self.listener], [], [], 0.05)[0]:
                self.services.append(self.start_service(self.listener))
                self.services[-1].wait()

    def close(self):
        """Ends the process that runs. Returns the exit statuses of all."""
        self.ending.set()
        for service in self.services[-1:]:
            service.terminate()
        self.join()
        self.listener.close()
        return [service.wait(SECONDS) for service in self.services]


# --- the node ---

class Node:
    alive = []

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-monitor-"))
        self.folder.chmod(0o755)
        for name in ("textfile", "log", "data"):
            (self.folder / name).mkdir()
            os.chown(self.folder / name, NOBODY, NOBODY)
        self.socket = self.folder / "socket"
        self.text_file = self.folder / "textfile/uncore.prom"
        self.uncored = self.activator = None
        self.others = []
        Node.alive.append(self)

    def start_uncored(self, config="", platforms=SOURCE / "conf/platforms", machine="standin"):
        (self.folder / "uncored.conf").write_text(config, encoding="ascii")
        self.uncored = self.start([UNCORED, "--config", self.folder / "uncored.conf", "--platforms", platforms, "--root",
                                   BUILD / "tests/machines" / machine, "--socket", self.socket])
        wait_until(self.answers, SECONDS, "uncored answers")

    def answers(self):
        tap.check(self.uncored.poll() is None, "uncored does not start")
        asked = subprocess.run([UNCORE, "info", "--json", "--socket", self.socket], capture_output=True, check=False)
        return asked.returncode == 0 and "platform" in json.loads(asked.stdout)

    def stop_uncored(self):
        process, self.uncored = self.uncored, None
        tap.check(processes.end(process) and process.returncode == 0, "uncored did not end as it should")

    def start(self, argv, **options):
        with open(self.folder / "log" / f"{pathlib.Path(argv[0]).name}.log", "ab") as log:
            return processes.start(argv, **{"stdout": log, "stderr": log, **options})

    # --- the exporter ---

    def run_export(self, *words, uid=NOBODY, **options):
        return subprocess.run([UNCORE, "export", *words], capture_output=True, text=True, check=False, timeout=90,
                              env={"UNCORE_SOCKET": str(self.socket)}, cwd=self.folder, stdin=subprocess.DEVNULL,
                              **as_user(uid), **options)

    def export(self, *words, uid=NOBODY):
        """What it prints; it must succeed, and say nothing else."""
        done = self.run_export(*words, uid=uid)
        tap.equal((done.returncode, done.stderr), (0, ""), "status and complaints of uncore export")
        return done.stdout

    def serve_http(self, *words, uid=NOBODY):
        """Serves HTTP from now on, as the unit does."""
        def start_service(listener):
            pass_it = f"exec 3<&{listener.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\""
            return subprocess.Popen(["sh", "-c", pass_it, "sh", UNCORE, "export", "--http", *words],
                                    pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, env={"UNCORE_SOCKET": str(self.socket)}, cwd="/",
                                    **as_user(uid))

        self.activator = Activator(start_service)
        self.activator.start()
        return self.activator

    # --- collectors ---

    def start_node_exporter(self):
        self.others.append(self.start(
            ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
             f"--collector.textfile.directory={self.text_file.parent}", f"--web.listen-address=127.0.0.1:{NODE_EXPORTER}"],
            **as_user()))
        wait_until(lambda: try_get(NODE_EXPORTER, "/metrics"), SECONDS, "node_exporter answers")

    def start_prometheus(self, *ports):
        targets = [{"job_name": "uncore" if port == EXPORTER else "node",
                    "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]} for port in ports]
        (self.folder / "prometheus.yml").write_text(json.dumps(
            {"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"},
             "rule_files": [str(RULES)], "scrape_configs": targets}), encoding="ascii")
        self.others.append(self.start(
            ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{PROMETHEUS}"], cwd=self.folder / "data", **as_user()))
        wait_until(lambda: try_get(PROMETHEUS, "/-/ready"), SECONDS, "Prometheus is ready")

    # --- the end ---

    def close(self):
        if self not in Node.alive:
            return
        Node.alive.remove(self)
        statuses = self.activator.close() if self.activator else []
        for process in self.others:
            processes.kill(process)  # they would take seconds to write all that they have
        if self.uncored:
            self.stop_uncored()
        left = processes.end_leftovers()
        shutil.rmtree(self.folder)
        tap.equal((set(statuses) - {0, -signal.SIGTERM}, left), (set(), []), "failures of services, and processes left behind")

    def logs(self):
        return [f"{path.name}:\n{path.read_text(errors='replace')[-LOG_BYTES:]}"
                for path in sorted(self.folder.glob("log/*"))]


def try_get(port, path):
    try:
        return get(port, path)
    except OSError:
        return None


def all_metrics_platform(folder):
    """A folder with a stand-in platform that has every metric of all platforms that a site need not enable."""
    names = {name for path in (SOURCE / "conf/platforms").glob("*.conf")
             for name, keys in re.findall(r"^\[([a-z.]+)\]\n([^\[]*(?:\[0-9[^\[]*)*)", path.read_text(encoding="utf-8"),
                                          re.MULTILINE)
             if "opt_in = yes" not in keys} - {"platform"}
    sections = [f"[{name}]\npmu = uncore_standin_0\nevent = raw:event=0x0\nbytes = 1\n"
                + ("unit = ns\n" if name == "clock" else "")
                + ("channel = standin\n" if name in ("dram.read", "hbm.read") else "")
                + "source = a test\nconfidence = low\n"
                for name in sorted(names)]
    folder.mkdir()
    (folder / "standin.conf").write_text("[platform]\ntitle = Has everything\nvendor = Standin\nstandin = yes\n"
                                         + "\n".join(sections), encoding="ascii")
    return folder


# --- dashboards ---

def dashboard(name):
    return json.loads((SOURCE / f"conf/grafana/{name}.json").read_text(encoding="ascii"))


def expressions_of(name):
    return [target["expr"] for panel in dashboard(name)["panels"] for target in panel["targets"]]


# --- cases ---

class Case(unittest.TestCase):
    maxDiff = None
    longMessage = True
    title = ""  # before the sentence of every case of this class

    def setUp(self):
        self.node = Node()
        self.addCleanup(self.node.close)


def leave_network():
    """Into a network that has nothing but the loopback device."""
    tap.check(ctypes.CDLL(None).unshare(CLONE_NEWNET) == 0, "unshare(2) gives no network of its own")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH", b"lo", IFF_UP).ljust(IFREQ_BYTES, b"\0"))


def why_not(programs):
    if os.geteuid() != 0:
        return "needs root, to start uncored and to become nobody"
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        return f"{' and '.join(missing)} not installed"
    return "" if can_count() else "needs perf_event_open(2)"


def interrupt(*_):
    raise KeyboardInterrupt


def run_cases(*programs):
    """Runs every Case of the program, which needs these programs."""
    why = why_not(programs)
    if why:
        tap.skip_all(why)
    signal.signal(signal.SIGTERM, interrupt)
    processes.adopt_descendants()
    leave_network()
    cases = [thing for thing in vars(sys.modules["__main__"]).values()
             if isinstance(thing, type) and issubclass(thing, Case) and thing is not Case]
    try:
        tap.run(cases, lambda: [text for node in Node.alive for text in node.logs()])
    finally:
        for node in list(Node.alive):
            node.close()
