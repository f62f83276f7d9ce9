# SPDX-License-Identifier: BSD-3-Clause
"""What a user without privilege sees is what the on-chip controllers posted, times its bytes."""
import json
import time
import unittest

from player import CLOCK_HZ  # noqa: F401

UNITS = 8
READ = [0x448, 0x460, 0x478, 0x490, 0x558, 0x570, 0x588, 0x5a0]  # of mba0 to mba7: events.csv
WRITE = [offset + 8 for offset in READ]
CLOCK = [offset + 16 for offset in READ]
TRANSFER_BYTES = 64
DAEMON = ("/usr/bin/setpriv --reuid uncored --regid uncored --clear-groups --inh-caps +perfmon --ambient-caps +perfmon "
          "--bounding-set -all,+perfmon --no-new-privs uncored --socket /run/uncored/socket")
START_S = 30


def some_counts(base):
    """Another number for each controller: {offset: count}, and the bytes read and written."""
    read = {offset: base + 7 * i * i for i, offset in enumerate(READ)}
    write = {offset: base + 11 * i * i + 5 for i, offset in enumerate(WRITE)}
    return ({**read, **write}, TRANSFER_BYTES * sum(read.values()), TRANSFER_BYTES * sum(write.values()))


class Case(unittest.TestCase):
    """With uncored running as its own user with CAP_PERFMON only."""

    machine = None

    @classmethod
    def setUpClass(cls):
        cls.machine.player.watch_clocks(CLOCK)
        cls.start_uncored()

    @classmethod
    def tearDownClass(cls):
        cls.stop_uncored()

    @classmethod
    def start_uncored(cls):
        run = cls.machine.run
        run("echo 2 >/proc/sys/kernel/perf_event_paranoid")
        run("mkdir -p /run/uncored; chown uncored:uncored /run/uncored; rm -f /run/uncored/*")
        run(f"{DAEMON} >/tmp/uncored.log 2>&1 & echo $! >/tmp/uncored.pid")
        cls.machine.wait_for("grep -q Serving /tmp/uncored.log || ! kill -0 $(cat /tmp/uncored.pid)",
                             "uncored has started", START_S)
        run("grep Serving /tmp/uncored.log || { cat /tmp/uncored.log; false; }")

    @classmethod
    def stop_uncored(cls):
        cls.machine.run("kill $(cat /tmp/uncored.pid)")
        cls.machine.wait_for("! kill -0 $(cat /tmp/uncored.pid)", "uncored has ended")

    def visitor(self, command, **options):
        return self.machine.run(f"su visitor -s /bin/sh -c '{command}'", **options)

    def stat(self, act):
        """What `uncore stat` shows a visitor whose command runs while something is done here."""
        self.machine.run("rm -f /tmp/begun /tmp/go /tmp/stat.json")
        self.machine.run('su visitor -s /bin/sh -c "uncore stat --json -o /tmp/stat.json -- sh -c '
                         "'touch /tmp/begun; until [ -e /tmp/go ]; do usleep 5000; done'\" & "
                         "echo $! >/tmp/stat.pid")
        self.machine.wait_for("[ -e /tmp/begun ]", "the visitor's command runs")
        act()
        self.machine.run("touch /tmp/go")
        self.machine.wait_for("! kill -0 $(cat /tmp/stat.pid)", "uncore stat has ended")
        report = json.loads(self.machine.run("cat /tmp/stat.json"))
        return {(socket["socket"], name): value for socket in report["sockets"]
                for name, value in socket["metrics"].items()}


class Counts(Case):
    def test_platform(self):
        """uncored knows the machine by itself, and both of its chips"""
        said = self.visitor("uncore info")
        self.assertIn("platform power9 ", said)
        self.assertIn("nest_mba7_imc on CPU 2", said)

    def test_exact(self):
        """`uncore stat` shows a user every count of every controller, times its bytes, on its socket"""
        first, first_read, first_write = some_counts(1000)
        second, second_read, second_write = some_counts(500000)

        def act():
            self.machine.player.count(0, first)
            self.machine.player.count(1, second)
        found = self.stat(act)
        self.assertEqual(found[0, "dram.read"], {"bytes": first_read, "quality": ["uncalibrated"]})
        self.assertEqual(found[0, "dram.write"], {"bytes": first_write, "quality": ["uncalibrated"]})
        self.assertEqual(found[1, "dram.read"], {"bytes": second_read, "quality": ["uncalibrated"]})
        self.assertEqual(found[1, "dram.write"], {"bytes": second_write, "quality": ["uncalibrated"]})


SUITES = {"counts": [Counts]}
