# SPDX-License-Identifier: BSD-3-Clause
"""Every metric as it is described and as it is served, against one table."""
import mmap
import os
import re
import tempfile
import time

from harness import Case, build_root, n_sockets, run_cases
from reading import NO_VALUES_WORDS, TRY_AGAIN, descriptions_of, labels_of, values_of

U32, U64, STRING = "32-bit unsigned int", "64-bit unsigned int", "string"
SOCKETS, CHANNELS, NONE = "470.0", "470.1", "PM_INDOM_NULL"

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
}

UNIT_WORDS = {"byte": "byte", "nanosec": "nanosecond", "millisec": "millisecond"}
EXPLAINED = ["hbm.read", "hbm.write", "pmm.read", "pmm.write", "specitom"]  # its file says why
ABSENT = [*EXPLAINED, "dram.total"]
PRESENT = ["dram.read", "dram.write", "itom"]
PARTIAL, STANDIN = 0x02, 0x20
SECOND_NS = 1000000000
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
        """has no name below perfevent unless that is wanted"""
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
                self.assertIn(UNIT_WORDS.get(metric["units"], ""), (line + " " + text).lower())

    def test_sources(self):
        """says of every counter of bytes which event it is, or which metric it is part of"""
        found = descriptions_of(self.pcp.run("pminfo", "-dmtT", "uncore").stdout)
        source = re.compile(r"[A-Z]+_[A-Z]+|ddrt_\w+|uncore\.dram\.\w+|uncore\.channel\.\w+")
        for name in (name for name, row in METRICS.items() if row[3] == "byte"):
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
        self.assertNotIn("socket", labels["uncore.daemon.up"][None])

    def assert_labels(self, labels, expected):
        expected = dict(expected, platform="standin")
        self.assertEqual({key: labels.get(key) for key in expected}, expected)


class Served:
    def test_all(self):
        """gives every metric that is present a value, and those of absent tiers none"""
        values = self.pcp.values(*METRICS)
        absent = ["uncore." + name for name in ABSENT]
        self.assertEqual([name for name, value in values.items() if not value], absent)
        words = values_of(self.pcp.run("pminfo", "-f", *absent).stdout)
        self.assertEqual(set(words.values()), {NO_VALUES_WORDS})

    def test_quality(self):
        """says in bits and in words that this is a stand-in, and why a tier is absent"""
        values = self.pcp.values("uncore.quality", "uncore.quality_text")
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
        for name, value in self.pcp.values(*names).items():
            expected = len(PRESENT) + 1 if name == "uncore.flagged.standin" else 0
            self.assertEqual(set(value.values()), {expected}, name)

    def test_never_raised(self):
        """knows of no sweep in which a flag was raised, where none ever was"""
        names = [name for name in METRICS if name.startswith("uncore.raised.")]
        for name, value in self.pcp.values(*names).items():
            self.assertEqual(set(value.values()), {0}, name)

    def test_sums(self):
        """takes the values of one fetch from one sweep: channels add up to their socket"""
        for _ in range(20):
            values = self.pcp.values("uncore.channel.read", "uncore.channel.write",
                                     "uncore.dram.read", "uncore.dram.write")
            for way in ("read", "write"):
                sums = dict.fromkeys(values["uncore.dram.read"], 0)
                for number, count in values[f"uncore.channel.{way}"].items():
                    sums[str(int(number) >> 16)] += count
                self.assertEqual(sums, values[f"uncore.dram.{way}"])

    def test_kinds(self):
        """gives each metric its own counter: page faults are the minor and the major ones"""
        n_made = 256
        self.fault_from_disk(n_made)
        values = self.pcp.values("uncore.dram.read", "uncore.dram.write", "uncore.itom")
        for i in map(str, range(n_sockets())):
            n_major = values["uncore.itom"][i] // 64
            if n_major < n_made:
                self.skipTest("no page of a file comes from a disk here")
            n_faults, n_minor = (values[f"uncore.dram.{way}"][i] // 4096
                                 for way in ("read", "write"))
            # A fault that has to be tried again is one, but neither minor nor major.
            self.assertLess(abs(n_faults - n_minor - n_major), n_made / 4)

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
        """counts up on the socket where there is traffic, and down on none"""
        for busy in range(n_sockets()):
            first = self.pcp.values("uncore.dram.read", "uncore.dram.write")
            self.pcp.run("touch-pages", 100, busy)
            last = self.pcp.values("uncore.dram.read", "uncore.dram.write")
            for name, counts in first.items():
                for i, count in counts.items():
                    least = 100 * 4096 if i == str(busy) else 0
                    self.assertGreaterEqual(last[name][i] - count, least)

    def test_sample(self):
        """says when the sample was taken: now, within a sweep of some microseconds"""
        before_ns = time.time_ns()
        values = self.pcp.values("uncore.sample.time", "uncore.sample.age", "uncore.sample.skew")
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
        fetches = self.pcp.fetch(*counters, n=10)
        for i in map(str, range(n_sockets())):
            sweeps = [fetch["values"]["uncore.sample.sweeps"][i] for fetch in fetches]
            self.assertEqual([sweep - sweeps[0] for sweep in sweeps], list(range(10)))

    def test_daemon(self):
        """says of uncored what `uncore info` says"""
        names = [name for name in METRICS if name.startswith("uncore.daemon.")]
        before = self.pcp.info()
        values = {name.rpartition(".")[2]: value["-1"]
                  for name, value in self.pcp.values(*names).items()}
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


class UnixSocket(Pipe):
    title = "the agent on a Unix socket "
    agent = "socket"


class SharedObject(Pipe):
    title = "the shared object "
    agent = "dso"


class OtherMachines(Case):
    """Two more stand-ins: one with boxes that cannot be opened, one with many."""

    def serve(self, machine):
        pcp = self.new_pcp()
        pcp.start_uncored(machine=machine)
        pcp.start_pmcd()
        return pcp

    def test_broken(self):
        """a channel that cannot be read has no value, and its socket is said to be partial"""
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
        by_number = pcp.values("uncore.channel.read", "uncore.dram.read")
        for i in range(n_sockets()):
            channels = [by_number["uncore.channel.read"][str(i << 16 | j)] for j in range(48)]
            self.assertEqual(sum(channels), by_number["uncore.dram.read"][str(i)])

    def test_change(self):
        """another uncored may find more channels than the one before"""
        pcp = self.serve("standin")
        channels = "uncore.channel.read"
        self.assertEqual(len(pcp.values(channels)[channels]), n_sockets())
        pcp.stop_uncored()
        pcp.start_uncored(machine="standin-wide")
        # pmrep's first question is for the instances, and it asks but once.
        heading = pcp.run("pmrep", "-o", "csv", "-s", "1", "-t", "0.1", channels).stdout
        self.assertEqual(heading.splitlines()[0].count("standin"), 48 * n_sockets())
        self.wait_until(lambda: pcp.values(channels)[channels] != TRY_AGAIN, 3, "values come back")
        self.assertEqual(len(pcp.values(channels)[channels]), 48 * n_sockets())


if __name__ == "__main__":
    run_cases()
