# SPDX-License-Identifier: BSD-3-Clause
"""PAPI itself, with its component pcp, beside libuncore and `perf stat` of root: the same memory controllers, read at
the same moments, while traffic is steady and while a kernel runs on simulated caches. Then one program on these caches,
as three of PAPI's components see it. PAPI's user has no privilege."""
import pathlib
import re
import subprocess
import time

from harness import HERE, VISITOR, Case, control, identity, run, sysctl_paranoid, wait_until
from talk import Talk
from three_ways import UP, Comparison, Papi, PerfStat, Uncore, compare, papi_name
from timeline import EVENTS, FILLED_BYTES, ROWS, check_phases, rows_of
from wiring import boxes_of, calm_down, cpus_near, machine_name, say, simulate, start_machine

PAPI = HERE / "papi"
LIBRARY = PAPI / "lib/libpcp.so"  # PAPI loads PCP's library by this name, which a package for developers has
SETTLE_S = 60
PAPI_S = 300
RATE = 1_000_000  # lines of every box a second
STEADY_S = 5
LINE = 64
READINGS = 50     # for the time of one
STEADY_MOST, KERNEL_MOST = 0.05, 0.2  # at least once, no number may be off by more than this
TRIES = 3
UPDATE = 1 << 21  # elements; 16 MiB, and the simulated cache has 1
PASSES = 4
MATRIX_BYTES = ROWS * ROWS * 8  # of papi-timeline
# {phase: (bytes read, bytes written, by how much both may be off)}. The simulated cache has 1/32 of a matrix: by so
# much a step's writes may be the next one's. The kernel's own traffic comes on top, and there is more of it where it
# frees and finds pages.
TRAFFIC = {"fill": (0, FILLED_BYTES, 0.2 * FILLED_BYTES), "transform": (0, 0, 0.05 * MATRIX_BYTES),
           "resort": (2 * MATRIX_BYTES, MATRIX_BYTES, 0.05 * MATRIX_BYTES), "exchange": (0, 0, 0.05 * MATRIX_BYTES)}
TIMELINE = pathlib.Path("/tmp/timeline.csv")
READ, WRITE = "dram.read", "dram.write"


def papi(program, *words, **options):
    """Runs a program with PAPI's libraries, as a user without privilege."""
    return run("env", f"LD_LIBRARY_PATH={PAPI / 'lib'}", PAPI / "bin" / program, *words, user=VISITOR,
               seconds=PAPI_S, **options)


class Program(Talk):
    """A program of the visitor's that answers lines."""

    def __init__(self, *words):
        super().__init__(subprocess.Popen(
            ["env", f"LD_LIBRARY_PATH={PAPI / 'lib'}", *words], cwd="/", text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, **identity(VISITOR)))

    def end(self):
        self.process.stdin.close()
        self.process.wait(SETTLE_S)
        self.process.stdout.close()


class PapiCase(Case):
    about = f"{machine_name()}: "


class Begin(PapiCase):
    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        calm_down()
        start_machine()
        run("systemctl", "start", "pmcd")
        run("./Install", "--perfevent-names", cwd="/var/lib/pcp/pmdas/uncore")

    def test_no_library(self):
        """where only PCP's package is installed, PAPI says that it does not find libpcp.so"""
        self.assertIn("libpcp.so not found.", papi("papi_component_avail").stdout)

    def test_events(self):
        """with that name for it, PAPI lists both events of every memory controller on both sockets"""
        LIBRARY.symlink_to("/usr/lib/libpcp.so.3")
        names = set()

        def are_there():
            names.update(re.findall(r"^\| (pcp:::\S+)", papi("papi_native_avail", "-i", "pcp:::").stdout, re.M))
            return names
        wait_until(are_there, "events of component pcp", SETTLE_S)
        for socket in (0, 1):
            for metric, event in ((READ, "cas_count_read"), (WRITE, "cas_count_write")):
                for pmu, _ in boxes_of(metric, socket):
                    self.assertIn(f"pcp:::perfevent.hwcounters.{pmu}.{event}.value:cpu{2 * socket}", names)


class ThreeWays(PapiCase):
    @classmethod
    def setUpClass(cls):
        cls.uncore = Uncore(cls.program(HERE / "uncore-reader"))
        cls.papi = Papi(cls.program(PAPI / "bin/papi-reader", *map(papi_name, cls.uncore.channels), UP))
        for way in (cls.uncore, cls.papi):
            way.read_often(READINGS)

    @classmethod
    def program(cls, *words):
        program = Program(*words)
        cls.addClassCleanup(program.end)
        return program

    def perf(self):
        perf = PerfStat(self.uncore.channels, pathlib.Path("/tmp"))
        self.addCleanup(perf.close)
        return perf

    def comparisons(self, work, judge, rows, most):
        """Yields comparisons, which must all be right, until one says enough."""
        for _ in range(TRIES):
            ways = [("libuncore", self.uncore), ("perf stat", self.perf()), ("PAPI", self.papi),
                    ("libuncore", self.uncore)]
            comparison = compare(self.uncore.channels, ways, work)
            self.assertEqual(list(comparison.wrong_counts()), [])
            for line in comparison.lines(judge, rows):
                say(line)
            yield comparison
            if all(comparison.uncertainty(judge, *row) < most for row in rows):
                return
        self.fail(f"each time a number might be off by more than {100 * most:.0f} %")

    def rate(self, n):
        control(*(f"rate {pmu} {socket} {config:x} {n}" for socket in (0, 1) for metric in (READ, WRITE)
                  for pmu, config in boxes_of(metric, socket)))

    def test_steady(self):
        """steady traffic by libuncore, PAPI and perf stat: the same bytes a second, within the stated errors"""
        rows = [(socket, metric) for socket in (0, 1) for metric in (READ, WRITE)]
        self.perf().read_often(READINGS)
        self.rate(RATE)
        try:
            for comparison in self.comparisons(lambda: time.sleep(STEADY_S), Comparison.by_time, rows, STEADY_MOST):
                self.assertEqual(list(comparison.wrong_rates()), [])
        finally:
            self.rate(0)
        for socket, metric in rows:
            least = len(boxes_of(metric, socket)) * RATE * STEADY_S * LINE
            for way in comparison.ways:
                self.assertGreaterEqual(comparison.bytes_of(way, socket, metric), least)

    def test_kernel(self):
        """a kernel on simulated caches by the same: what each counted is between what libuncore counted around it"""
        cpu = cpus_near(0)[0]
        simulate(True)
        try:
            *_, comparison = self.comparisons(
                lambda: run("taskset", "-c", cpu, HERE / "kernel", "update", f"number={UPDATE}", f"passes={PASSES}",
                            user=VISITOR), Comparison.by_counts, [(0, READ), (0, WRITE)], KERNEL_MOST)
        finally:
            simulate(False)
        for metric in (READ, WRITE):
            for way in comparison.ways:
                self.assertGreaterEqual(comparison.bytes_of(way, 0, metric), PASSES * UPDATE * 8)


class Tool(PapiCase):
    def test_three_ways(self):
        """three-ways shows all four of every memory controller's socket, and finds nothing wrong"""
        said = run("env", f"PYTHONPATH={HERE}", f"LD_LIBRARY_PATH={PAPI / 'lib'}", PAPI / "bin/three-ways",
                   "--readings", READINGS, HERE / "uncore-reader", PAPI / "bin/papi-reader", "sleep", 1).stdout
        for socket in (0, 1):
            for metric in (READ, WRITE):
                for way in ("libuncore", "PAPI pcp", "PAPI uncored", "perf stat"):
                    self.assertRegex(said, rf"(?m)^ +{socket} {metric} +{way} +\d+ ")


class Timeline(PapiCase):
    memory = {kind: [f"pcp:::perfevent.hwcounters.uncored.dram_{kind}.value:cpu0"] for kind in ("read", "write")}

    @classmethod
    def setUpClass(cls):
        simulate(True)
        try:
            TIMELINE.write_text(papi("papi-timeline", cpus_near(0)[0], ROWS, *sum(cls.memory.values(), []),
                                     *EVENTS).stdout)
        finally:
            simulate(False)
        for line in run(PAPI / "bin/papi-report", TIMELINE).stdout.splitlines():
            say(line)
        cls.rows = list(rows_of(TIMELINE.read_text(), cls.memory))

    def test_phases(self):
        """by the events of three components, pcp, io and sde, one program sees its phases and their order"""
        check_phases(self, self.rows, lambda row: row["read"] <= row["write"])

    def test_traffic(self):
        """each phase has the memory traffic that its loops say: sorting anew reads two lines for each that it writes"""
        for i, row in enumerate(self.rows):
            read, write, most = TRAFFIC[row["phase"]]
            with self.subTest(step=i, **row):
                self.assertAlmostEqual(row["read"], read, delta=most)
                self.assertAlmostEqual(row["write"], write, delta=most)


class Absent(Case):
    why = "PAPI was not there when this guest was made: `./dev papi` makes it"

    def test_papi(self):
        """PAPI reads what libuncore reads"""
        self.skipTest(self.why)


class Elsewhere(Absent):
    why = "these cases know the names of an Ice Lake SP's events"


def cases():
    if not PAPI.exists():
        return [Absent]
    return [Begin, ThreeWays, Tool, Timeline] if machine_name() == "icelake-sp" else [Elsewhere]


CASES = cases()
