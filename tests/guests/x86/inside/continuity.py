# SPDX-License-Identifier: BSD-3-Clause
"""Nothing is lost: systemd keeps uncored's counters, its page and its ledger, and whatever ends the process, the next
process goes on. The true counts are known, so "nothing" means not one count."""
import json
import pathlib
import random
import shutil
import subprocess
import time

from harness import (Case, COMMAND_S, HERE, PMUS, VISITOR, identity, info, is_all_wanted, load_machine, metrics_of,
                     run, show, start_uncored, status_of, stop_uncored, sysctl_paranoid, uncored_pid)
from kept import (Kept, NothingLost, generation, kill, n_kept, n_restarts, replaced, said_by_uncored,
                  wait_until_ready)
from privilege import CAPABILITY_SETS

KILLS = 200 if is_all_wanted() else 25
LONGEST_WAIT_S = 0.3
KILLS_S = 900
BINARY = pathlib.Path("/usr/sbin/uncored")
ESTALE = -116


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
        """Totals over all the time: {(socket, metric): object}"""
        if self.process.returncode != 0:
            raise AssertionError(f"uncore stat ended with {self.process.returncode}")
        return metrics_of(json.loads(self.PATH.read_text().splitlines()[-1]))


class Ended(NothingLost):
    def test_kept(self):
        """systemd keeps each event, the page and the ledger, and nothing else"""
        self.assertEqual(int(show("NFileDescriptorStore")), n_kept())

    def test_kills(self):
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
    test_kills.__doc__ = (f"after {KILLS} times `systemctl kill -s KILL` at any moment, a region has every count, "
                          "and so has `uncore stat`")

    def test_crashes(self):
        """nothing is lost when uncored crashes"""
        def crash():
            for name in ("SEGV", "ABRT", "BUS"):
                replaced(lambda name=name: kill(name))
        self.assert_nothing_lost(crash)

    def test_restart(self):
        """nothing is lost by `systemctl restart`"""
        self.assert_nothing_lost(lambda: replaced(lambda: run("systemctl", "restart", "uncored")))

    def test_restart_with_socket(self):
        """nothing is lost when uncored's socket is restarted with it"""
        self.assert_nothing_lost(
            lambda: replaced(lambda: run("systemctl", "restart", "uncored.socket", "uncored.service")))

    def test_daemon_reload(self):
        """nothing is lost by `systemctl daemon-reload`, before a kill and after it"""
        def reload():
            for _ in range(2):
                run("systemctl", "daemon-reload")
                replaced(kill)
        self.assert_nothing_lost(reload)

    def test_daemon_reexec(self):
        """nothing is lost when systemd itself is executed anew, before a kill and after it"""
        def reexec():
            for _ in range(2):
                run("systemctl", "daemon-reexec")
                replaced(kill)
        self.assert_nothing_lost(reexec)

    def test_reload(self):
        """nothing is lost by `systemctl reload`, and the process stays"""
        pid = uncored_pid()
        self.assert_nothing_lost(lambda: run("systemctl", "reload", "uncored"))
        self.assertEqual(uncored_pid(), pid)

    def test_upgrade(self):
        """nothing is lost by an upgrade: another file in place of the binary, `daemon-reload`, `try-restart`"""
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
        """a region that was open over all of that has the sum on each socket, with no flag"""
        self.assert_all_counted()

    def test_privilege(self):
        """after all that, uncored holds no capability"""
        for task in pathlib.Path(f"/proc/{uncored_pid()}/task").iterdir():
            status = status_of(f"{uncored_pid()}/task/{task.name}")
            self.assertEqual([int(status[name], 16) for name in CAPABILITY_SETS], [0] * len(CAPABILITY_SETS),
                             status["Name"])

    def test_journal(self):
        """uncored wrote no line at warning or above, and said each time that it went on"""
        self.assertEqual(said_by_uncored("-p", "warning", self.mark), "")
        self.assertIn("resumed from the uncored before", said_by_uncored(self.mark))


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
        """a region that was open over a stop has no figures, and its end says why"""
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
        """measurements after a stop are exact"""
        self.assert_exact_while(lambda: replaced(kill))

    def test_journal(self):
        """the journal holds nothing at warning or above"""
        self.assertEqual(said_by_uncored("-p", "warning", self.mark), "")


class ManyBoxes(Case):
    """A machine with more events than the default limit of descriptors: other machines have this many by their sockets,
    this machine by its boxes."""

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
        """systemd passes them on when uncored is killed and when it is restarted"""
        before, n = generation(), show("NFileDescriptorStore")
        for act in (kill, lambda: run("systemctl", "restart", "uncored")):
            replaced(act)
            self.assertEqual((generation(), info()["warnings"]), (before, []))
        self.assertEqual(show("NFileDescriptorStore"), n)


CASES = [Ended, Stopped, ManyBoxes]
