# SPDX-License-Identifier: BSD-3-Clause
"""CPUs go while systemd keeps the counters: counters that moved go on, counters that stand still are opened anew."""
import contextlib
import json

from harness import VISITOR, is_active, journal, journal_mark, online, run, set_drop_ins, show, uncored_pid, wait_until
from kept import Kept, Traffic, kill, n_kept, n_restarts, replaced, said_by_uncored

REVIVED_EVERY_NS = 60 * 10**9
REVIVED_WITHIN_S = 200
LOOK_EVERY_S = 1
# The next process is started by the test, not by systemd itself.
WAIT_FOR_ME = "[Service]\nRestartSec=1h\n"
STAND_STILL = "stand still, although a CPU of it is online"


@contextlib.contextmanager
def drop_in(text):
    set_drop_ins({"test.conf": text})
    try:
        yield
    finally:
        set_drop_ins({})


class CpusGo(Kept):
    """CPUs 2 and 3 are socket 1; at the begin of each case the kernel lets 2 stand for it. uncored ends twice, a minute
    apart, and between these ends are cases that need none."""

    def tearDown(self):
        for cpu in (2, 3):
            online(cpu, True)
        online(3, False)
        online(3, True)

    def package_goes_and_comes_back(self):
        for cpu in (2, 3):
            online(cpu, False)
        for cpu in (2, 3):
            online(cpu, True)

    def read_until_replaced(self, pid):
        """Only a sweep shows that counters stand still, and uncored sweeps only when a client reads."""
        def is_replaced():
            run("uncore", "stat", "--", "true", user=VISITOR, check=False)
            return is_active("uncored.service") and uncored_pid() not in (0, pid)
        wait_until(is_replaced, "uncored was started again", REVIVED_WITHIN_S, LOOK_EVERY_S)

    def restarts_ns(self):
        """When uncored ended because counters stood still."""
        lines = said_by_uncored("-o", "json", self.mark).splitlines()
        return [int(line["__MONOTONIC_TIMESTAMP"]) * 1000 for line in map(json.loads, lines)
                if STAND_STILL in line["MESSAGE"]]

    def test_flagged(self):
        """a whole package goes and comes back: its values are flagged or absent, the other package's are exact"""
        type(self).before = uncored_pid(), n_restarts(), journal_mark()
        self.begin("over")
        self.begin("gone")
        with Traffic() as traffic:
            self.package_goes_and_comes_back()
        self.end("gone")
        found = type(self).gone = self.program.region("gone")
        for key, exact in traffic.values().items():
            with self.subTest(socket=key[0], metric=key[1]):
                if key[0] == 0:
                    self.assertEqual(found[key], exact)
                else:
                    self.assertTrue(found[key].get("quality") or found[key].get("absent"), found[key])

    def test_restarted(self):
        """uncored ends with status 75 because of such counters, and systemd starts it again"""
        pid, restarts, mark = self.before
        self.read_until_replaced(pid)
        self.assertEqual(n_restarts(), restarts + 1)
        self.assertIn(STAND_STILL, said_by_uncored(mark))

    def test_no_failure(self):
        """systemd does not take that end for a failure"""
        self.assertEqual(show("Result"), "success")
        self.assertNotIn("Failed", journal(self.before[2]))
        self.assertNotIn("fail", run("systemctl", "status", "-n", "0", "uncored.service").stdout)

    def test_reset(self):
        """over that end, values of the package are flagged as reset, or absent as those of a part; later ones are exact"""
        self.end("over")
        found = self.program.region("over")
        for metric in ("dram.read", "dram.write"):
            with self.subTest(metric=metric):
                part, value = self.gone[1, metric], found[1, metric]
                if "absent" in part:
                    self.assertEqual(value.get("absent"), part["absent"])
                else:
                    self.assertIn("reset", value.get("quality", []), value)
        self.assert_exact_while(lambda: None)

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
        """nothing is lost or counted twice when the CPU is back, and when uncored is killed then"""
        def act():
            online(2, False)
            replaced(kill)
            online(2, True)
            replaced(kill)
        self.assert_exact_while(act)

    def test_other_comes_back(self):
        """a package of which another CPU than before comes back first is counted again, too"""
        pid = uncored_pid()
        for cpu in (2, 3):
            online(cpu, False)
        online(3, True)
        self.read_until_replaced(pid)
        self.assert_exact_while(lambda: None)

    def test_not_too_often(self):
        """uncored ended because of such counters at most once a minute"""
        first, second = self.restarts_ns()
        self.assertGreaterEqual(second - first, REVIVED_EVERY_NS)

    def test_kept(self):
        """systemd keeps no descriptor of counters that are gone"""
        self.assertEqual(int(show("NFileDescriptorStore")), n_kept())


CASES = [CpusGo]
