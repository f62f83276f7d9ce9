# SPDX-License-Identifier: BSD-3-Clause
"""What the suites share: uncored as a service in the guest, and what a user without privilege sees there."""
import json
import unittest

# The offsets at which the controllers post, and the worth of a count: power9's rows of tests/machines/events.csv.
READ = [0x448, 0x460, 0x478, 0x490, 0x558, 0x570, 0x588, 0x5a0]  # of nest_mba0 to nest_mba7
WRITE = [offset + 8 for offset in READ]
CLOCK = [offset + 16 for offset in READ]
TRANSFER_BYTES = 64
CHECK_READ = [0xd0, 0xf0, 0x50, 0x70]  # of nest_mcs01 and nest_mcs23, two ports each
CHECK_WRITE = [offset + 8 for offset in CHECK_READ]
CHECK_BYTES = 16384

AS_SERVICE = ("/usr/bin/setpriv --reuid uncored --regid uncored --clear-groups --inh-caps {0} --ambient-caps {0} "
              "--bounding-set -all,{0} --no-new-privs")
# The budget is in elapsed time. When the computer below stops an emulated CPU within a sweep, the reader would be
# charged for that time.
CONFIG = "[reader]\\nbudget_percent = 100\\nburst_ms = 10000\\n"
START_S = 30
LATE_S = 0.015    # after such a gap between two posts, a clock may seem to stand
EXACT = ["uncalibrated"]  # nothing else is wrong with a value


class Case(unittest.TestCase):
    """While uncored runs as its own user, with CAP_PERFMON only unless told."""

    capabilities = "+perfmon"
    machine = None  # set before the cases run

    @property
    def player(self):
        return self.machine.player

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
        run("mkdir -p /etc/uncored /run/uncored; chown uncored:uncored /run/uncored; rm -f /run/uncored/*")
        run(f"printf '{CONFIG}' >/etc/uncored/uncored.conf")
        run(f"{AS_SERVICE.format(cls.capabilities)} uncored --socket /run/uncored/socket >/tmp/uncored.log 2>&1 & "
            "echo $! >/tmp/uncored.pid")
        cls.machine.wait_for("grep -q Serving /tmp/uncored.log || ! kill -0 $(cat /tmp/uncored.pid)",
                             "uncored has started", START_S)
        run("grep Serving /tmp/uncored.log || { cat /tmp/uncored.log; false; }")
        # Where the emulator gets little of a busy computer, the first answers take longer than a client waits.
        cls.machine.wait_for("uncore info --quiet || [ $? = 3 ]", "uncored answers", START_S)

    @classmethod
    def stop_uncored(cls):
        cls.machine.run("kill $(cat /tmp/uncored.pid)")
        cls.machine.wait_for("! kill -0 $(cat /tmp/uncored.pid)", "uncored has ended")

    def restart_uncored(self):
        self.stop_uncored()
        self.start_uncored()

    def as_visitor(self, command):
        return self.machine.run(f"su visitor -s /bin/sh -c '{command}'")

    def stat(self, act, options=""):
        """The report of `uncore stat` of a visitor, whose command runs while act() does something here."""
        self.machine.run("rm -f /tmp/begun /tmp/go /tmp/stat.json")
        self.machine.run(f'su visitor -s /bin/sh -c "uncore stat --json {options} -o /tmp/stat.json -- sh -c '
                         "'touch /tmp/begun; until [ -e /tmp/go ]; do usleep 5000; done'\" & "
                         "echo $! >/tmp/stat.pid")
        self.machine.wait_for("[ -e /tmp/begun ]", "the visitor's command runs")
        act()
        self.machine.run("touch /tmp/go")
        self.machine.wait_for("! kill -0 $(cat /tmp/stat.pid)", "uncore stat has ended")
        self.gaps_s = self.player.take_longest_gaps()
        return self.machine.run("cat /tmp/stat.json")

    def measure(self, act):
        """{(socket, metric): object}"""
        return metrics_of(json.loads(self.stat(act)))

    def count(self, chip, n):
        """Counts n reads in every controller of a chip."""
        self.player.count(chip, dict.fromkeys(READ, n))

    def quality_of(self, chip, value):
        """The flags of a value. On a busy computer the player is late at times; then "frozen" is true, and left out
        here."""
        late = self.gaps_s[chip] > LATE_S
        return [word for word in value["quality"] if not (late and word == "frozen")]

    def assert_exact(self, found, chip, n):
        value = found[chip, "dram.read"]
        self.assertEqual(value.get("bytes"), n * len(READ) * TRANSFER_BYTES, value)
        self.assertEqual(self.quality_of(chip, value), EXACT)

    def assert_whole_or_flagged(self, value, n):
        if value.get("bytes") != n * len(READ) * TRANSFER_BYTES:
            self.assertTrue(value.get("absent") or set(value["quality"]) - set(EXACT),
                            f"{value}, and {n} were counted")

    def online(self, cpu, yes):
        self.machine.run(f"echo {int(yes)} >/sys/devices/system/cpu/cpu{cpu}/online")

    def cpumask(self):
        return self.machine.run("cat /sys/bus/event_source/devices/nest_mba0_imc/cpumask").strip()


def by_program(case):
    """The same cases, where a program in the kernel reads the controllers."""
    class ByProgram(case):
        title = f"{case.title}bpf: "
        capabilities = "+perfmon,+bpf"

        def test_program(self):
            """all controllers of a chip are read by the program"""
            self.measure(lambda: None)
            for socket in json.loads(self.as_visitor("uncore info --json"))["sockets"]:
                self.assertEqual([socket["method"]["name"], socket["method"]["by_program"]], ["bpf", len(socket["boxes"])])
    return ByProgram


def metrics_of(report):
    return {(socket["socket"], name): value for socket in report["sockets"]
            for name, value in socket["metrics"].items()}
