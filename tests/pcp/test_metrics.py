# SPDX-License-Identifier: BSD-3-Clause
"""Every metric, its description and its values, against one table."""
import mmap
import json
import os
import re
import subprocess
import tempfile
import time

from harness import Case, build_root, metric_section, n_sockets, run_cases
from kernel import KernelCount, difference
from reading import NO_VALUES_WORDS, TRY_AGAIN, descriptions_of, labels_of, values_of

U32, U64, STRING = "32-bit unsigned int", "64-bit unsigned int", "string"
SOCKETS, CHANNELS, JOBS, NONE = "470.0", "470.1", "470.3", "PM_INDOM_NULL"

# metric: (pmid, type, semantics, units, instance domain)
METRICS = {
    "uncore.dram.read": ("470.0.0", U64, "counter", "byte", SOCKETS),
    "uncore.dram.write": ("470.0.1", U64, "counter", "byte", SOCKETS),
    "uncore.hbm.read": ("470.0.2", U64, "counter", "byte", SOCKETS),
    "uncore.hbm.write": ("470.0.3", U64, "counter", "byte", SOCKETS),
    "uncore.pmm.read": ("470.0.4", U64, "counter", "byte", SOCKETS),
    "uncore.pmm.write": ("470.0.5", U64, "counter", "byte", SOCKETS),
    "uncore.itom": ("470.0.6", U64, "counter", "byte", SOCKETS),
    "uncore.specitom": ("470.0.7", U64, "counter", "byte", SOCKETS),
    "uncore.dram.total": ("470.0.8", U64, "counter", "byte", SOCKETS),
    "uncore.channel.read": ("470.1.0", U64, "counter", "byte", CHANNELS),
    "uncore.channel.write": ("470.1.1", U64, "counter", "byte", CHANNELS),
    "uncore.quality": ("470.2.0", U32, "instant", "none", SOCKETS),
    "uncore.quality_text": ("470.2.1", STRING, "instant", "none", SOCKETS),
    "uncore.flagged.estimated": ("470.2.2", U32, "instant", "count", SOCKETS),
    "uncore.flagged.partial": ("470.2.3", U32, "instant", "count", SOCKETS),
    "uncore.flagged.frozen": ("470.2.4", U32, "instant", "count", SOCKETS),
    "uncore.flagged.reset": ("470.2.5", U32, "instant", "count", SOCKETS),
    "uncore.flagged.uncalibrated": ("470.2.6", U32, "instant", "count", SOCKETS),
    "uncore.flagged.standin": ("470.2.7", U32, "instant", "count", SOCKETS),
    "uncore.raised.estimated": ("470.2.8", U64, "instant", "count", SOCKETS),
    "uncore.raised.partial": ("470.2.9", U64, "instant", "count", SOCKETS),
    "uncore.raised.frozen": ("470.2.10", U64, "instant", "count", SOCKETS),
    "uncore.raised.reset": ("470.2.11", U64, "instant", "count", SOCKETS),
    "uncore.sample.time": ("470.3.0", U64, "instant", "nanosec", SOCKETS),
    "uncore.sample.age": ("470.3.1", U64, "instant", "nanosec", SOCKETS),
    "uncore.sample.skew": ("470.3.2", U64, "instant", "nanosec", SOCKETS),
    "uncore.sample.sweeps": ("470.3.3", U64, "counter", "count", SOCKETS),
    "uncore.daemon.generation": ("470.4.0", STRING, "discrete", "none", NONE),
    "uncore.daemon.uptime": ("470.4.1", U64, "instant", "millisec", NONE),
    "uncore.daemon.clients": ("470.4.2", U32, "instant", "count", NONE),
    "uncore.daemon.sweeps": ("470.4.3", U64, "counter", "count", NONE),
    "uncore.daemon.refused": ("470.4.4", U64, "counter", "count", NONE),
    "uncore.daemon.throttled": ("470.4.5", U64, "counter", "count", NONE),
    "uncore.daemon.cpu_time": ("470.4.6", U64, "counter", "nanosec", NONE),
    "uncore.daemon.platform": ("470.4.7", STRING, "discrete", "none", NONE),
    "uncore.daemon.up": ("470.4.8", U32, "instant", "none", NONE),
    "uncore.daemon.reason": ("470.4.9", STRING, "instant", "none", NONE),
    "uncore.daemon.min_interval": ("470.4.10", U64, "instant", "millisec", NONE),
    "uncore.daemon.quantum": ("470.4.11", U64, "instant", "byte", NONE),
    "uncore.job.read": ("470.6.0", U64, "counter", "byte", JOBS),
    "uncore.job.write": ("470.6.1", U64, "counter", "byte", JOBS),
    "uncore.job.itom": ("470.6.2", U64, "counter", "byte", JOBS),
    "uncore.job.specitom": ("470.6.3", U64, "counter", "byte", JOBS),
    "uncore.job.begin": ("470.6.4", U64, "discrete", "sec", JOBS),
    "uncore.job.uid": ("470.6.5", U32, "discrete", "none", JOBS),
    "uncore.metric.clock": ("470.7.0", U64, "counter", "nanosec", SOCKETS),
    "uncore.metric.check.dram.read": ("470.7.1", U64, "counter", "byte", SOCKETS),
    "uncore.metric.check.dram.write": ("470.7.2", U64, "counter", "byte", SOCKETS),
    "uncore.metric.remote.in.read": ("470.7.3", U64, "counter", "byte", SOCKETS),
    "uncore.metric.remote.in.write": ("470.7.4", U64, "counter", "byte", SOCKETS),
    "uncore.metric.link.out": ("470.7.5", U64, "counter", "byte", SOCKETS),
    "uncore.metric.link.in": ("470.7.6", U64, "counter", "byte", SOCKETS),
    "uncore.metric.energy.package": ("470.7.7", U64, "counter", "none", SOCKETS),
    "uncore.metric.energy.dram": ("470.7.8", U64, "counter", "none", SOCKETS),
    "uncore.metric.pcie.read": ("470.7.9", U64, "counter", "byte", SOCKETS),
    "uncore.metric.pcie.write": ("470.7.10", U64, "counter", "byte", SOCKETS),
    "uncore.metric.remote.out.read": ("470.7.11", U64, "counter", "byte", SOCKETS),
    "uncore.metric.remote.out.write": ("470.7.12", U64, "counter", "byte", SOCKETS),
}

UNIT_WORDS = {"byte": "byte", "nanosec": "nanosecond", "millisec": "millisecond", "sec": "second"}
EXPLAINED = ["hbm.read", "hbm.write", "pmm.read", "pmm.write", "specitom"]  # the platform file says why
OF_JOBS = ["job.read", "job.write", "job.itom", "job.specitom", "job.begin", "job.uid"]  # no job is open
# Platform files of other machines have them.
ELSEWHERE = [f"metric.{name}" for name in (
    "check.dram.read", "check.dram.write", "remote.in.read", "remote.in.write", "link.out", "link.in", "energy.package",
    "energy.dram", "pcie.read", "pcie.write", "remote.out.read", "remote.out.write")]
ABSENT = [*EXPLAINED, "dram.total", *OF_JOBS, *ELSEWHERE]
PRESENT = ["dram.read", "dram.write", "itom"]
PARTIAL, STANDIN = 0x02, 0x20
SECOND_NS = 1000000000
N_HELD, N_REFUSED = 200, 2
HELD_SECONDS = 30
REPORT_AGE_SECONDS = 0.15  # uncored gives the same report again for 0.1 s


def of_socket(number):
    return {"device_type": ["socket", "memory"], "indom_name": "per socket", "socket": number,
            "package": number}


class Described:
    def test_table(self):
        """has the metrics of the table and no other, each as described there"""
        found = descriptions_of(self.pcp.run("pminfo", "-dmtT", "uncore").stdout)
        self.assertEqual(list(METRICS), sorted(found, key=list(METRICS).index))
        for name, metric in found.items():
            with self.subTest(metric=name):
                self.assertEqual(
                    tuple(metric[key] for key in ("pmid", "type", "semantics", "units", "indom")),
                    METRICS[name])

    def test_names(self):
        """has no name below perfevent unless its option asks for names"""
        done = self.pcp.run("pminfo", "perfevent", check=False)
        self.assertIn("Unknown metric name", done.stdout + done.stderr)

    def test_help(self):
        """explains every metric in one line and at length, with its unit"""
        found = descriptions_of(self.pcp.run("pminfo", "-dmtT", "uncore").stdout)
        for name, metric in found.items():
            with self.subTest(metric=name):
                line, text = metric["line"], metric["text"].strip()
                self.assertTrue(line and 10 < len(line) < 80, line)
                self.assertGreater(len(text), 20)
                words = {"nanosec": "(ns)"} if name.startswith("uncore.metric.") else UNIT_WORDS
                self.assertIn(words.get(metric["units"], ""), (line + " " + text).lower())

    def test_sources(self):
        """names the event of every counter of bytes, or the metric that it is a part of"""
        found = descriptions_of(self.pcp.run("pminfo", "-dmtT", "uncore").stdout)
        source = re.compile(r"[A-Z]+_[A-Z]+|ddrt_\w+|uncore\.dram\.\w+|uncore\.channel\.\w+")
        for name in (name for name, row in METRICS.items()
                     if row[2:4] == ("counter", "byte") and not name.startswith("uncore.metric.")):
            with self.subTest(metric=name):
                self.assertRegex(found[name]["text"], source)

    def test_instances(self):
        """has an instance for each socket and each channel"""
        done = self.pcp.run("pminfo", "-f", "uncore.dram.read", "uncore.channel.write")
        values = values_of(done.stdout)
        sockets = [f"socket{i}" for i in range(n_sockets())]
        self.assertEqual(list(values["uncore.dram.read"]), sockets)
        self.assertEqual(list(values["uncore.channel.write"]), [f"{s}/standin0" for s in sockets])

    def test_labels(self):
        """labels sockets, channels and tiers"""
        labels = labels_of(self.pcp.run("pminfo", "-l", "uncore").stdout)
        for socket in range(n_sockets()):
            self.assert_labels(labels["uncore.dram.read"][f"socket{socket}"],
                               dict(of_socket(socket), tier="dram"))
            self.assert_labels(labels["uncore.sample.sweeps"][f"socket{socket}"],
                               of_socket(socket))
            self.assert_labels(labels["uncore.channel.read"][f"socket{socket}/standin0"],
                               {"socket": socket, "channel": "standin0", "tier": "dram"})
        self.assert_labels(labels["uncore.hbm.read"][None], {"tier": "hbm"})
        self.assert_labels(labels["uncore.pmm.write"][None], {"tier": "pmm"})
        self.assertNotIn("tier", labels["uncore.itom"][None])
        self.assert_labels(labels["uncore.metric.check.dram.read"][None],
                           {"metric": "check.dram.read", "unit": "bytes"})
        self.assertNotIn("tier", labels["uncore.metric.check.dram.read"][None])
        self.assertNotIn("socket", labels["uncore.daemon.up"][None])

    def assert_labels(self, labels, expected):
        expected = dict(expected, platform="standin")
        self.assertEqual({key: labels.get(key) for key in expected}, expected)


class Served:
    def test_all(self):
        """gives every metric that is present a value, and metrics of absent tiers none"""
        values = self.pcp.served_values(*METRICS)
        absent = ["uncore." + name for name in ABSENT]
        self.assertEqual([name for name, value in values.items() if not value], absent)
        words = values_of(self.pcp.run("pminfo", "-f", *absent).stdout)
        self.assertEqual(set(words.values()), {NO_VALUES_WORDS})

    def test_quality(self):
        """says in bits and in words that this is a stand-in, and why a tier is absent"""
        values = self.pcp.served_values("uncore.quality", "uncore.quality_text")
        why = "absent (The stand-in machine has no such counter.)"
        order = [name[len("uncore."):] for name in METRICS][:len(EXPLAINED) + len(PRESENT)]
        text = "; ".join(f"{name}: {why if name in EXPLAINED else 'standin'}"
                         for name in [*order, "clock"])
        for i in map(str, range(n_sockets())):
            self.assertEqual(values["uncore.quality"][i], STANDIN)
            self.assertEqual(values["uncore.quality_text"][i], text)

    def test_flagged(self):
        """says how many metrics carry each flag"""
        names = [name for name in METRICS if name.startswith("uncore.flagged.")]
        for name, value in self.pcp.served_values(*names).items():
            expected = len(PRESENT) + 1 if name == "uncore.flagged.standin" else 0
            self.assertEqual(set(value.values()), {expected}, name)

    def test_never_raised(self):
        """knows of no sweep in which a flag was raised if none was ever raised"""
        names = [name for name in METRICS if name.startswith("uncore.raised.")]
        for name, value in self.pcp.served_values(*names).items():
            self.assertEqual(set(value.values()), {0}, name)

    def test_sums(self):
        """takes the values of one fetch from one sweep: channels add up to their socket"""
        for _ in range(20):
            values = self.pcp.served_values("uncore.channel.read", "uncore.channel.write",
                                            "uncore.dram.read", "uncore.dram.write")
            for way in ("read", "write"):
                sums = dict.fromkeys(values["uncore.dram.read"], 0)
                for number, count in values[f"uncore.channel.{way}"].items():
                    sums[str(int(number) >> 16)] += count
                self.assertEqual(sums, values[f"uncore.dram.{way}"])

    def test_kinds(self):
        """gives each metric its own counter: page faults, the minor and the major ones"""
        n_made = 256
        metrics = ["uncore.dram.read", "uncore.dram.write", "uncore.itom"]
        kernel = KernelCount(n_sockets())
        self.addCleanup(kernel.close)

        def fetch():
            values = self.pcp.served_values(*metrics)
            return {metric: list(values[metric].values()) for metric in metrics}

        first = kernel.around(fetch)
        self.fault_from_disk(n_made)
        last = kernel.around(fetch)
        for metric in metrics:
            for socket in range(n_sockets()):
                n_bytes, least, most = difference(first, last, metric, socket)
                self.assertTrue(least <= n_bytes <= most, (metric, socket, least, n_bytes, most))
                if metric == "uncore.itom" and n_bytes < n_made * 64:
                    self.skipTest("no page of a file comes from a disk here")

    def fault_from_disk(self, n_pages):
        """Makes major faults on every socket, where files are on a disk."""
        page_bytes, cpus = 4096, os.sched_getaffinity(0)
        for cpu in range(n_sockets()):
            os.sched_setaffinity(0, {cpu})
            with tempfile.TemporaryFile(dir=build_root()) as file:
                file.write(bytes(n_pages * page_bytes))
                file.flush()
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
                    memory.madvise(mmap.MADV_RANDOM)
                    sum(memory[::page_bytes])
        os.sched_setaffinity(0, cpus)

    def test_counts(self):
        """counts up on the socket that has traffic, and down on no socket"""
        for busy in range(n_sockets()):
            first = self.pcp.served_values("uncore.dram.read", "uncore.dram.write")
            self.pcp.run("touch-pages", 100, busy)
            last = self.pcp.served_values("uncore.dram.read", "uncore.dram.write")
            for name, counts in first.items():
                for i, count in counts.items():
                    least = 100 * 4096 if i == str(busy) else 0
                    self.assertGreaterEqual(last[name][i] - count, least)

    def test_sample(self):
        """says when the sample was taken: now, within a sweep of some microseconds"""
        before_ns = time.time_ns()
        values = self.pcp.served_values("uncore.sample.time", "uncore.sample.age",
                                        "uncore.sample.skew")
        after_ns = time.time_ns()
        for i in map(str, range(n_sockets())):
            taken_ns, age_ns = values["uncore.sample.time"][i], values["uncore.sample.age"][i]
            self.assertTrue(before_ns < taken_ns < after_ns, (before_ns, taken_ns, after_ns))
            self.assertTrue(0 < age_ns < SECOND_NS, age_ns)
            self.assertLess(taken_ns + age_ns, after_ns)
            self.assertTrue(0 < values["uncore.sample.skew"][i] < SECOND_NS / 10)

    def test_sweeps(self):
        """takes one sweep of every socket for a fetch of any counters, however many"""
        counters = [name for name, row in METRICS.items() if row[4] != NONE]
        fetches = self.pcp.served(*counters, n=10)
        for i in map(str, range(n_sockets())):
            sweeps = [fetch["values"]["uncore.sample.sweeps"][i] for fetch in fetches]
            self.assertEqual([sweep - sweeps[0] for sweep in sweeps], list(range(10)))

    def test_daemon(self):
        """says the same about uncored as `uncore info`"""
        names = [name for name in METRICS if name.startswith("uncore.daemon.")]
        before = self.pcp.info()
        values = {name.rpartition(".")[2]: value["-1"]
                  for name, value in self.pcp.served_values(*names).items()}
        time.sleep(REPORT_AGE_SECONDS)
        after = self.pcp.info()
        for key in ("generation", "platform", "refused"):
            self.assertEqual(values[key], before[key], key)
        self.assert_between(values["uptime"] * 1000000, before["uptime_ns"] - 1000000,
                            after["uptime_ns"])
        for key, theirs in (("sweeps", "sweeps"), ("throttled", "throttled"),
                            ("cpu_time", "cpu_ns")):
            low, high = (sum(socket[theirs] for socket in info["sockets"])
                         for info in (before, after))
            self.assert_between(values[key], low, high)
        self.assertEqual((values["up"], values["reason"]), (1, ""))
        self.assert_between(values["clients"], 1, before["clients"])

    def assert_between(self, value, low, high):
        self.assertTrue(low <= value <= high, (low, value, high))


class Pipe(Described, Served, Case):
    title = "the agent on a pipe "
    agent = "pipe"

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored()
        cls.pcp.start_pmcd(agent=cls.agent)

    def setUp(self):
        self.pcp.served("uncore.dram.read")


class UnixSocket(Pipe):
    title = "the agent on a Unix socket "
    agent = "socket"


class SharedObject(Pipe):
    title = "the shared object "
    agent = "dso"


class OtherMachines(Case):
    """More stand-ins: one with boxes that cannot be opened, one with many, and others."""

    def serve(self, machine, **options):
        pcp = self.new_pcp()
        pcp.start_uncored(machine=machine, **options)
        pcp.start_pmcd()
        pcp.served("uncore.dram.read")
        return pcp

    def test_broken(self):
        """a channel that cannot be read has no value, and its socket is called partial"""
        pcp = self.serve("standin-broken")
        values = values_of(pcp.run("pminfo", "-f", "uncore").stdout)
        labels = labels_of(pcp.run("pminfo", "-l", "uncore.channel.read").stdout)
        sockets = [f"socket{i}" for i in range(n_sockets())]
        self.assertEqual(list(values["uncore.channel.read"]), [f"{s}/standin0" for s in sockets])
        for socket in sockets:
            self.assertIn(f"{socket}/standin1", labels["uncore.channel.read"])
            self.assertEqual(values["uncore.quality"][socket], PARTIAL | STANDIN)
            self.assertEqual(values["uncore.flagged.partial"][socket], len(PRESENT))
            self.assertEqual(values["uncore.raised.partial"][socket],
                             values["uncore.sample.sweeps"][socket])
            self.assertEqual(values["uncore.raised.reset"][socket], 0)
            self.assertRegex(values["uncore.quality_text"][socket],
                             r"^dram.read: partial,standin; .*; clock: standin$")

    def test_wide(self):
        """48 channels of a socket are in the order of their numbers, and add up"""
        pcp = self.serve("standin-wide")
        values = values_of(
            pcp.run("pminfo", "-f", "uncore.channel.read", "uncore.dram.read").stdout)
        self.assertEqual(list(values["uncore.channel.read"]),
                         [f"socket{i}/standin{j}" for i in range(n_sockets()) for j in range(48)])
        by_number = pcp.served_values("uncore.channel.read", "uncore.dram.read")
        for i in range(n_sockets()):
            channels = [by_number["uncore.channel.read"][str(i << 16 | j)] for j in range(48)]
            self.assertEqual(sum(channels), by_number["uncore.dram.read"][str(i)])

    def test_change(self):
        """another uncored may find more channels than the one before"""
        pcp = self.serve("standin")
        channels = "uncore.channel.read"
        self.assertEqual(len(pcp.served_values(channels)[channels]), n_sockets())
        pcp.stop_uncored()
        pcp.start_uncored(machine="standin-wide")
        # pmrep asks for the instances first, and only once.
        heading = pcp.run("pmrep", "-o", "csv", "-s", "1", "-t", "0.1", channels).stdout
        self.assertEqual(heading.splitlines()[0].count("standin"), 48 * n_sockets())
        self.wait_until(lambda: pcp.values(channels)[channels] != TRY_AGAIN, 3, "values come back")
        self.assertEqual(len(pcp.served_values(channels)[channels]), 48 * n_sockets())

    def test_packages(self):
        """labels a socket with the kernel's number of its package, which may differ from the socket's"""
        pcp = self.new_pcp()
        pcp.start_uncored(machine=pcp.make_machine("packages = 3 5\n"))
        pcp.start_pmcd()
        pcp.served("uncore.dram.read")
        labels = labels_of(pcp.run("pminfo", "-l", "uncore.dram.read").stdout)["uncore.dram.read"]
        self.assertEqual([(labels[f"socket{i}"]["socket"], labels[f"socket{i}"]["package"])
                          for i in range(n_sockets())], [(0, 3), (1, 5)][:n_sockets()])


BOX = """
type = 1
cpumask = packages
format event = config:0-7
event page_faults = event=0x2
event minor_faults = event=0x5
"""
TIERED_MACHINE = f"""
[pmu uncore_standin_0]
absent = yes
[pmu uncore_standin_clock]
absent = yes
[pmu uncore_imc_1]{BOX}
[pmu uncore_edge_{{1..2}}]{BOX}
[pmu uncore_hbm_5]{BOX}
"""


def tiered_section(name, event, n_bytes):
    """Controllers of two kinds, whose numbers are from 1 on."""
    return "\n".join(metric_section(term, f"uncore_{kind}_[0-9]*", event, n_bytes, kind)
                     for term, kind in ((name, "imc"), (f"{name}/edge", "edge")))


# One event on one box is one counter: two metrics of it differ only in the factor.
TIERED_PLATFORM = [
    tiered_section("dram.read", "page_faults", 4096),
    tiered_section("dram.write", "page_faults", 64),
    metric_section("hbm.read", "uncore_hbm_[0-9]*", "minor_faults", 1, "stack"),
    metric_section("hbm.write", "uncore_hbm_[0-9]*", "minor_faults", 32, "stack"),
    tiered_section("pmm.read", "page_faults", 2),
    tiered_section("pmm.write", "page_faults", 8),
]
DRAM, HBM, PMM = 0 << 12, 1 << 12, 2 << 12
# Channels of each socket. The second of two channels with one number takes the next free number, and so does the third,
# whose number is taken now.
TIERED_CHANNELS = {
    DRAM | 1: ("imc1", "imc1", "dram"),
    DRAM | 2: ("edge1", "edge1", "dram"),
    DRAM | 3: ("edge2", "edge2", "dram"),
    HBM | 5: ("stack5", "stack5", "hbm"),
    PMM | 1: ("imc1.pmm", "imc1", "pmm"),
    PMM | 2: ("edge1.pmm", "edge1", "pmm"),
    PMM | 3: ("edge2.pmm", "edge2", "pmm"),
}


class Tiers(Case):
    """Three kinds of memory, two of them behind the same controllers."""

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.machine = cls.pcp.make_machine(TIERED_MACHINE)
        cls.pcp.start_uncored(machine=cls.machine,
                              platforms=cls.pcp.make_platform(*TIERED_PLATFORM))
        cls.pcp.start_pmcd()

    def setUp(self):
        self.pcp.served("uncore.dram.read")

    def test_instances(self):
        """numbers channels by tier and box, each with its own number; a name for two tiers says which"""
        text = self.pcp.run("pminfo", "-f", "uncore.channel.write").stdout
        found = dict(re.findall(r'inst \[(\d+) or "(.*)"\] value', text))
        self.assertEqual(found, {str(i << 16 | number): f"socket{i}/{name}"
                                 for i in range(n_sockets())
                                 for number, (name, _, _) in TIERED_CHANNELS.items()})

    def test_labels(self):
        """labels each channel with its tier, and with its name alone"""
        labels = labels_of(self.pcp.run("pminfo", "-l", "uncore.channel.read").stdout)
        for i in range(n_sockets()):
            for name, channel, tier in TIERED_CHANNELS.values():
                label = labels["uncore.channel.read"][f"socket{i}/{name}"]
                self.assertEqual((label["socket"], label["channel"], label["tier"]),
                                 (i, channel, tier))

    def values(self):
        """{way: {tier: bytes by socket}}, and the same for the sums of channels, of one sweep."""
        tiers, ways = {"dram": DRAM, "hbm": HBM, "pmm": PMM}, ("read", "write")
        values = self.pcp.served_values(
            *(f"uncore.{tier}.{way}" for tier in tiers for way in ways),
            *(f"uncore.channel.{way}" for way in ways))
        sums = {way: {tier: [0] * n_sockets() for tier in tiers} for way in ways}
        for way in ways:
            for number, count in values[f"uncore.channel.{way}"].items():
                tier = TIERED_CHANNELS[int(number) & 0xffff][2]
                sums[way][tier][int(number) >> 16] += count
        return {way: {tier: list(values[f"uncore.{tier}.{way}"].values()) for tier in tiers}
                for way in ways}, sums

    def assert_values(self):
        for cpu in range(n_sockets()):
            self.pcp.run("touch-pages", 100, cpu)
        values, sums = self.values()
        self.assertEqual(sums, values)
        n_faults = [n_bytes // 2 for n_bytes in values["read"]["pmm"]]
        n_minor = values["read"]["hbm"]
        self.assertTrue(all(n >= 100 and 3 * n <= m * 2 for n, m in zip(n_minor, n_faults)))
        for way, factors in (("read", (4096, 1, 2)), ("write", (64, 32, 8))):
            for tier, n, factor in zip(("dram", "hbm", "pmm"), (n_faults, n_minor, n_faults),
                                       factors):
                self.assertEqual(values[way][tier], [count * factor for count in n], (way, tier))

    def test_values(self):
        """gives each tier its own counters, and to each channel its part"""
        self.assert_values()

    def test_other_order(self):
        """values follow the names of the metrics when a later uncored has them in another order"""
        self.pcp.served_values("uncore.hbm.read")
        self.pcp.stop_uncored()
        self.pcp.start_uncored(machine=self.machine,
                               platforms=self.pcp.make_platform(*reversed(TIERED_PLATFORM)))
        self.wait_until(lambda: self.pcp.values("uncore.daemon.up")["uncore.daemon.up"]["-1"],
                        3, "values come back")
        self.assert_values()


class Limited(Case):
    """uncored with room for one connection of a user, and with hardly any time to read."""

    def test_counters(self):
        """connections that were refused and readings that were held back are counted apart"""
        self.pcp = self.new_pcp()
        self.pcp.start_uncored(config="[server]\nmax_clients_per_user = 1\n"
                                      "[reader]\nbudget_percent = 1\nburst_ms = 1\n")
        self.pcp.start_pmcd()
        self.wait_until(self.is_held_back, HELD_SECONDS, "readings are held back")
        for _ in range(N_REFUSED):
            self.assertNotEqual(self.pcp.run("uncore", "info", check=False).returncode, 0)
        before = self.info_as_root()
        values = self.pcp.served_values("uncore.daemon.refused", "uncore.daemon.throttled")
        after = self.info_as_root()
        # Root may be refused, too, while uncored closes its last connection.
        self.assertGreaterEqual(before["refused"], N_REFUSED)
        self.assertTrue(before["refused"] <= values["uncore.daemon.refused"]["-1"] <= after["refused"])
        held = values["uncore.daemon.throttled"]["-1"]
        self.assertTrue(self.n_held(before) <= held <= self.n_held(after))
        self.assertGreater(held, after["refused"])

    def is_held_back(self):
        """On a busy machine readings are so far apart that few are held back."""
        self.pcp.fetch("uncore.dram.read", n=N_HELD)
        return self.n_held(self.info_as_root()) > 4 * N_REFUSED

    def info_as_root(self):
        """Asks as another user than the agent's."""
        time.sleep(REPORT_AGE_SECONDS)
        return json.loads(subprocess.run(["uncore", "info", "--json"], env=self.pcp.env, check=True,
                                         stdout=subprocess.PIPE, timeout=20).stdout)

    @staticmethod
    def n_held(info):
        return sum(socket["throttled"] for socket in info["sockets"])


if __name__ == "__main__":
    run_cases()
