# SPDX-License-Identifier: BSD-3-Clause
"""Known truth through PCP: N pages that are touched on a socket are N x 4096 bytes there.

Other processes of this machine touch pages, too, and that is true traffic of the stand-in machine.
So a reading must lie between what the kernel itself has counted before and after it, on each socket
and to the last count, and never be below the pages that were touched.
"""
import collections
import csv
import functools
import itertools
import json
import re
import time

from harness import Case, n_sockets, run_cases
from kernel import KernelCount, Reading, difference
from processes import end
from reading import is_served

PAGES = 102400
TRUTH = PAGES * 4096
RECORD_MS = 100
STEP_SECONDS = 0.2  # of the rows interpolated between records
DAY_SECONDS = 86400

# The work in an archive: when it began (of the epoch), the times of the last record before it and of a record after it
# (since it began), and the kernel's counts before and after each of these records.
Recording = collections.namedtuple("Recording", "archive began first last before_first after_first "
                                                "before_last after_last")


class Truth(Case):
    agent = "pipe"
    title = "through a pipe, "

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored()
        cls.pcp.start_pmcd(agent=cls.agent)
        cls.workers = [cls.pcp.talk_to("touch-when-told", cpu) for cpu in range(n_sockets())]
        for worker in cls.workers:
            worker.hear()
        cls.kernel = KernelCount(n_sockets())
        cls.addClassCleanup(cls.kernel.close)

    def work(self, socket):
        """Touches the pages."""
        self.assertEqual(self.workers[socket].ask(PAGES), "done")

    def each_socket(self, fetch):
        """Touches pages on each socket, and fetches before and after it."""
        for socket in range(n_sockets()):
            with self.subTest(socket=socket):
                first = self.kernel.around(fetch)
                self.work(socket)
                self.assert_true(socket, first, self.kernel.around(fetch))

    def assert_true(self, busy_socket, first, last):
        for metric in first.values:
            for socket in range(n_sockets()):
                n_bytes, least, most = difference(first, last, metric, socket)
                self.assertTrue(least <= n_bytes <= most, (metric, socket, least, n_bytes, most))
                if socket == busy_socket:
                    self.assertGreaterEqual(n_bytes, TRUTH)

    def test_fetch(self):
        """two fetches show the pages that were touched between, on their socket and channel"""
        metrics = ["uncore.dram.read", "uncore.dram.write", "uncore.channel.read"]
        client = self.pcp.talk_to("pcp-fetch", 0, 0, *metrics)

        def ask():
            values = json.loads(client.ask())["values"]
            return values if is_served(values) else None

        def fetch():
            values = self.wait_until(ask, 10, "the agent has values")
            return {metric: list(values[metric].values()) for metric in metrics}

        self.each_socket(fetch)

    def test_pmval(self):
        """pmval shows the pages that were touched between two of its lines"""
        path = self.pcp.folder / "pmval.out"
        with open(path, "wb") as output:
            self.pcp.spawn("pmval", "-r", "-t", "0.1", "uncore.dram.read", stdout=output)

        def fetch():
            # The next line may be of a fetch that was already made; the line after the next is not.
            n_lines = len(self.rows_of(path)) + 2
            self.wait_until(lambda: len(self.rows_of(path)) >= n_lines, 10, "pmval prints")
            return {"uncore.dram.read": self.rows_of(path)[n_lines - 1]}

        self.each_socket(fetch)

    @staticmethod
    def rows_of(path):
        """The rows of numbers that pmval has printed, one number per socket."""
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        return [[int(word) for word in line.split()] for line in lines
                if re.fullmatch(r"(\s*\d+){%d}\s*\n" % n_sockets(), line)]


class ThroughSharedObject(Truth):
    agent = "dso"
    test_pmval = None
    title = "through the shared object, "


class Archived(Truth):
    title = "in an archive of pmlogger, "
    test_fetch = test_pmval = None
    numbers = itertools.count()

    def record(self, socket):
        """Records the work."""
        folder, name = self.pcp.folder, f"archive{next(self.numbers)}"
        (folder / "pmlogger.conf").write_text(
            f"log mandatory on {RECORD_MS} msec {{ uncore.dram uncore.channel }}\n",
            encoding="utf-8")
        before_first, started = self.kernel.read(), time.time()
        logger = self.pcp.spawn("pmlogger", "-c", folder / "pmlogger.conf",
                                "-l", folder / f"log/{name}.log", name)
        self.wait_for_records(name, started)
        after_first, began = self.kernel.read(), time.time()
        self.work(socket)
        before_last, done = self.kernel.read(), time.time()
        # The first record after the work may be of a fetch that was made before its end.
        last = done - began + self.wait_for_records(name, done)[1]
        self.assertTrue(end(logger))
        first = [when for when in self.times(name, began) if when < 0][-1]
        return Recording(name, began, first, last, before_first, after_first, before_last,
                         self.kernel.read())

    def wait_for_records(self, archive, epoch_seconds):
        """Waits for records that were made after then, so many that rows can be interpolated
        between them. Returns how long after then each was made."""
        def find():
            times = [when for when in self.times(archive, epoch_seconds) if when > 0]
            return times if times and times[-1] - times[:2][-1] > 2 * STEP_SECONDS else None

        return self.wait_until(find, 20, "pmlogger records")

    def times(self, archive, epoch_seconds):
        """When each record was made, since then."""
        return [since(epoch_seconds, when)
                for when, _ in self.pmdumplog("uncore.dram.read", archive)]

    def each_replay(self, *replays):
        """Checks pairs (metric, replay); replay(archive) yields (time of the day, [value per socket])."""
        for socket in range(n_sockets()):
            with self.subTest(socket=socket):
                recording = self.record(socket)
                for metric, replay in replays:
                    self.assert_replay_is_true(socket, recording, metric, replay)

    def assert_replay_is_true(self, socket, recording, metric, replay):
        rows = [(since(recording.began, when), values) for when, values in replay(recording.archive)]
        first = [values for when, values in rows if when <= recording.first][-1]
        last = [values for when, values in rows if when >= recording.last][0]
        self.assert_true(socket,
                         Reading({metric: first}, recording.before_first, recording.after_first),
                         Reading({metric: last}, recording.before_last, recording.after_last))

    def test_replay(self):
        """pmdumplog, pmval, pmrep and pmrep's rates show the pages, on their socket and channel"""
        self.each_replay(
            *((metric, functools.partial(self.pmdumplog, metric)) for metric in (
                "uncore.dram.read", "uncore.dram.write", "uncore.channel.read")),
            *(("uncore.dram.read", replay) for replay in (
                functools.partial(self.pmval, "-U"),
                functools.partial(self.pmval, "-t", STEP_SECONDS, "-a"),
                functools.partial(self.pmrep, "-u", "-r"),
                self.rates)))

    def pmdumplog(self, metric, archive):
        """The archive may still be growing."""
        text = self.pcp.run("pmdumplog", archive, metric, check=False).stdout
        for record in text.split("\n\n"):
            values = [int(value) for value in re.findall(r"inst \[.*\] value (\d+)", record)]
            if values:
                yield seconds_of(record.split()[0]), values

    def pmval(self, *arguments):
        text = self.pcp.run("pmval", "-r", *arguments, "uncore.dram.read").stdout
        for line in text.splitlines():
            when, *values = line.split() or [""]
            if re.match(r"\d\d:\d\d:\d\d\.", when) and all(map(str.isdigit, values)):
                yield seconds_of(when), list(map(int, values))

    def pmrep(self, *arguments):
        text = self.pcp.run("pmrep", "-o", "csv", "-f", "%H:%M:%S.%f", *arguments[:-1],
                            "-a", arguments[-1], "uncore.dram.read").stdout
        for when, *values in csv.reader(text.splitlines()[1:]):
            if all(values):
                yield seconds_of(when), list(map(float, values))

    def rates(self, archive):
        """pmrep's rates have decimals, and so give each whole number of bytes."""
        total = [0.0] * n_sockets()
        for when, rates in self.pmrep("-t", STEP_SECONDS, archive):
            total = [so_far + rate * STEP_SECONDS for so_far, rate in zip(total, rates)]
            yield when, list(map(round, total))


def seconds_of(clock):
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def since(epoch_seconds, day_seconds):
    """Seconds from a time to a time of the day near it, which may be past midnight."""
    half_day = DAY_SECONDS / 2
    return (day_seconds - epoch_seconds + half_day) % DAY_SECONDS - half_day


if __name__ == "__main__":
    run_cases()
