# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is lost: systemd keeps uncored's counters, its page and its ledger, and whatever ends the process,
the next one goes on. What was counted is known, so "nothing" means not one count."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

from counts import count_everything
from harness import (CONFIG, Case, COMMAND_S, HERE, PMUS, VISITOR, control, identity, is_active, journal, journal_mark,
                     load_machine, metrics_of, online, run, set_drop_ins, show, start_uncored, status_of,
                     stop_uncored, sysctl_paranoid, uncored_pid, wait_until)
from privilege import CAPABILITY_SETS

MACHINE = "zen4"  # few boxes on either socket: uncored starts often here
KILLS = 200
LONGEST_WAIT_S = 0.4
KILLS_S = 600
REVIVED_EVERY_NS = 60 * 10**9
REVIVED_WITHIN_S = 100
BINARY = pathlib.Path("/usr/sbin/uncored")
ESTALE, EACCES = -116, -13
# The next process comes when it is told to, not by itself.
WAIT_FOR_ME = "[Service]\nRestartSec=1h\n"
STAND_STILL = "stand still, although a CPU of it is online"


class Program:
    """A program of the visitor; see user_program.py."""

    def __init__(self):
        self.process = subprocess.Popen(["python3", "-B", HERE / "user_program.py"], cwd="/", text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={"PATH": os.environ["PATH"], "UNCORE_REPORT": os.devnull},
                                        **identity(VISITOR))

    def tell(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def region(self, name):
        """{(socket, metric): object}"""
        regions = {region["name"]: region for region in self.tell("report")["regions"]}
        return metrics_of(regions[name])

    def end(self):
        self.process.stdin.close()
        self.process.wait(COMMAND_S)
        self.process.stdout.close()


class Traffic:
    """Makes every event of every box count, each another number, again and again."""

    PAUSE_S = 0.05

    def __init__(self):
        self.commands, self.round = count_everything(MACHINE)
        self.n = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.flow)

    def flow(self):
        while self.n == 0 or not self.over.wait(self.PAUSE_S):
            control(*self.commands)
            self.n += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def values(self):
        """As they are shown of a region that was open all the while: {(socket, metric): object}"""
        return {key: {"bytes": self.n * n_bytes, "quality": []} for key, n_bytes in self.round.items()}


class Stat:
    """`uncore stat`, run by the visitor, which reads all the while."""

    PATH = pathlib.Path("/tmp/stat.json")

    def __enter__(self):
        self.PATH.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            ["uncore", "stat", "--json", "-I", "200", "-o", self.PATH, "--", "sh", "-c", "echo; exec cat"],
            cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            **identity(VISITOR))
        self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(COMMAND_S)
        self.process.stdout.close()

    def values(self):
        """Of all the time: {(socket, metric): object}"""
        return metrics_of(json.loads(self.PATH.read_text().splitlines()[-1]))


def n_kept():
    """How many descriptors systemd keeps: of the events, the page, the ledger and the configuration."""
    return len(count_everything(MACHINE)[0]) + 3


def info():
    return json.loads(run("uncore", "info", "--json", user=VISITOR).stdout)


def generation():
    return info()["generation"]


def kill(name="KILL"):
    run("systemctl", "kill", "-s", name, "uncored")


def n_restarts():
    return int(show("NRestarts"))


def wait_until_ready(but=0):
    """That systemd has the start message of a process other than this."""
    wait_until(lambda: is_active("uncored.service") and uncored_pid() not in (0, but), "uncored serves again")


def replaced(act):
    """Does what ends the process, and waits until the next one serves."""
    before = uncored_pid()
    act()
    wait_until_ready(but=before)


def said_by_uncored(*words):
    """systemd speaks of the service in the same journal; this is without that."""
    run("journalctl", "--sync")
    return run("journalctl", "-q", "--no-pager", "SYSLOG_IDENTIFIER=uncored", *words).stdout


@contextlib.contextmanager
def drop_in(text):
    set_drop_ins({"test.conf": text})
    try:
        yield
    finally:
        set_drop_ins({})


class Kept(Case):
    """uncored as a service, and a program that has a region open."""

    config = ""

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(MACHINE)
        with CONFIG.open("a", encoding="utf-8") as file:
            file.write(cls.config)
        cls.mark = journal_mark()
        start_uncored()
        cls.addClassCleanup(stop_uncored)
        cls.program = Program()
        cls.addClassCleanup(cls.program.end)

    def begin(self, name):
        self.assertEqual(self.program.tell("begin", name), [0, ""])

    def end(self, name):
        self.assertEqual(self.program.tell("end", name), [0, ""])

    def assert_counted(self, found, traffic):
        expected = traffic.values()
        self.assertGreater(traffic.n, 0)
        self.assertEqual({key: found[key] for key in expected}, expected)

    def assert_exact_while(self, act):
        """A region around it, which begins and ends while nothing is counted, has every count."""
        name = self.id().rpartition(".")[2]
        self.begin(name)
        try:
            with Traffic() as traffic:
                act()
        finally:
            ended = self.program.tell("end", name)
        self.assertEqual(ended, [0, ""])
        self.assert_counted(self.program.region(name), traffic)
        return traffic


class NothingLost(Kept):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.generation = generation()
        cls.totals = []
        cls.program.tell("begin", "all")

    def tearDown(self):
        wait_until_ready()
        self.assertEqual(generation(), self.generation)
        self.assertEqual(int(show("NFileDescriptorStore")), n_kept())

    def assert_nothing_lost(self, act):
        self.totals.append(self.assert_exact_while(act))

    def test_kept(self):
        """systemd keeps each event, the page and the ledger, and nothing else"""
        self.assertEqual(int(show("NFileDescriptorStore")), n_kept())

    def test_kills(self):
        """200 times `systemctl kill -s KILL` at any moment: a region has every count, and so has `uncore stat`"""
        def storm():
            end_s = time.monotonic() + KILLS_S
            begin = n_restarts()
            while n_restarts() - begin < KILLS:
                self.assertLess(time.monotonic(), end_s, f"{n_restarts() - begin} kills only")
                for serves in (True, False, False, False):
                    if serves:
                        wait_until_ready()
                    time.sleep(random.uniform(0, LONGEST_WAIT_S))
                    kill()
            wait_until_ready()
        with Stat() as reader:
            self.assert_nothing_lost(storm)
        self.assert_counted(reader.values(), self.totals[-1])

    def test_crashes(self):
        """so it has when uncored crashes"""
        def crash():
            for name in ("SEGV", "ABRT", "BUS"):
                replaced(lambda name=name: kill(name))
        self.assert_nothing_lost(crash)

    def test_restart(self):
        """by `systemctl restart` nothing is lost"""
        self.assert_nothing_lost(lambda: replaced(lambda: run("systemctl", "restart", "uncored")))

    def test_restart_with_socket(self):
        """nor when its socket is restarted with it"""
        self.assert_nothing_lost(
            lambda: replaced(lambda: run("systemctl", "restart", "uncored.socket", "uncored.service")))

    def test_daemon_reload(self):
        """nor by `systemctl daemon-reload`, before a kill and after it"""
        def reload():
            for _ in range(2):
                run("systemctl", "daemon-reload")
                replaced(kill)
        self.assert_nothing_lost(reload)

    def test_daemon_reexec(self):
        """nor when systemd itself is executed anew, before a kill and after it"""
        def reexec():
            for _ in range(2):
                run("systemctl", "daemon-reexec")
                replaced(kill)
        self.assert_nothing_lost(reexec)

    def test_reload(self):
        """nor by `systemctl reload`, and the process stays"""
        pid = uncored_pid()
        self.assert_nothing_lost(lambda: run("systemctl", "reload", "uncored"))
        self.assertEqual(uncored_pid(), pid)

    def test_upgrade(self):
        """nor by an upgrade: another file in place of the binary, `daemon-reload`, `try-restart`"""
        def upgrade():
            new = BINARY.with_suffix(".new")
            shutil.copy2(BINARY, new)
            new.rename(BINARY)
            run("systemctl", "daemon-reload")
            replaced(lambda: run("systemctl", "try-restart", "uncored"))
        before = BINARY.stat().st_ino
        self.assert_nothing_lost(upgrade)
        self.assertNotEqual(BINARY.stat().st_ino, before)

    def test_all(self):
        """over all of that, a region that was open has the sum of it, on each socket, with no flag"""
        self.program.tell("end", "all")
        total = Traffic()
        total.n = sum(traffic.n for traffic in self.totals)
        self.assert_counted(self.program.region("all"), total)

    def test_privilege(self):
        """after all that, uncored holds no capability"""
        for task in pathlib.Path(f"/proc/{uncored_pid()}/task").iterdir():
            status = status_of(f"{uncored_pid()}/task/{task.name}")
            self.assertEqual([int(status[name], 16) for name in CAPABILITY_SETS], [0] * len(CAPABILITY_SETS),
                             status["Name"])

    def test_journal(self):
        """uncored wrote no line at warning or above, and said each time that it went on"""
        self.assertEqual(said_by_uncored("-p", "warning", self.mark), "")
        self.assertIn("as an uncored before left them", said_by_uncored(self.mark))


class Stopped(Kept):
    def test_stop(self):
        """after `systemctl stop` systemd keeps nothing, and a start is a new generation"""
        before = generation()
        self.begin("stopped")
        run("systemctl", "stop", "uncored.service")
        self.assertEqual(int(show("NFileDescriptorStore")), 0)
        start_uncored()
        self.assertNotEqual(generation(), before)

    def test_refused(self):
        """a region that was open over it has no figures, and its end says why"""
        returned, text = self.program.tell("end", "stopped")
        self.assertEqual(returned, ESTALE)
        self.assertIn("began to count anew", text)

    def test_stat(self):
        """`uncore stat` says so, too"""
        command = "systemctl stop uncored.service && systemctl start uncored.service"
        done = run("uncore", "stat", "--", "sh", "-c", command, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("uncored was restarted and lost its counts", done.stderr)

    def test_again(self):
        """what is measured after that is exact"""
        self.assert_exact_while(lambda: replaced(kill))

    def test_journal(self):
        """the journal holds nothing at warning or above"""
        self.assertEqual(said_by_uncored("-p", "warning", self.mark), "")


class CpusGo(Kept):
    """CPUs 2 and 3 are socket 1; the kernel lets 2 stand for it."""

    def tearDown(self):
        for cpu in (2, 3):
            online(cpu, True)

    def package_goes_and_comes_back(self):
        for cpu in (2, 3):
            online(cpu, False)
        for cpu in (2, 3):
            online(cpu, True)

    def read_until_replaced(self, pid):
        """Only a sweep shows what stands still, and sweeps are made when somebody reads."""
        def is_replaced():
            run("uncore", "stat", "--", "true", user=VISITOR, check=False)
            return is_active("uncored.service") and uncored_pid() not in (0, pid)
        wait_until(is_replaced, "uncored was started again", REVIVED_WITHIN_S)

    def revivals_ns(self):
        """When uncored ended because counters stood still."""
        lines = said_by_uncored("-o", "json", self.mark).splitlines()
        return [int(line["__MONOTONIC_TIMESTAMP"]) * 1000 for line in map(json.loads, lines)
                if STAND_STILL in line["MESSAGE"]]

    def test_while_dead(self):
        """the CPU that stands for a socket goes while uncored is dead: nothing is lost, nothing counted twice"""
        def act():
            kill()
            wait_until(lambda: show("SubState") == "auto-restart", "uncored is dead")
            online(2, False)
            run("systemctl", "restart", "uncored.service")
        with drop_in(WAIT_FOR_ME):
            self.assert_exact_while(act)

    def test_is_back(self):
        """nor is anything when it is back, and when uncored is killed then"""
        def act():
            online(2, False)
            replaced(kill)
            online(2, True)
            replaced(kill)
        self.assert_exact_while(act)

    def test_flagged(self):
        """a whole package goes and comes back: its values are flagged or absent, those of the other are exact"""
        type(self).before = uncored_pid(), n_restarts(), journal_mark()
        self.begin("over")
        self.begin("gone")
        with Traffic() as traffic:
            self.package_goes_and_comes_back()
        self.end("gone")
        found = self.program.region("gone")
        for key, exact in traffic.values().items():
            with self.subTest(socket=key[0], metric=key[1]):
                if key[0] == 0:
                    self.assertEqual(found[key], exact)
                else:
                    self.assertTrue(found[key].get("quality") or found[key].get("absent"), found[key])

    def test_revived(self):
        """uncored ends for that, with 75, and systemd starts it again"""
        pid, restarts, mark = self.before
        self.read_until_replaced(pid)
        self.assertEqual(n_restarts(), restarts + 1)
        self.assertIn(STAND_STILL, said_by_uncored(mark))

    def test_no_failure(self):
        """which systemd takes for no failure"""
        self.assertEqual(show("Result"), "success")
        self.assertNotIn("Failed", journal(self.before[2]))
        self.assertNotIn("fail", run("systemctl", "status", "-n", "0", "uncored.service").stdout)

    def test_reset(self):
        """over that, values of the package are flagged as reset; what is measured after it is exact"""
        self.end("over")
        found = self.program.region("over")
        for metric in ("dram.read", "dram.write"):
            self.assertIn("reset", found[1, metric].get("quality", []), found[1, metric])
        self.assert_exact_while(lambda: None)

    def test_other_comes_back(self):
        """so does a package of which another CPU than before comes back first"""
        pid = uncored_pid()
        for cpu in (2, 3):
            online(cpu, False)
        online(3, True)
        self.read_until_replaced(pid)
        self.assert_exact_while(lambda: None)

    def test_not_too_often(self):
        """uncored ended for that at most once a minute"""
        first, second = self.revivals_ns()
        self.assertGreaterEqual(second - first, REVIVED_EVERY_NS)

    def test_kept(self):
        """and systemd keeps no descriptor of what is gone"""
        self.assertEqual(int(show("NFileDescriptorStore")), n_kept())


class Owner(Kept):
    config = "[access]\nowner_only = yes\n"

    def owner(self):
        return run("uncore", "owner").stdout.split()[0]

    def test_stays(self):
        """the owner of the node outlives a kill, and an open region of the owner loses nothing by it"""
        run("uncore", "owner", VISITOR)
        self.assert_exact_while(lambda: replaced(kill))
        self.assertEqual(self.owner(), VISITOR)

    def test_withdrawn(self):
        """the page of a former owner is withdrawn, and stays so over kills"""
        self.assertEqual(self.program.tell("open"), [0, ""])
        self.assertEqual(self.program.tell("read"), [0, ""])
        run("uncore", "owner", "--none")
        self.assertEqual(self.program.tell("read")[0], EACCES)
        for _ in range(3):
            replaced(kill)
            self.assertEqual(self.program.tell("read")[0], EACCES)

    def test_refused(self):
        """and a former owner gets no other"""
        self.program.tell("close")
        self.assertEqual(self.program.tell("open")[0], EACCES)
        self.assertEqual(self.owner(), "none")


class ManyBoxes(Case):
    """A machine with more events than a process may have descriptors by default: other machines have so many
    sockets, this one so many boxes."""

    MACHINE = "icelake-sp"
    FIRST, END = 40, 300
    DEFAULT_LIMIT = 1024

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(cls.MACHINE)
        boxes = (HERE / "machines" / cls.MACHINE).read_text().split("\n\n")
        first = next(box for box in boxes if box.startswith("pmu uncore_cha_0\n"))
        for n in range(cls.FIRST, cls.END):
            (PMUS / "define").write_text(first.replace("uncore_cha_0\n", f"uncore_cha_{n}\n", 1))
        start_uncored()
        cls.addClassCleanup(stop_uncored)

    def test_kept(self):
        """systemd keeps more than 1024 descriptors"""
        self.assertGreater(int(show("NFileDescriptorStore")), self.DEFAULT_LIMIT)

    def test_passed_on(self):
        """and passes them on when uncored is killed and when it is restarted"""
        before, n = generation(), show("NFileDescriptorStore")
        for act in (kill, lambda: run("systemctl", "restart", "uncored")):
            replaced(act)
            self.assertEqual((generation(), info()["warnings"]), (before, []))
        self.assertEqual(show("NFileDescriptorStore"), n)


CASES = [NothingLost, Stopped, CpusGo, Owner, ManyBoxes]
