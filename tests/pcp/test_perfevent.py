# SPDX-License-Identifier: BSD-3-Clause
"""The names below perfevent on other machines than the plain stand-in, and the file in which their
counts outlive the agent."""
import os
import re
import signal
import time

from harness import Case, metric_section, n_sockets, run_cases, source_root
from reading import labels_of, values_of

HWCOUNTERS = "perfevent.hwcounters"
PAGE_FAULTS = f"{HWCOUNTERS}.uncore_standin_0.page_faults.value"
MINOR_FAULTS = f"{HWCOUNTERS}.uncore_standin_0.minor_faults.value"
MAJOR_FAULTS = f"{HWCOUNTERS}.uncore_standin_0.major_faults.value"
OWN = f"{HWCOUNTERS}.uncored."
BYTES_READ = f"{OWN}dram_read.value"
PAGE_BYTES, PAGES = 4096, 1000
RECORD_SECONDS = 60
UP = "perfevent.uncored.up"
NOBODY_MAY_WRITE, ALL_MAY_WRITE = 0o555, 0o777
HEADING = "uncore perfevent 2 "
WORKING_BOX = "[pmu uncore_standin_1]\ntype = 1\ncpumask = packages\n" \
    "format event = config:0-7\nevent page_faults = event=0x2\nevent minor_faults = event=0x5\n" \
    "event major_faults = event=0x6\n"
STANDIN = "uncore_standin_[0-9]*"
# A line of the file: PMU, event, cluster, item, socket, CPU, offered, base, count, bytes per count.
GARBAGE = [
    b"",
    b"\0\xff" * 3000,
    b"uncore perfevent 1 0 0 0\n",
    b"uncore perfevent 2 0 0 4000000000\n",
    b"uncore perfevent 2 0 0 3\nuncore_standin_0 page_faults 64 0 0 0 1 0 5 4096\n",
    b"uncore perfevent 2 0 0 1\n" + b"x" * 5000 + b" page_faults 64 0 0 0 1 0 5 4096\n",
    b"uncore perfevent 2 0 0 1\nuncore_standin_0 page_faults 64 0 0 0 1 9 5 4096\n",
    b"uncore perfevent 2 0 0 1\nuncore_standin_0 page_faults 64 0 0 0 1 0 5 0\n",
    b"uncore perfevent 2 0 0 1\nuncore_standin_0 page_faults 9999 9999 0 0 1 0 5 4096\n",
]


def names_of_sources():
    """{(platform, metric): libpfm4's name, with {n} for the number of the box}, of pmda/sources.c."""
    text = (source_root() / "pmda/sources.c").read_text(encoding="utf-8")
    rows = re.findall(r'{ "(\S+)", "(\S+)", "(\S+)", "(::\S+)" }', text)
    return {(platform, metric): pmu + "{n}" + event for platform, metric, pmu, event in rows}


def names_of_platform_files():
    """The same, of the first pfm: alternative of each metric with channels and a single term."""
    found = {}
    for path in (source_root() / "conf/platforms").glob("*.conf"):
        terms = re.split(r"^\[(.*)\]$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        for name, text in zip(terms[::2], terms[1::2]):
            alternative = re.search(r"pfm:(\S+)", text)
            if alternative and "\nchannel =" in text and not any(
                    other.startswith(f"{name}/") or "/" in name for other in terms[::2]):
                found[path.stem, name] = alternative[1]
    return found


class Tree(Case):
    def serve(self, **options):
        pcp = self.new_pcp()
        pcp.start_uncored(**{name: make(pcp) for name, make in options.items()})
        pcp.start_pmcd(perfevent=True)
        return pcp

    def names(self, pcp):
        """Names of events; every machine also has uncored's own names, and one that says whether uncored answers."""
        found = sorted(pcp.run("pminfo", "perfevent").stdout.split())
        self.assertLessEqual({UP, BYTES_READ}, set(found))
        return [name for name in found if name != UP and not name.startswith(OWN)]

    def wait_for_uncored(self, pcp):
        self.wait_until(lambda: pcp.values("uncore.daemon.up")["uncore.daemon.up"]["-1"], 3,
                        "uncored is there")


class Names(Tree):
    def test_broken(self):
        """a box that cannot be opened has no names: PAPI would take what it lacks for a count"""
        pcp = self.serve(machine=lambda pcp: "standin-broken")
        self.assertEqual(self.names(pcp), [MINOR_FAULTS, PAGE_FAULTS])

    def test_own(self):
        """uncored's own names are there also where the kernel has none, and count bytes"""
        platform = [metric_section("dram.read", STANDIN, "page_faults", PAGE_BYTES, "standin")
                    .replace("sysfs:page_faults", "raw:event=0x2")]
        pcp = self.serve(platforms=lambda pcp: pcp.make_platform(*platform))
        self.assertEqual(self.names(pcp), [])
        values = pcp.served_values("uncore.dram.read", BYTES_READ)
        self.assertEqual(sorted(values["uncore.dram.read"].values()),
                         sorted(values[BYTES_READ].values()))
        self.assertTrue(all(values[BYTES_READ].values()))

    def test_libpfm(self):
        """counts also have libpfm4's name, which programs may have in their sources"""
        platform = [metric_section("dram.read", STANDIN, "page_faults", PAGE_BYTES, "standin")]
        pcp = self.serve(platforms=lambda pcp: pcp.make_platform(*platform, name="broadwell-ep"))
        name = f"{HWCOUNTERS}.bdx_unc_imc0__UNC_M_CAS_COUNT_RD.value"
        self.assertEqual(self.names(pcp), [name, PAGE_FAULTS])
        values = pcp.served_values(name, PAGE_FAULTS)
        self.assertEqual(values[name], {inst: count * PAGE_BYTES // 64
                                        for inst, count in values[PAGE_FAULTS].items()})

    def test_libpfm_table(self):
        """libpfm4's names are those by which the platform files encode the same events"""
        self.assertEqual(names_of_sources(), names_of_platform_files())

    def test_allowed(self):
        """characters that a name may not hold are underscores in it"""
        platform = [metric_section("dram.read", STANDIN, "page-faults", PAGE_BYTES, "standin")]
        pcp = self.serve(platforms=lambda pcp: pcp.make_platform(*platform),
                         machine=lambda pcp: pcp.make_machine(
                             "[pmu uncore_standin_0]\nevent page-faults = event=0x2\n"))
        self.assertEqual(self.names(pcp), [PAGE_FAULTS])
        self.assertTrue(all(pcp.served_values(PAGE_FAULTS)[PAGE_FAULTS].values()))

    def test_cpu(self):
        """an instance is named and labelled after its CPU, whatever its number"""
        if n_sockets() < 2:
            self.skipTest("needs two CPUs")
        pcp = self.serve(machine=lambda pcp: pcp.make_machine(
            "[pmu uncore_standin_0]\ncpumask = 1\n"))
        self.assertEqual(list(pcp.served_values(PAGE_FAULTS)[PAGE_FAULTS]), ["0"])
        self.assertEqual(list(values_of(pcp.run("pminfo", "-f", PAGE_FAULTS).stdout)[PAGE_FAULTS]),
                         ["cpu1"])
        labels = labels_of(pcp.run("pminfo", "-l", PAGE_FAULTS).stdout)[PAGE_FAULTS]
        self.assertEqual(labels["cpu1"]["cpu"], 1)


class Counts(Tree):
    def test_other_order(self):
        """counts go on under their names when a later uncored has the events in another order"""
        sections = [metric_section("dram.read", STANDIN, "page_faults", PAGE_BYTES, "standin"),
                    metric_section("dram.write", STANDIN, "major_faults", 1, "standin")]
        pcp = self.serve(platforms=lambda pcp: pcp.make_platform(*sections))
        pcp.run("touch-pages", PAGES, 0)
        before = pcp.served_values(PAGE_FAULTS, MAJOR_FAULTS)
        pcp.stop_uncored()
        pcp.start_uncored(platforms=pcp.make_platform(*reversed(sections)))
        self.wait_for_uncored(pcp)
        pcp.run("touch-pages", PAGES, 0)
        after = pcp.served_values(PAGE_FAULTS, MAJOR_FAULTS)
        grown = {name: after[name]["0"] - before[name]["0"] for name in before}
        self.assertGreaterEqual(grown[PAGE_FAULTS], PAGES)
        self.assertLess(grown[MAJOR_FAULTS], PAGES)

    def test_absent_later(self):
        """a box that a later uncored cannot open keeps its names and its last counts"""
        pcp = self.serve(machine=lambda pcp: pcp.make_machine(WORKING_BOX))
        metric = PAGE_FAULTS.replace("standin_0", "standin_1")
        before, names = pcp.values(metric), self.names(pcp)
        pcp.stop_uncored()
        pcp.start_uncored(machine="standin-broken")
        self.wait_for_uncored(pcp)
        last = pcp.values(metric)
        self.assertGreaterEqual(last[metric]["0"], before[metric]["0"])
        pcp.run("touch-pages", PAGES, 0)
        self.assertEqual(pcp.values(metric), last)
        self.assertEqual(self.names(pcp), names)

    def test_same_uncored(self):
        """an agent that is started anew while uncored lives counts nothing twice"""
        pcp = self.serve()
        for _ in range(2):
            self.assert_counted_once(pcp)
            pcp.uncored.send_signal(signal.SIGSTOP)
            pcp.values("uncore.dram.read")  # the agent sees that uncored is away, and saves the counts
            pcp.uncored.send_signal(signal.SIGCONT)
            pcp.stop_pmcd()
            pcp.start_pmcd(perfevent=True)
            self.wait_for_uncored(pcp)
        self.assert_counted_once(pcp)

    def test_other_cpu(self):
        """counts go on, under the old instances, when the kernel counts a socket on another CPU"""
        if os.cpu_count() < 2:
            self.skipTest("needs two CPUs")
        machine = "packages = 0\n[pmu uncore_standin_0]\ncpumask = {}\n"
        pcp = self.serve(machine=lambda pcp: pcp.make_machine(machine.format(1)))
        before = pcp.served_values(PAGE_FAULTS)[PAGE_FAULTS]
        pcp.stop_uncored()
        pcp.start_uncored(machine=pcp.make_machine(machine.format(0)))
        self.wait_for_uncored(pcp)
        pcp.run("touch-pages", PAGES, 0)
        after = pcp.served_values(PAGE_FAULTS)[PAGE_FAULTS]
        self.assertEqual(list(after), list(before))
        self.assertGreaterEqual(after["0"] - before["0"], PAGES)
        self.assertIn("cpu1", pcp.run("pminfo", "-f", PAGE_FAULTS).stdout)

    def test_killed_together(self):
        """agent and uncored killed at once: at most a minute's counts are lost"""
        pcp = self.serve()
        first = pcp.served_values(PAGE_FAULTS)[PAGE_FAULTS]
        pcp.run("touch-pages", PAGES, 0)
        for _ in range(RECORD_SECONDS + 1):
            time.sleep(1)
            pcp.served_values(PAGE_FAULTS)
        pid = pcp.pmda_pid()
        pcp.kill_uncored()
        os.kill(pid, signal.SIGKILL)
        pcp.stop_pmcd()
        pcp.start_uncored()
        pcp.start_pmcd(perfevent=True)
        self.wait_for_uncored(pcp)
        after = pcp.served_values(PAGE_FAULTS)[PAGE_FAULTS]
        self.assertGreaterEqual(after["0"], first["0"] + PAGES)

    def assert_counted_once(self, pcp):
        """The values are the counts of this uncored, and nothing else."""
        values = pcp.values(PAGE_FAULTS, "uncore.channel.read")
        self.assertEqual(list(values[PAGE_FAULTS].values()),
                         [count // PAGE_BYTES for count in values["uncore.channel.read"].values()])


class Record(Tree):
    def path(self, pcp):
        return pcp.folder / "var/config/pmda/uncore.perfevent"

    def log(self, pcp):
        return (pcp.folder / "log/uncore.log").read_text(encoding="utf-8")

    def assert_works(self, pcp):
        """The agent has its names and the counts of this uncored, and still runs."""
        pid = pcp.pmda_pid()
        self.assertEqual(self.names(pcp), [MINOR_FAULTS, PAGE_FAULTS])
        Counts.assert_counted_once(self, pcp)
        self.assertEqual(pcp.pmda_pid(), pid)

    def test_whole(self):
        """the record has a line for each event on each CPU"""
        pcp = self.serve()
        self.assert_works(pcp)
        heading, *lines = self.path(pcp).read_text(encoding="ascii").splitlines()
        generation = pcp.info()["generation"]
        self.assertEqual(f"{heading} ", f"{HEADING}{generation[:16].lstrip('0')} "
                         f"{generation[16:].lstrip('0')} {len(lines)} ")
        self.assertLessEqual(
            {(pmu, event, str(cpu)) for pmu, event in (
                ("uncore_standin_0", "minor_faults"), ("uncore_standin_0", "page_faults"),
                ("uncored", "dram_read"), ("uncored", "dram_write"), ("uncored", "itom"))
             for cpu in range(n_sockets())},
            {(pmu, event, cpu) for pmu, event, _, _, _, cpu, *_ in map(str.split, lines)})

    def test_garbage(self):
        """a file that is not a record is ignored: the agent starts without it, and replaces it"""
        pcp = self.new_pcp()
        pcp.start_uncored()
        for garbage in GARBAGE:
            with self.subTest(garbage=garbage[:60]):
                self.path(pcp).write_bytes(garbage)
                self.path(pcp).chmod(0o644)
                pcp.start_pmcd(perfevent=True)
                self.assert_works(pcp)
                self.assertIn("counts below perfevent begin anew", self.log(pcp))
                pcp.stop_pmcd()
                heading, *lines = self.path(pcp).read_text(encoding="ascii").splitlines()
                self.assertRegex(heading, f"^{HEADING}[0-9a-f]+ [0-9a-f]+ {len(lines)}$")

    def test_unwritable(self):
        """where it may not write, the agent does without a record, and leaves nothing behind"""
        pcp = self.new_pcp()
        folder = self.path(pcp).parent
        os.chown(folder, 0, 0)
        folder.chmod(0o755)
        pcp.start_uncored()
        pcp.start_pmcd(perfevent=True)
        self.assert_works(pcp)
        self.assertEqual(list(folder.iterdir()), [])
        self.assertEqual(self.log(pcp).count("counts below perfevent may go back"), 1)
        folder.rmdir()
        pcp.stop_pmcd()
        pcp.start_pmcd(perfevent=True)
        self.assert_works(pcp)


if __name__ == "__main__":
    run_cases()
