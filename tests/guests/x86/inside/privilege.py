# SPDX-License-Identifier: BSD-3-Clause
"""The privilege that opens counters, what uncored says without it, and that uncored keeps no privilege."""
import pathlib

from counts import count_everything
from harness import (Case, VISITOR, journal, journal_mark, load_machine, metrics_of, run, set_drop_ins,
                     show, stat, status_of, stop_uncored, sysctl_paranoid, uncored_pid)

MACHINE = "knl"  # few boxes: uncored starts often here
SHIPPED_DROP_IN = pathlib.Path("/usr/share/uncored/uncored-paranoid.conf")
NO_CAPABILITY = "[Service]\nAmbientCapabilities=\nCapabilityBoundingSet=\n"
CAPABILITY_SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")
TWO_REMEDIES = ("in spite of CAP_PERFMON, since kernel.perf_event_paranoid is 3 (Debian, Ubuntu): set it to 2, "
                "the kernel's own default, with `sysctl kernel.perf_event_paranoid=2`, or install the drop-in "
                "uncored-paranoid.conf")
LACKS = "it lacks CAP_PERFMON (perf_event_paranoid is 2). Start uncored through its systemd unit"


class Privilege(Case):
    @classmethod
    def setUpClass(cls):
        load_machine(MACHINE)

    @classmethod
    def tearDownClass(cls):
        set_drop_ins({})

    def tearDown(self):
        stop_uncored()

    def start(self, paranoid, drop_ins=None):
        """Starts uncored; returns its lines in the journal."""
        set_drop_ins(drop_ins or {})
        sysctl_paranoid(paranoid)
        mark = journal_mark()
        run("systemctl", "start", "uncored.socket")
        run("systemctl", "start", "uncored.service", check=False)
        return journal(mark)

    def assert_counts(self):
        commands, expected = count_everything(MACHINE)
        found = metrics_of(stat(commands))
        self.assertEqual({key: found[key].get("bytes") for key in expected}, expected)

    def assert_says_once(self, sentence, said):
        self.assertEqual(" ".join(said.split()).count(sentence), 1, said)

    def assert_holds_nothing(self):
        for task in pathlib.Path(f"/proc/{uncored_pid()}/task").iterdir():
            status = status_of(f"{uncored_pid()}/task/{task.name}")
            for name in CAPABILITY_SETS:
                self.assertEqual(int(status[name], 16), 0, f"{name} of {status['Name']}")

    def assert_told(self, sentence):
        """uncored stays up and tells every client."""
        for _ in range(20):
            said = run("uncore", "info", user=VISITOR).stdout
            self.assertIn(sentence, " ".join(said.split()))  # lines are folded
        self.assertEqual(show("ActiveState"), "active")

    def assert_never_zero(self):
        """A metric that cannot be counted is absent or partial, or nothing is served; its value is never 0."""
        report = run("uncore", "stat", "--json", "--", "true", user=VISITOR, check=False)
        self.assertNotIn('"bytes":0', report.stderr)

    def test_paranoid_3(self):
        """at perf_event_paranoid 3 uncored says once what to do, and shows nothing as zero"""
        said = self.start(paranoid=3)
        self.assert_says_once(TWO_REMEDIES, said)
        self.assert_told(TWO_REMEDIES)
        self.assert_never_zero()

    def test_paranoid_2(self):
        """at 2 the unit as shipped is enough, and no capability is left when the counters are open"""
        self.start(paranoid=2)
        self.assert_counts()
        self.assert_holds_nothing()
        self.assertEqual(status_of(uncored_pid())["Uid"].split()[0], run("id", "-u", "uncored").stdout.strip())

    def test_paranoid_1(self):
        """at 1 the unit as shipped is enough"""
        self.start(paranoid=1)
        self.assert_counts()

    def test_paranoid_0(self):
        """at 0 the unit as shipped is enough"""
        self.start(paranoid=0)
        self.assert_counts()
        self.assert_holds_nothing()

    def test_nothing_gained(self):
        """the service cannot gain a privilege that it does not have"""
        self.start(paranoid=2)
        self.assertEqual(status_of(uncored_pid())["NoNewPrivs"], "1")
        self.assertEqual(show("User"), "uncored")

    def test_no_capability(self):
        """without a capability uncored says once what it lacks, and shows nothing as zero"""
        said = self.start(paranoid=2, drop_ins={"none.conf": NO_CAPABILITY})
        self.assert_says_once(LACKS, said)
        self.assert_told(LACKS)
        self.assert_never_zero()

    def test_no_capability_needed(self):
        """at 0 uncored needs no capability"""
        self.start(paranoid=0, drop_ins={"none.conf": NO_CAPABILITY})
        self.assert_counts()

    def test_drop_in(self):
        """at 3 the shipped drop-in is enough, and no capability is left when the counters are open"""
        self.start(paranoid=3, drop_ins={SHIPPED_DROP_IN.name: SHIPPED_DROP_IN.read_text()})
        self.assert_counts()
        self.assert_holds_nothing()


CASES = [Privilege]
