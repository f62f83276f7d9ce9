# SPDX-License-Identifier: BSD-3-Clause
"""CPUs that come and go: the counts stay, or the value says that it is not whole. A value is never frozen without a
flag."""
import os
import pathlib

from harness import (Case, VISITOR, by_program, control, info, is_active, load_machine, measure, metrics_of, online,
                     reader_tasks, run, start_uncored, stat, stop_uncored, sysctl_paranoid, uncored_pid, wait_until)

MACHINE = "icelake-sp"
READ = "uncore_imc_* {socket} f04 {n}"
CPUMASK = pathlib.Path("/sys/bus/event_source/devices/uncore_imc_0/cpumask")
BOXES = 12
LINE = 64


def count(socket, n):
    control("add " + READ.format(socket=socket, n=n))


def designated():
    """The CPU that stands for socket 1; the kernel does not go back to a CPU that was offline."""
    return int(CPUMASK.read_text().split(",")[1])


class Hotplug(Case):
    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(MACHINE)

    def setUp(self):
        start_uncored()

    def tearDown(self):
        for cpu in (1, 2, 3):
            online(cpu, True)
        stop_uncored()

    def read_bytes(self, act):
        """{socket: object of dram.read}"""
        found = metrics_of(measure(act))
        return {socket: found[socket, "dram.read"] for socket in (0, 1)}

    def assert_whole_or_flagged(self, value, n):
        if value.get("bytes") != n * BOXES * LINE:
            self.assertTrue(value.get("absent") or value.get("quality"), f"{value}, and {n} were counted")

    def assert_exact(self, value, n):
        self.assertEqual(value, {"bytes": n * BOXES * LINE, "quality": []})

    def test_designated_goes(self):
        """counts before and after the designated CPU of a socket goes offline are all there"""
        def act():
            count(1, 1000)
            online(2, False)
            count(1, 500)
        found = self.read_bytes(act)
        self.assert_exact(found[0], 0)
        self.assert_exact(found[1], 1500)

    def test_designated_comes_back(self):
        """counts before and after the designated CPU comes back are all there"""
        online(2, False)

        def act():
            count(1, 1000)
            online(2, True)
            count(1, 500)
        self.assert_exact(self.read_bytes(act)[1], 1500)

    def test_reader_follows(self):
        """the thread that reads goes where the counters went, and stays with them when the CPU comes back"""
        before = designated()
        after = {2: 3, 3: 2}[before]

        def is_on(cpu):
            run("uncore", "stat", "--", "true", user=VISITOR)
            return [os.sched_getaffinity(task) for task in reader_tasks()] == [{0}, {cpu}]
        self.assertTrue(is_on(before))
        online(before, False)
        self.assertEqual(designated(), after)
        wait_until(lambda: is_on(after), "the reader of socket 1 is where its counters are")
        wait_until(lambda: info()["sockets"][1]["cpu"] == after, "`uncore info` says so")
        online(before, True)
        self.assertTrue(is_on(after))
        self.assert_exact(self.read_bytes(lambda: count(1, 99))[1], 99)

    def test_start_without_designated(self):
        """uncored started while the first CPU of a socket is offline counts on the other"""
        stop_uncored()
        online(2, False)
        start_uncored()
        self.assert_exact(self.read_bytes(lambda: count(1, 1234))[1], 1234)

    def test_package_goes(self):
        """when a whole package goes, its value is whole or says that it is not"""
        def act():
            count(1, 1000)
            online(2, False)
            online(3, False)
            count(1, 500)
            count(0, 70)
        found = self.read_bytes(act)
        self.assert_exact(found[0], 70)
        self.assert_whole_or_flagged(found[1], 1500)

    def test_package_comes_back(self):
        """when the package comes back, its value is whole or says that it is not"""
        def act():
            count(1, 1000)
            online(2, False)
            online(3, False)
            online(2, True)
            online(3, True)
            count(1, 500)
        self.assert_whole_or_flagged(self.read_bytes(act)[1], 1500)

    def test_package_is_back(self):
        """after that, once a client has read, uncored counts the whole package again by itself"""
        pid = uncored_pid()
        online(2, False)
        online(3, False)
        online(2, True)
        online(3, True)

        def is_replaced():
            run("uncore", "stat", "--", "true", user=VISITOR, check=False)
            return is_active("uncored.service") and uncored_pid() not in (0, pid)
        wait_until(is_replaced, "uncored was started again")
        self.assert_exact(self.read_bytes(lambda: count(1, 777))[1], 777)

    def test_restart_is_whole(self):
        """an uncored that was stopped and started counts the whole package"""
        online(2, False)
        online(3, False)
        online(2, True)
        online(3, True)
        stop_uncored()
        start_uncored()
        found = metrics_of(stat(["add " + READ.format(socket=1, n=99)]))
        self.assert_exact(found[1, "dram.read"], 99)


CASES = [Hotplug, by_program(Hotplug)]
