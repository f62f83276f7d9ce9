# SPDX-License-Identifier: BSD-3-Clause
"""A site's own metrics: their names, numbers, values and help; archives of nodes whose platform files differ."""
import os
import re
import signal

import processes
from harness import Case, metric_section, n_sockets, run_cases
from reading import NO_VALUES_WORDS, descriptions_of, labels_of, values_of

STANDIN = "uncore_standin_[0-9]*"
SITE = "uncore.metric.site."
U64 = "64-bit unsigned int"
# metric of the site: (pmid, type, semantics, units, instance domain)
METRICS = {
    SITE + "faults": ("470.7.512", U64, "counter", "count", "470.0"),
    SITE + "energy": ("470.7.513", U64, "counter", "none", "470.0"),
    SITE + "link.tx": ("470.7.1023", U64, "counter", "byte", "470.0"),
    SITE + "stalled": ("470.7.600", U64, "counter", "nanosec", "470.0"),
}
N_RECORDS = 3
LOG_SECONDS = 20
LOGGED = "log mandatory on 100 msec { uncore.metric\n uncore.dram.read }\n"


def section(name, event, worth, pmid=None, unit=None):
    lines = [f"unit = {unit}"] * bool(unit) + [f"pmid = {pmid}"] * bool(pmid)
    return metric_section(name, STANDIN, event, worth) + "".join(line + "\n" for line in lines)


DRAM = section("dram.read", "page_faults", 4096)
FAULTS = section("site.faults", "page_faults", 1, 512, "count")
ENERGY = section("site.energy", "minor_faults", 7, 513, "nJ")
LINK = section("site.link.tx", "page_faults", 64, 1023)
STALLED = section("site.stalled", "page_faults", 5, 600, "ns")
NODE = [DRAM, FAULTS, ENERGY, LINK, STALLED]
# Another order, and a machine that does not have one of them.
OTHER_NODE = [STALLED, "[site.energy]\nabsent = This machine cannot measure it.\nunit = nJ\npmid = 513\n", FAULTS, DRAM, LINK]


class Node(Case):
    agent = "pipe"

    def serve(self, *sections, **options):
        pcp = self.new_pcp()
        pcp.start_uncored(platforms=pcp.make_platform(*sections))
        pcp.start_pmcd(agent=self.agent, **options)
        pcp.served("uncore.dram.read")
        return pcp

    def log_of(self, pcp):
        return (pcp.folder / "log/uncore.log").read_text(encoding="utf-8")

    def replace_uncored(self, pcp, *sections):
        pcp.stop_uncored()
        pcp.start_uncored(platforms=pcp.make_platform(*sections))
        self.wait_until(lambda: pcp.values("uncore.daemon.up")["uncore.daemon.up"]["-1"], 3, "values come back")


class Own(Node):
    title = "on a pipe: "

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored(platforms=cls.pcp.make_platform(*NODE))
        cls.pcp.start_pmcd(agent=cls.agent)

    def setUp(self):
        self.pcp.served("uncore.dram.read")

    def described(self):
        return descriptions_of(self.pcp.run("pminfo", "-dmtT", "uncore.metric.site").stdout)

    def test_table(self):
        """a site's metrics have the numbers of its platform file, and the units as far as PCP has them"""
        found = self.described()
        self.assertEqual({name: tuple(found[name][key] for key in ("pmid", "type", "semantics", "units", "indom"))
                          for name in found}, METRICS)

    def test_help(self):
        """a metric is explained in one line and at length, with its unit"""
        for name, unit in (("energy", "nJ"), ("faults", "count"), ("link.tx", "bytes"), ("stalled", "ns")):
            with self.subTest(metric=name):
                metric = self.described()[SITE + name]
                self.assertRegex(metric["line"], rf"site\.{name}.*\b{unit}\b")
                self.assertRegex(metric["text"], rf"site\.{name}\b(?s:.*)\b{unit}\b(?s:.*)WHOLE SOCKET")

    def test_labels(self):
        """labels give the metric's name in platform files, and its unit"""
        labels = labels_of(self.pcp.run("pminfo", "-l", "uncore.metric.site").stdout)
        found = labels[SITE + "energy"]["socket0"]
        self.assertEqual((found["metric"], found["unit"], found["socket"], found["device_type"]),
                         ("site.energy", "nJ", 0, ["socket", "memory"]))
        self.assertNotIn("tier", found)

    def test_values(self):
        """each metric has the value of its own counter, on each socket"""
        for cpu in range(n_sockets()):
            self.pcp.run("touch-pages", 100, cpu)
        values = self.pcp.served_values("uncore.dram.read", *METRICS)
        for socket in map(str, range(n_sockets())):
            n_faults, rest = divmod(values["uncore.dram.read"][socket], 4096)
            self.assertEqual(rest, 0)
            self.assertGreaterEqual(n_faults, 100)
            self.assertEqual([values[SITE + name][socket] for name in ("faults", "link.tx", "stalled")],
                             [n_faults, n_faults * 64, n_faults * 5])
            n_minor, rest = divmod(values[SITE + "energy"][socket], 7)
            self.assertEqual(rest, 0)
            self.assertGreaterEqual(n_minor, 100)

    def test_reverse(self):
        """a number leads to the name"""
        text = self.pcp.run("pminfo", "-m", SITE + "faults").stdout
        self.assertIn("470.7.512", text)
        found = self.pcp.run("pmprobe", "-v", SITE + "faults").stdout
        self.assertEqual(found.split()[:2], [SITE + "faults", str(n_sockets())])


class OwnSharedObject(Own):
    title = "as a shared object: "
    agent = "dso"


class Changes(Node):
    def test_absent(self):
        """where a machine does not have a metric, its name has no value, and the words say why"""
        pcp = self.serve(*OTHER_NODE)
        values = values_of(pcp.run("pminfo", "-f", SITE + "energy", "uncore.quality_text").stdout)
        self.assertEqual(values[SITE + "energy"], NO_VALUES_WORDS)
        self.assertIn("site.energy: absent (This machine cannot measure it.)", values["uncore.quality_text"]["socket0"])

    def test_other_uncored(self):
        """names and values follow a later uncored, whose file has other metrics in another order"""
        pcp = self.serve(DRAM, FAULTS, LINK)
        self.replace_uncored(pcp, STALLED, FAULTS, DRAM)
        names = pcp.run("pminfo", "uncore.metric.site").stdout.split()
        self.assertEqual(sorted(names), [SITE + "faults", SITE + "stalled"])
        values = pcp.served_values("uncore.dram.read", SITE + "faults", SITE + "stalled")
        for socket, n_bytes in values["uncore.dram.read"].items():
            self.assertEqual([values[SITE + name][socket] * worth for name, worth in (("faults", 20), ("stalled", 4))],
                             [n_bytes * 20 // 4096] * 2)

    def test_away(self):
        """while uncored is away the names stay, and the values come back"""
        pcp = self.serve(*NODE)
        pcp.run("pminfo", "uncore.metric")
        pcp.kill_uncored()
        self.assertEqual(set(pcp.run("pminfo", "uncore.metric.site").stdout.split()), set(METRICS))
        self.assertEqual(len(values_of(pcp.run("pminfo", "-f", *METRICS).stdout)), len(METRICS))

    def test_agent_restarted(self):
        """a client that knows a metric by its number goes on when the agent was restarted"""
        pcp = self.serve(*NODE, restart_agents=True)
        client = pcp.talk_to("pcp-fetch", 0, 0, SITE + "faults")
        self.assertIn(SITE + "faults", client.ask(""))
        os.kill(pcp.pmda_pid(), signal.SIGKILL)
        self.wait_until(lambda: '"0":' in client.ask(""), 10, "values come back")

    def test_perfevent(self):
        """the names below perfevent are there beside them"""
        pcp = self.serve(*NODE, perfevent=True)
        bytes_read = "perfevent.hwcounters.uncored.dram_read.value"
        values = pcp.served_values(bytes_read, SITE + "faults", "uncore.dram.read")
        self.assertEqual(list(values[bytes_read].values()), list(values["uncore.dram.read"].values()))
        self.replace_uncored(pcp, *OTHER_NODE)
        values = pcp.served_values(bytes_read, SITE + "faults", "uncore.dram.read")
        for socket, n_bytes in values["uncore.dram.read"].items():
            self.assertEqual(values[SITE + "faults"][socket] * 4096, n_bytes)
        self.assertTrue(all(values[bytes_read].values()))


class Refused(Node):
    def test_without_number(self):
        """a metric without a number is not served, and the log says so once, with what to do"""
        pcp = self.serve(DRAM, FAULTS, section("site.nameless", "page_faults", 1))
        self.replace_uncored(pcp, DRAM, FAULTS, section("site.nameless", "page_faults", 1))
        self.assertEqual(pcp.run("pminfo", "uncore.metric.site").stdout.split(), [SITE + "faults"])
        pcp.served("uncore.dram.read", SITE + "faults")
        said = [line for line in self.log_of(pcp).splitlines() if "site.nameless" in line]
        self.assertEqual(len(said), 1, self.log_of(pcp))
        self.assertIn("PCP does not get these metrics of uncored's platform file: site.nameless "
                      "(its section lacks pmid = 512 to 1023). See pmid in uncore-platform(5).", said[0])

    def test_tree(self):
        """a name that is above or below another one is not served: PCP cannot have both"""
        pcp = self.serve(DRAM, FAULTS, section("site.faults.minor", "minor_faults", 1, 700), section("site", "page_faults", 1, 701))
        self.assertEqual(pcp.run("pminfo", "uncore.metric.site").stdout.split(), [SITE + "faults"])
        self.assertIn("site.faults.minor (site.faults cannot be in one tree with it), site (site.faults cannot",
                      self.log_of(pcp))

    def test_unit(self):
        """a name with a fixed unit has no values in another unit, and the log says so"""
        pcp = self.serve(DRAM, section("clock", "page_faults", 1, unit="count"),
                         section("itom", "page_faults", 1, unit="count"))
        for name in ("uncore.metric.clock", "uncore.itom"):
            self.assertEqual(values_of(pcp.run("pminfo", "-f", name).stdout)[name], NO_VALUES_WORDS)
        self.assertIn("clock (its unit is not ns), itom (its unit is not bytes)", self.log_of(pcp))

    def test_none(self):
        """the log says nothing where all metrics are served"""
        pcp = self.serve(*NODE)
        self.assertNotIn("PCP does not get", self.log_of(pcp))


class Archives(Node):
    def record(self, archive, folder, *sections):
        """An archive of a node with this platform file."""
        pcp = self.serve(*sections)
        config = pcp.folder / "pmlogger.conf"
        config.write_text(LOGGED, encoding="ascii")
        pcp.run("pmlogger", "-c", config, "-s", N_RECORDS, "-l", pcp.folder / f"log/{archive}.log", folder / archive,
                timeout=LOG_SECONDS)
        return pcp

    def test_merge(self):
        """archives of two nodes with different platform files merge: a name has one number and one type"""
        keeper = self.new_pcp()
        work = keeper.folder / "work"
        first, second = self.record("first", work, *NODE), self.record("second", work, *OTHER_NODE)
        done = keeper.run("pmlogextract", "first", "second", "merged")
        self.assertEqual(done.stderr, "")
        found = descriptions_of(keeper.run("pminfo", "-dmtT", "-a", "merged", "uncore.metric.site").stdout)
        self.assertEqual({name: tuple(found[name][key] for key in ("pmid", "type", "semantics", "units", "indom"))
                          for name in found}, METRICS)
        for name, n_values in (("faults", 2 * N_RECORDS), ("energy", N_RECORDS)):
            text = keeper.run("pmdumplog", "merged", SITE + name).stdout
            self.assertEqual(len(re.findall(r'inst \[0 or "socket0"\] value \d+', text)), n_values, text)
        keeper.run("pmlogcheck", "merged")

    def test_late(self):
        """pmlogger records a site's metrics also where it began before uncored"""
        pcp = self.new_pcp()
        pcp.start_pmcd()
        config = pcp.folder / "pmlogger.conf"
        config.write_text(LOGGED, encoding="ascii")
        logger = pcp.spawn("pmlogger", "-c", config, "-l", pcp.folder / "log/late.log", "late")
        self.wait_until((pcp.folder / "work/late.0").exists, 5, "pmlogger writes")
        pcp.start_uncored(platforms=pcp.make_platform(*NODE))
        self.wait_until(lambda: SITE + "faults" in pcp.run("pminfo", "-a", "late", check=False).stdout, LOG_SECONDS,
                        "pmlogger records the site's metric")
        self.assertTrue(processes.end(logger))


if __name__ == "__main__":
    run_cases()
