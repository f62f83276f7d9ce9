# SPDX-License-Identifier: BSD-3-Clause
"""uncored as systemd keeps it: ways to end it, what a program with an open region sees of that, and what it should see.
The true counts are known to the last count."""
import json
import os
import subprocess
import threading

from counts import count_everything
from harness import (CONFIG, Case, COMMAND_S, HERE, VISITOR, control, identity, info, is_active, journal_mark,
                     load_machine, metrics_of, run, show, start_uncored, stop_uncored, sysctl_paranoid, uncored_pid,
                     wait_until)

MACHINE = "zen4"  # few boxes on either socket: uncored starts often here


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
        """{(socket, metric): its bytes and quality, or why it is absent}; what regions say besides has other tests"""
        regions = {region["name"]: region for region in self.tell("report")["regions"]}
        return {key: {word: value[word] for word in ("bytes", "quality", "absent") if word in value}
                for key, value in metrics_of(regions[name]).items()}

    def end(self):
        self.process.stdin.close()
        self.process.wait(COMMAND_S)
        self.process.stdout.close()


class Traffic:
    """Makes every event of every box count a different number, again and again."""

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
        """The values that a region shows that was open all the while: {(socket, metric): object}"""
        return {key: {"bytes": self.n * n_bytes, "quality": []} for key, n_bytes in self.round.items()}


def n_kept():
    """How many descriptors systemd keeps: of the events, page, ledger and configuration."""
    return len(count_everything(MACHINE)[0]) + 3


def generation():
    return info()["generation"]


def kill(name="KILL"):
    """A process that ends by itself meanwhile makes systemctl fail; callers see whether uncored was ended."""
    run("systemctl", "kill", "-s", name, "uncored", check=False)


def n_restarts():
    return int(show("NRestarts"))


def wait_until_ready(but=0):
    """Waits until systemd has the start message of a process other than `but`."""
    wait_until(lambda: is_active("uncored.service") and uncored_pid() not in (0, but), "uncored serves again")


def replaced(act):
    """Calls act(), which ends the process, and waits until the next process serves."""
    before = uncored_pid()
    act()
    wait_until_ready(but=before)


def said_by_uncored(*words):
    """uncored's lines of the journal, without systemd's lines about the service."""
    run("journalctl", "--sync")
    return run("journalctl", "-q", "--no-pager", "SYSLOG_IDENTIFIER=uncored", *words).stdout


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
        """A region around act(), which begins and ends while nothing is counted, has every count."""
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
    """Whatever ends the process, the next process goes on. The region `all` is open from the first case to the last."""

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

    def assert_all_counted(self):
        """The last case."""
        self.end("all")
        total = Traffic()
        total.n = sum(traffic.n for traffic in self.totals)
        self.assert_counted(self.program.region("all"), total)
