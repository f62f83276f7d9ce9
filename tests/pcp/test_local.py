# SPDX-License-Identifier: BSD-3-Clause
"""Without any pmcd: a program loads the shared object itself (PM_CONTEXT_LOCAL)."""
import os

from harness import DOMAIN, Case, n_sockets, run_cases
from reading import TRY_AGAIN_WORDS, values_of
from test_metrics import METRICS

SOCKETS = [f"socket{i}" for i in range(n_sockets())]


class Local(Case):
    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored()

    def local(self, tool, *arguments, **options):
        """Runs a tool of PCP with no other agent than ours, inside itself."""
        agent = f"add,{DOMAIN},{self.pcp.folder}/bin/pmda_uncore.so,uncore_init"
        return self.pcp.run(tool, "-L", "-K", "clear", "-K", agent,
                            "-n", self.pcp.folder / "pmdas/uncore/root", *arguments, **options)

    def values(self, *metrics):
        return values_of(self.local("pminfo", "-f", *metrics).stdout)

    def test_values(self):
        """nobody reads the counters with pminfo alone"""
        values = self.values("uncore.dram.read", "uncore.daemon.up", "uncore.daemon.platform")
        self.assertEqual(list(values["uncore.dram.read"]), SOCKETS)
        self.assertTrue(all(count > 0 for count in values["uncore.dram.read"].values()))
        self.assertEqual((values["uncore.daemon.up"], values["uncore.daemon.platform"]),
                         (1, "standin"))

    def test_all(self):
        """every metric is there, in a context without pmcd as in any other"""
        self.assertEqual(sorted(self.values("uncore")), sorted(METRICS))

    def test_fresh(self):
        """a second look shows what was counted since the first"""
        for busy, socket in enumerate(SOCKETS):
            first = self.values("uncore.dram.read")["uncore.dram.read"][socket]
            self.pcp.run("touch-pages", 100, busy)
            last = self.values("uncore.dram.read")["uncore.dram.read"][socket]
            self.assertGreaterEqual(last - first, 100 * 4096)

    def test_pmval(self):
        """pmval shows a rate per socket, and pmprobe counts the values"""
        text = self.local("pmval", "-s", "3", "-t", "0.1", "uncore.dram.read").stdout
        rows = [line.split() for line in text.splitlines() if line[:1] == " "]
        self.assertEqual(rows[0], SOCKETS)
        self.assertEqual([len(row) for row in rows[-2:]], [n_sockets()] * 2)
        text = self.local("pmprobe", "-i", "uncore.dram.read").stdout
        self.assertEqual(text.split()[:2], ["uncore.dram.read", str(n_sockets())])

    def test_away(self):
        """while uncored is away there is an error that says to try again, and its reason"""
        self.pcp.stop_uncored()
        values = self.values("uncore.dram.read", "uncore.daemon.up", "uncore.daemon.reason")
        self.pcp.start_uncored()
        self.assertIn(TRY_AGAIN_WORDS, values["uncore.dram.read"])
        self.assertEqual(values["uncore.daemon.up"], 0)
        self.assertIn(self.pcp.env["UNCORE_SOCKET"], values["uncore.daemon.reason"])

    def test_missing_package(self):
        """with the first package missing, the second is still socket1, and there is no socket0"""
        if n_sockets() < 2:
            self.skipTest("needs two CPUs")
        offline = " ".join(str(cpu) for cpu in range(0, os.cpu_count(), 2))
        machines = [self.pcp.make_machine(text) for text in ("packages = 3 5\n", f"packages = 3 5\noffline = {offline}\n")]
        state = self.pcp.folder / "numbers"
        state.mkdir()
        for machine in machines:
            self.pcp.stop_uncored()
            self.pcp.start_uncored(machine=machine, state=state)
        values = self.values("uncore.dram.read", "uncore.sample.sweeps", "uncore.channel.read")
        labels = self.local("pminfo", "-l", "uncore.dram.read", "uncore.channel.read").stdout
        self.pcp.stop_uncored()
        self.pcp.start_uncored()
        self.assertEqual([list(values[f"uncore.{name}"]) for name in ("dram.read", "sample.sweeps", "channel.read")],
                         [["socket1"], ["socket1"], ["socket1/standin0"]])
        self.assertEqual(labels.count('"package":5'), 2, labels)


if __name__ == "__main__":
    run_cases()
