# SPDX-License-Identifier: BSD-3-Clause
"""A private pmcd with the uncore agent, on a uncored of its own on the stand-in machine.

    class Something(Case):
        @classmethod
        def setUpClass(cls):
            cls.pcp = cls.shared_pcp()      # closed when the class is done; new_pcp(): the case
            cls.pcp.start_uncored()
            cls.pcp.start_pmcd(agent="dso")

        def test_name(self):
            \"\"\"what the case claims, as a sentence\"\"\"
            self.assertIn("socket0", self.pcp.run("pminfo", "-f", "uncore.dram.read").stdout)

    run_cases()

uncored runs as root, everything else as nobody, in a folder of its own: nothing below /etc, /var
and /run is written. To be run by `meson test`, which says where the tree and the build are.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import processes
import tap
from kernel import can_count
from processes import NOBODY, as_user, wait_until
from reading import is_served
from talk import Talk

DOMAIN = 470
PCP_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"  # pmrep and pcp-dstat need Debian's own python3
READY_SECONDS = 180
NOBODY_ALONE = as_user(NOBODY)
LOG_BYTES = 4000  # of a log, the most that is shown
OWN_FILES = ("pmda/pmdauncore", "pmda/pmda_uncore.so", "client/libuncore.so.0", "client/uncore",
             "tests/workload/touch-pages", "tests/pcp/pcp-fetch", "tests/pcp/touch-when-told")


def source_root():
    return pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])


def build_root():
    return pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])


def read_pcp_conf():
    pairs = {}
    try:
        for line in open("/etc/pcp.conf", encoding="utf-8"):
            name, equals, value = line.strip().partition("=")
            if equals and not name.startswith("#"):
                pairs[name] = value.strip('"')
    except FileNotFoundError:
        pass
    return pairs


PCP_CONF = read_pcp_conf()


def pcp_file(variable, *rest):
    return pathlib.Path(PCP_CONF.get(variable, "/nonexistent"), *rest)


def metric_section(name, pmu, event, n_bytes, channel=None):
    """A section of a platform file; a further term if the name has a slash."""
    lines = [f"[{name}]", f"pmu = {pmu}", f"event = sysfs:{event}", f"bytes = {n_bytes}"]
    lines += [f"channel = {channel}"] if channel else []
    lines += [] if "/" in name else ["source = test", "confidence = high"]
    return "\n".join([*lines, ""])


def n_sockets():
    """Of the stand-in machine: its even CPUs are socket 0, its odd ones socket 1."""
    return min(2, os.cpu_count())


def wait_until_it_answers(uncored, socket_path):
    """Needed because this uncored has no service manager that it could tell, or that keeps its descriptors."""
    def answers():
        if uncored.poll() is not None:
            raise AssertionError(f"uncored ended with status {uncored.returncode}")
        asked = subprocess.run([build_root() / "client/uncore", "info", "--socket", socket_path],
                               capture_output=True, timeout=180, check=False)
        return asked.returncode == 0

    wait_until(answers, READY_SECONDS, "uncored answers")


# --- a private PCP ---


class PrivatePcp:
    alive = []  # instances whose logs a failing case shows

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-pcp-"))
        self.uncored = self.pmcd = None
        self.spawned = []
        self.problems = []
        self.shown = {}  # how much of each log was shown so far
        self.agent = None
        PrivatePcp.alive.append(self)
        self._fill_folder()
        self.env = self._environment()

    # --- the folder ---

    def _fill_folder(self):
        self.folder.chmod(0o755)
        for name in ("run", "log", "log/pmcd", "tmp", "home", "work",
                     "var", "var/config", "var/config/pmda"):
            self._make_folder(name)
        (self.folder / "bin").mkdir()
        for name in OWN_FILES:
            if (build_root() / name).exists():
                shutil.copy(build_root() / name, self.folder / "bin")
        self._fill_pmdas()
        self._compile_help()

    def _make_folder(self, name):
        path = self.folder / name
        path.mkdir()
        os.chown(path, NOBODY, NOBODY)

    def _fill_pmdas(self):
        """Makes the files that an agent finds below PCP_PMDAS_DIR: its own, and all of PCP's own."""
        own = self.folder / "pmdas" / "uncore"
        own.mkdir(parents=True)
        for path in pcp_file("PCP_PMDAS_DIR").iterdir():
            if path.name != own.name:
                (own.parent / path.name).symlink_to(path)
        for name in ("domain.h", "help", "pmns", "pmns-perfevent", "root"):
            if (source_root() / "pmda" / name).exists():
                shutil.copy(source_root() / "pmda" / name, own)

    def _compile_help(self):
        own = self.folder / "pmdas" / "uncore"
        if (own / "help").exists():
            subprocess.run([pcp_file("PCP_BINADM_DIR", "newhelp"), "-n", "root", "-v", "2",
                            "-o", "help", "help"], cwd=own, check=True, timeout=180)

    def _environment(self):
        folder = self.folder
        env = {
            "HOME": folder / "home",
            "LC_ALL": "C",
            "LD_LIBRARY_PATH": folder / "bin",
            "PATH": f"{folder}/bin:{PCP_PATH}:{PCP_CONF['PCP_BINADM_DIR']}",
            "TZ": "UTC",
            "PCP_RUN_DIR": folder / "run",
            "PCP_LOG_DIR": folder / "log",
            "PCP_TMP_DIR": folder / "tmp",
            "PCP_TMPFILE_DIR": folder / "tmp",
            "PCP_PMCDCONF_PATH": folder / "pmcd.conf",
            "PCP_PMDAS_DIR": folder / "pmdas",
            "PCP_DERIVED_CONFIG": "",
            "PMNS_DEFAULT": folder / "root",
            "PMCD_SOCKET": folder / "run" / "pmcd.socket",
            # A client that finds no pmcd at that socket tries the port, which must not be the port of the machine's
            # pmcd.
            "PMCD_PORT": "1",
            "UNCORE_SOCKET": folder / "uncored.socket",
        }
        return {name: str(value) for name, value in env.items()}

    # --- uncored ---

    def start_uncored(self, machine="standin", config="", **options):
        """machine: of tests/machines, or what make_machine() returned; config: text of
        uncored.conf; further options are long options of uncored."""
        (self.folder / "uncored.conf").write_text(config, encoding="utf-8")
        argv = [build_root() / "daemon/uncored", "--config", self.folder / "uncored.conf",
                "--platforms", source_root() / "conf/platforms",
                "--root", build_root() / "tests/machines" / machine,
                "--socket", self.env["UNCORE_SOCKET"]]
        for name, value in options.items():
            argv += ["--" + name, value]
        self.uncored = self._start(argv, "uncored.log")
        wait_until_it_answers(self.uncored, self.env["UNCORE_SOCKET"])

    def make_machine(self, text):
        """A tree for start_uncored(), of a text in the format of tests/machines/mktree: its differences from the
        stand-in machine."""
        machines = source_root() / "tests/machines"
        folder = pathlib.Path(tempfile.mkdtemp(prefix="machine-", dir=self.folder))
        shutil.copy(machines / "standin.machine", folder)
        (folder / "own.machine").write_text(f"[machine]\nlike = standin\n{text}",
                                            encoding="ascii")
        subprocess.run([sys.executable, machines / "mktree", folder / "own.machine",
                        folder / "tree"], check=True, timeout=180)
        return folder / "tree"

    def make_platform(self, *sections, name="standin"):
        """A folder for start_uncored(platforms=...): a stand-in platform with these sections."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="platforms-", dir=self.folder))
        head = "[platform]\ntitle = Stand-in of a test\nvendor = Standin\nstandin = yes\n"
        (folder / f"{name}.conf").write_text("\n".join([head, *sections]), encoding="ascii")
        return folder

    def reload_uncored(self, config):
        """Makes uncored read another uncored.conf, and waits until it holds."""
        log = self.folder / "log/uncored.log"

        def n_reloads():
            return log.read_text(encoding="utf-8").count("The configuration was read again.")

        before = n_reloads()
        (self.folder / "uncored.conf").write_text(config, encoding="utf-8")
        self.uncored.send_signal(signal.SIGHUP)
        wait_until(lambda: n_reloads() > before, READY_SECONDS, "uncored reads its configuration")

    def stop_uncored(self):
        """Sends SIGTERM; uncored must end by itself, with status 0."""
        process, self.uncored = self.uncored, None
        self._end(process, expected=0)

    def kill_uncored(self):
        """Kills uncored as if it had crashed: its socket stays behind."""
        processes.kill(self.uncored)
        self.uncored = None

    def info(self):
        """What `uncore info --json` says."""
        return json.loads(self.run("uncore", "info", "--json").stdout)

    # --- pmcd ---

    def start_pmcd(self, agent="pipe", perfevent=False, extra_conf=(), extra_pmns=(),
                   restart_agents=False, pmda_options="", uid=NOBODY):
        """agent: how pmcd runs the uncore agent: "pipe", "socket" (a Unix one), "dso"; None: not at all. perfevent:
        with the compatible tree. extra_conf: further lines of pmcd.conf. extra_pmns: files, each with a complete
        root{}. uid: the user of pmcd and its agents; agents of root also need `-U root` in pmda_options."""
        self.agent = agent
        self._write_conf(agent, pmda_options, extra_conf)
        self._merge_names(agent, perfevent, extra_pmns)
        env = dict(self.env, PMCD_LOCAL="1", PMCD_ROOT_AGENT="0",
                   PCP_VAR_DIR=str(self.folder / "var"),  # where agents keep what survives them
                   PMCD_RESTART_AGENTS=str(int(restart_agents)))
        del env["PMCD_PORT"]
        folder = self.folder
        # -f: pmcd does not become user pcp, and may run as any user; -p 0: any port of the loopback device.
        self.pmcd = self._start(
            [pcp_file("PCP_BINADM_DIR", "pmcd"), "-f", "-A", "-c", folder / "pmcd.conf",
             "-n", folder / "root", "-p", "0", "-s", env["PMCD_SOCKET"],
             "-l", folder / "log/pmcd/pmcd.log", "-x", folder / "log/pmcd/fatal"],
            "pmcd.out", env=env, cwd=folder / "log/pmcd", **processes.as_user(uid))
        wait_until(self._pmcd_answers, READY_SECONDS, "pmcd answers")

    def stop_pmcd(self):
        process, self.pmcd = self.pmcd, None
        self._end(process, expected=0)

    def _pmcd_answers(self):
        if self.pmcd.poll() is not None:
            raise AssertionError(f"pmcd ended with status {self.pmcd.returncode}")
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(self.env["PMCD_SOCKET"]):
                return False
        return self.run("pmprobe", "pmcd.numagents", check=False).stdout.startswith(
            "pmcd.numagents 1")

    def _write_conf(self, agent, options, extra_conf):
        program, log = self.folder / "bin/pmdauncore", self.folder / "log/uncore.log"
        path = self.folder / "run/uncore.socket"
        lines = [f"pmcd 2 dso pmcd_init {pcp_file('PCP_PMDAS_DIR', 'pmcd/pmda_pmcd.so')}"]
        lines += {
            None: [],
            "pipe": [f"uncore {DOMAIN} pipe binary {program} -d {DOMAIN} -l {log} {options}"],
            "socket": [f"uncore {DOMAIN} socket unix {path} "
                       f"{program} -d {DOMAIN} -u {path} -l {log} {options}"],
            "dso": [f"uncore {DOMAIN} dso uncore_init {self.folder}/bin/pmda_uncore.so"],
        }[agent]
        text = "\n".join([*lines, *extra_conf, ""])
        (self.folder / "pmcd.conf").write_text(text, encoding="utf-8")

    def _merge_names(self, agent, perfevent, extra_pmns):
        own = self.folder / "pmdas/uncore"
        parts = [pcp_file("PCP_VAR_DIR", "pmns/root_pmcd")]
        parts += [own / "root"] if agent else []
        parts += [own / "pmns-perfevent"] if perfevent else []
        root = self.folder / "root"
        root.unlink(missing_ok=True)
        subprocess.run([pcp_file("PCP_BINADM_DIR", "pmnsmerge"), "-f", "-a", *parts, *extra_pmns,
                        root], cwd=own, check=True, timeout=180)
        root.chmod(0o644)

    def pmda_pid(self):
        """The process number of the agent; the DSO is a part of pmcd."""
        if self.agent == "dso":
            return self.pmcd.pid
        pids = processes.children_of(self.pmcd.pid, "pmdauncore")
        if len(pids) != 1:
            raise AssertionError(f"{len(pids)} agents run")
        return pids[0]

    # --- clients ---

    def run(self, *argv, check=True, timeout=180, env=None, who=NOBODY_ALONE, **options):
        """Runs a program to its end; its output is text, in .stdout and .stderr. who: of
        processes.as_user()."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        if "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        done = subprocess.run(
            [str(word) for word in argv], timeout=timeout, text=True, check=False,
            env={**self.env, **(env or {})}, cwd=self.folder / "work", **who, **options)
        if check and done.returncode:
            raise AssertionError(f"{argv} ended with status {done.returncode}:\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def spawn(self, *argv, env=None, who=NOBODY_ALONE, **options):
        """Starts a program; close() ends it if it still runs."""
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("cwd", self.folder / "work")
        process = processes.start(argv, env={**self.env, **(env or {})}, **who, **options)
        self.spawned.append(process)
        return process

    def fetch(self, *metrics, n=1, interval_ms=0, who=NOBODY_ALONE):
        """Fetches all metrics n times in one client. Returns a list with pcp-fetch's object of each fetch."""
        done = self.run("pcp-fetch", n, interval_ms, *metrics, who=who)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def values(self, *metrics, who=NOBODY_ALONE):
        """{metric: {instance number: value}}, or an error code in place of the inner one."""
        return self.fetch(*metrics, who=who)[0]["values"]

    def served(self, *metrics, n=1, who=NOBODY_ALONE):
        """As fetch(), while uncored runs. On a busy machine its answer may come later than the 45 ms that the agent
        waits, and then there are no values for a moment."""
        def fetch():
            fetches = self.fetch(*metrics, n=n, who=who)
            return fetches if all(is_served(fetch["values"]) for fetch in fetches) else None

        return wait_until(fetch, READY_SECONDS, "the agent has values")

    def served_values(self, *metrics, who=NOBODY_ALONE):
        """As values(), while uncored runs; see served()."""
        return self.served(*metrics, who=who)[0]["values"]

    def talk_to(self, *argv, who=NOBODY_ALONE):
        """Starts a program that answers each line by a line."""
        return Talk(self.spawn(*argv, who=who, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True))

    # --- the end ---

    def close(self):
        """Ends all programs that were started; a program that had to be killed is a failure."""
        if self not in PrivatePcp.alive:
            return
        for process in self.spawned:
            self._end(process)
            for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
                pipe.close()
        for process in (self.pmcd, self.uncored):
            self._end(process, expected=0)
        PrivatePcp.alive.remove(self)
        if not PrivatePcp.alive:
            for pid, name in processes.end_leftovers():
                self.problems.append(f"{name}, process {pid}, was left behind")
        logs = self.logs() if self.problems else []
        shutil.rmtree(self.folder)
        if self.problems:
            raise AssertionError("\n".join(["; ".join(self.problems), *logs]))

    def logs(self):
        """The new lines of every log, as texts."""
        return [f"{path.name}:\n{text}" for path in sorted(self.folder.glob("log/**/*"))
                if path.is_file() for text in [self._new_in(path)] if text]

    def _new_in(self, path):
        text = path.read_bytes()
        begin, self.shown[path] = self.shown.get(path, 0), len(text)
        return text[begin:][-LOG_BYTES:].decode(errors="replace")

    def _start(self, argv, log, **options):
        with open(self.folder / "log" / log, "ab") as output:
            return processes.start(argv, stdout=output, stderr=output, **options)

    def _end(self, process, expected=None):
        if not process:
            return
        if not processes.end(process):
            self.problems.append(f"{process.args[0]} had to be killed")
        elif expected is not None and process.returncode != expected:
            self.problems.append(f"{process.args[0]} ended with status {process.returncode}")


# --- cases ---


class Case(unittest.TestCase):
    maxDiff = None
    longMessage = True
    title = ""  # before the sentence of every case of this class

    @classmethod
    def shared_pcp(cls):
        pcp = PrivatePcp()
        cls.addClassCleanup(pcp.close)
        return pcp

    def new_pcp(self):
        pcp = PrivatePcp()
        self.addCleanup(pcp.close)
        return pcp

    def wait_until(self, condition, seconds, what):
        return wait_until(condition, seconds, what)


def why_not():
    """Why these tests cannot run here; "" if they can."""
    if "UNCORE_BUILD_ROOT" not in os.environ:
        return "run this through `meson test`"
    if os.geteuid() != 0:
        return "needs root, to start uncored and to become nobody"
    if not pcp_file("PCP_BINADM_DIR", "pmcd").exists():
        return "PCP is not installed"
    if not (build_root() / "pmda/pmdauncore").exists():
        return "pmdauncore is not built"
    if not can_count():
        return "needs perf_event_open(2)"
    return ""


def interrupt(*_):
    raise KeyboardInterrupt  # the one exception that a case does not swallow


def run_cases(module="__main__"):
    """Runs every Case of the program, in the order in which they are written."""
    why = why_not()
    if why:
        tap.skip_all(why)
    signal.signal(signal.SIGTERM, interrupt)
    processes.adopt_descendants()
    cases = [thing for thing in vars(sys.modules[module]).values()
             if isinstance(thing, type) and issubclass(thing, Case) and thing is not Case]
    try:
        tap.run(cases, lambda: [text for pcp in PrivatePcp.alive for text in pcp.logs()])
    finally:
        for pcp in list(PrivatePcp.alive):
            pcp.close()
