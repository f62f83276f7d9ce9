# SPDX-License-Identifier: BSD-3-Clause
"""main.py FOLDER: boots the POWER9 guest with PAPI (make.sh), and compares PAPI's counts, by the names of the paper's
Table I, with those of libuncore and `perf stat`. All read the kernel's own nest driver. TAP on stdout.

What the counters count is posted from here, or simulated: nothing is memory traffic of a machine.
"""
import json
import os
import pathlib
import re
import signal
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "guests/power9"), str(TESTS / "guests"), str(TESTS / "harness")]

import simulation  # noqa: E402
import tap  # noqa: E402
from case import CLOCK, READ, WRITE, Case  # noqa: E402
from machine import Machine  # noqa: E402
from qemu import console_end, end_by_signal  # noqa: E402
from three_ways import Channel, Comparison, Measured, Reading, papi_name, values_of_perf  # noqa: E402

LIMIT_S, START_S, WORK_S = 900, 60, 300
CPUS = (0, 2)  # the first of each chip
WAYS = ["libuncore", "perf", "PAPI", "libuncore"]  # perf is `perf stat`
STEADY_S = 5
STEADY_MOST, STEADY_TRIES = 0.02, 5  # at least once, no number may be off by more than this
ROWS, PASSES = 1280, 8  # of the paper's GEMV, where it caps the matrix
READ_BYTES = 8 * (ROWS * ROWS + 2 * ROWS) * (PASSES + 1)  # a pass comes before those that it counts itself
GEMV = f"/papi/bin/run-kernel --rows {ROWS} --columns {ROWS} --n {ROWS} --sets 1 --passes {PASSES} gemv"
LIST = 'su visitor -s /bin/sh -c ". /papi/environment; /papi/bin/papi_native_avail -i nest_mba"'
WAIT_FOR_GO = "touch /tmp/begun; until [ -e /tmp/go ]; do usleep 5000; done"


def name(n, what, cpu):
    return papi_name(Channel("", 0, f"nest_mba{n}_imc", f"PM_MBA{n}_{what}_BYTES", cpu, 64))


def reading_of(channels, said):
    """PAPI's values have one more, which says that uncored is there."""
    values = said["values"]
    if "sweeps" in said:
        values = [n_bytes // channel.bytes for channel, n_bytes in zip(channels, values)]
    return Reading(values[:len(channels)], said["began_ns"], said["ended_ns"], said.get("sweeps", ()))


def readings_of(channels, said):
    """perf was switched at some time between the readings before and after."""
    readings = [way != "perf" and reading_of(channels, json.loads(text)) for way, text in said]
    return [reading or Reading([], before.ended_ns, after.began_ns)
            for before, reading, after in zip([None, *readings], readings, [*readings[1:], None])]


def measured(channels, ways, perf, step_ns):
    """ways: (name, first reading, last reading)"""
    for way, first, last in ways:
        counts = [b - a for a, b in zip(first.counts, last.counts)]
        if way == "perf":
            counts = [round(perf[str(channel.cpu), f"{channel.pmu}/{channel.event}/"]) for channel in channels]
        yield Measured(way, counts, first, last, [first.took_ns(), last.took_ns()], step_ns)


def comparison_of(text, step_ns):
    """Of the output of inside/three-ways."""
    lines = [line.partition(" ")[::2] for line in text.splitlines()]
    channels = [Channel(**channel) for channel in json.loads(dict(lines)["channels"])]
    perf = values_of_perf("\n".join(said for word, said in lines if word == "report"))
    said = [line for line in lines if line[0] in WAYS]
    if [way for way, _ in said] != WAYS + WAYS[::-1]:
        raise AssertionError(text)
    readings = readings_of(channels, said)
    return Comparison(channels, list(measured(channels, zip(WAYS, readings, reversed(readings)), perf, step_ns)))


class PapiCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.machine.run("su visitor -s /bin/sh -c /papi/start-pmcd & echo $! >/tmp/pmcd.pid")
        cls.machine.wait_for(f"{LIST} | grep -q nest_mba0", "PAPI has names", START_S)

    @classmethod
    def tearDownClass(cls):
        cls.machine.run("kill $(pidof pmcd)")
        super().tearDownClass()

    def compare(self, command, act=lambda: None, seconds=WORK_S):
        """The comparison of counts while a command runs in the guest, and act() does something here."""
        self.machine.run("rm -f /tmp/begun /tmp/go")
        self.player.take_longest_gaps()
        self.machine.run(f"/papi/three-ways '{command}' >/tmp/three-ways 2>&1 & echo $! >/tmp/three-ways.pid")
        if command == WAIT_FOR_GO:
            self.machine.wait_for("[ -e /tmp/begun ]", "the channels were read", seconds)
        act()
        self.machine.run("touch /tmp/go")
        self.machine.wait_for("! kill -0 $(cat /tmp/three-ways.pid)", "three-ways has ended", seconds)
        step_ns = round(max(self.player.take_longest_gaps()) * 1e9)
        found = comparison_of(self.machine.run("cat /tmp/three-ways"), step_ns)
        self.assertEqual(list(found.wrong_counts()), [])
        return found

    @staticmethod
    def show(comparison, judge, rows):
        print("#", *comparison.lines(judge, rows), sep="\n# ")


class Posted(PapiCase):
    def test_names(self):
        """PAPI lists the events of the paper's Table I, for both chips"""
        said = self.machine.run(LIST)
        self.assertEqual(sorted(re.findall(r"^\| (pcp:::\S+)", said, re.M)),
                         sorted(name(n, what, cpu) for n in range(8) for what in ("READ", "WRITE") for cpu in CPUS))

    def test_exact(self):
        """libuncore, PAPI and perf stat count exactly what was posted, on every channel"""
        counts = [{offset: chip * 100000 + 7 * i * i + 1000 for i, offset in enumerate(READ + WRITE)}
                  for chip in range(2)]

        def act():
            for chip, of_chip in enumerate(counts):
                self.player.count(chip, of_chip)
        found = self.compare(WAIT_FOR_GO, act)
        posted = [counts[channel.socket][{"dram.read": READ, "dram.write": WRITE}[channel.metric][int(channel.pmu[8])]]
                  for channel in found.channels]
        for way in found.ways:
            self.assertEqual(way.counts, posted, way.name)

    def test_steady(self):
        """steady traffic by the same: the same bytes a second, within the stated errors and the counters' steps"""
        self.player.watch_clocks(CLOCK + READ + WRITE)
        self.addCleanup(self.player.watch_clocks, CLOCK)
        for _ in range(STEADY_TRIES):
            found = self.compare(WAIT_FOR_GO, lambda: time.sleep(STEADY_S))
            self.show(found, Comparison.by_time, [(0, "dram.read"), (1, "dram.write")])
            self.assertEqual(list(found.wrong_rates()), [])
            if found.uncertainty(Comparison.by_time, 0, "dram.read") < STEADY_MOST:
                return
        self.fail("the counters were never posted in time")


class Simulated(PapiCase):
    def test_gemv(self):
        """the paper's GEMV on simulated caches: each counted between what libuncore counted around it, and its model"""
        self.machine.simulation.run(True)
        simulation.connect(self.player, self.machine.simulation, simulation.right_wires())
        try:
            found = self.compare(f'su visitor -s /bin/sh -c "taskset 1 {GEMV}"')
        finally:
            simulation.connect(self.player, self.machine.simulation, ())
            self.machine.simulation.run(False)
        self.show(found, Comparison.by_counts, [(0, "dram.read")])
        for way in found.ways:
            self.assertGreaterEqual(found.bytes_of(way, 0, "dram.read"), READ_BYTES)


def end_late(machine):
    def end(*_):
        machine.stop()
        print(f"# The cases have not ended within {LIMIT_S} s.", flush=True)
        os._exit(1)
    return end


def main():
    machine = Machine(pathlib.Path(sys.argv[1]))
    signal.signal(signal.SIGALRM, end_late(machine))
    signal.alarm(LIMIT_S)
    try:
        machine.wait_for_boot()
        Case.machine = machine
        tap.run([Posted, Simulated], lambda: ["the console:", "\n".join(console_end(machine.console))])
    finally:
        machine.stop()


signal.signal(signal.SIGTERM, end_by_signal)
main()
