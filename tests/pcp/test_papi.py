# SPDX-License-Identifier: BSD-3-Clause
"""Faults as a program with PAPI's pcp component sees them: papi-client makes that component's calls, and ends with a
status of its own where the component would crash, exit or count wrongly."""
import os
import shutil
import signal

from harness import Case, DOMAIN, build_root, n_sockets, run_cases, source_root
from kernel import KernelCount, difference

DISABLED = 3  # status of papi-client: PAPI goes on without this component
PAGES = 25600
METRIC, PAGE_BYTES = "uncore.dram.read", 4096  # of kernel.py, for the event page_faults
FOR_EVER = 1000000
INTERVAL_MS = 10
UP = "perfevent.uncored.up"
BUSY = n_sockets() - 1  # CPU and socket
WHATEVER_HAPPENS_SECONDS = 10


def event_names():
    """PAPI leaves out the name of a single instance."""
    cpus = [f":cpu{cpu}" for cpu in range(n_sockets())] if n_sockets() > 1 else [""]
    names = ("uncore_standin_0.minor_faults", "uncore_standin_0.page_faults",
             "uncored.dram_read", "uncored.dram_write", "uncored.itom")
    return sorted([UP, *(f"perfevent.hwcounters.{name}.value{cpu}" for name in names
                         for cpu in cpus)])


class Reader:
    """A program that reads all events all the time."""

    def __init__(self, pcp):
        self.path = pcp.folder / "log" / f"papi-client-{len(pcp.spawned)}.txt"
        with open(self.path, "w", encoding="utf-8") as output:
            self.process = pcp.spawn("papi-client", "read", FOR_EVER, INTERVAL_MS, stdout=output)

    def lines(self, first_word):
        """Words of all whole lines so far that begin with this word."""
        text = self.path.read_text(encoding="utf-8").rpartition("\n")[0]
        return [line.split() for line in text.splitlines() if line.startswith(first_word + " ")]

    def names(self):
        return [words[1] for words in self.lines("event")]

    def n_good(self):
        return len(self.lines("read"))

    def n_survivable(self):
        return len(self.lines("survivable"))

    def deltas(self):
        """{event: counts since the start}, as of the last good read."""
        return dict(zip(self.names(), map(int, self.lines("read")[-1][2:])))

    def page_faults(self, cpu):
        name = "perfevent.hwcounters.uncore_standin_0.page_faults.value"
        return self.deltas()[f"{name}:cpu{cpu}" if n_sockets() > 1 else name]


class PapiCase(Case):
    def pcp_with(self, agent="pipe", uncored=True, **options):
        pcp = self.new_pcp()
        shutil.copy(build_root() / "tests/pcp/papi-client", pcp.folder / "bin")
        if uncored:
            pcp.start_uncored()
        pcp.start_pmcd(agent=agent, perfevent=True, **options)
        return pcp

    def init(self, pcp, status):
        """Ends as PAPI_library_init would."""
        done = pcp.run("papi-client", "init", check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def reader(self, pcp):
        reader = Reader(pcp)
        self.wait_for_reads(reader)
        return reader

    def wait_for_reads(self, reader, n=5):
        """Waits for n more good reads."""
        enough = reader.n_good() + n
        self.wait_until(lambda: reader.process.poll() is not None or reader.n_good() >= enough,
                        WHATEVER_HAPPENS_SECONDS, f"{n} good reads")
        self.assert_alive(reader)

    def assert_alive(self, reader):
        self.assertIsNone(reader.process.poll(), reader.path.read_text(encoding="utf-8")[-1000:])

    def assert_counts(self, pcp, reader):
        """The reader still counts: the pages of a program that has ended are there."""
        self.wait_for_reads(reader)
        before = reader.page_faults(BUSY)
        pcp.run("touch-pages", PAGES, BUSY)
        self.wait_until(lambda: reader.page_faults(BUSY) >= before + PAGES,
                        WHATEVER_HAPPENS_SECONDS, "the pages are counted")
        self.assert_alive(reader)

    def end(self, reader):
        """Ends the reader; all its reads were good, or PAPI survives them."""
        reader.process.send_signal(signal.SIGTERM)
        self.assertEqual(reader.process.wait(WHATEVER_HAPPENS_SECONDS), 0,
                         reader.path.read_text(encoding="utf-8")[-1000:])


class AtInit(PapiCase):
    def test_events(self):
        """PAPI finds every event once, as a counter of 64 bits with the right unit"""
        for agent in ("pipe", "dso"):
            with self.subTest(agent=agent):
                lines = self.init(self.pcp_with(agent), 0).splitlines()
                events = [line.split()[1] for line in lines if line.startswith("event ")]
                metrics = [line.split()[2:] for line in lines if line.startswith("metric ")]
                self.assertEqual(sorted(events), event_names())
                self.assertEqual(sorted(metrics),
                                 [["U64", "counter", "byte"]] * 3 +
                                 [["U64", "counter", "count"]] * 2 + [["U64", "level"]])
                self.assertFalse([line for line in lines if line.startswith("dropped")])

    def test_uncored_comes_late(self):
        """without uncored PAPI disables the component and goes on; once it runs there are events"""
        for agent in ("pipe", "dso"):
            with self.subTest(agent=agent):
                pcp = self.pcp_with(agent, uncored=False)
                for _ in range(2):
                    self.assertIn("disabled: ", self.init(pcp, DISABLED))
                pcp.start_uncored()
                self.wait_until(lambda: pcp.run("papi-client", "init", check=False).returncode == 0,
                                WHATEVER_HAPPENS_SECONDS, "there are events")

    def test_uncored_away(self):
        """a program started while uncored is away is told so; a running one keeps its names, and an event tells it"""
        for agent in ("pipe", "dso"):
            with self.subTest(agent=agent):
                pcp = self.pcp_with(agent)
                reader = self.reader(pcp)
                self.assertEqual(reader.deltas()[UP], 1)
                pcp.kill_uncored()
                self.wait_until(lambda: reader.deltas()[UP] == 0, WHATEVER_HAPPENS_SECONDS,
                                "the event tells")
                self.assertIn("disabled: ", self.init(pcp, DISABLED))
                self.wait_for_reads(reader)
                pcp.start_uncored()
                self.wait_until(lambda: reader.deltas()[UP] == 1, WHATEVER_HAPPENS_SECONDS,
                                "uncored is back")
                self.init(pcp, 0)
                self.assert_counts(pcp, reader)
                self.end(reader)

    def test_dead_agent(self):
        """a dead agent makes PAPI disable the component, at the first and at every later start"""
        pcp = self.pcp_with()
        os.kill(pcp.pmda_pid(), signal.SIGKILL)
        for _ in range(3):
            self.assertIn("disabled: ", self.init(pcp, DISABLED))


    def test_first_request(self):
        """an agent that pmcd has just started again knows its events by number, without names"""
        pcp = self.new_pcp()
        pcp.start_uncored()
        agent = f"{pcp.folder}/bin/pmdauncore -d {DOMAIN} -l {pcp.folder}/log/uncore.log"
        for request, answer in ((f"desc {DOMAIN}.64.0", "64-bit unsigned int"),
                                (f"instance {DOMAIN}.2", f'"cpu{BUSY}"'),
                                (f"fetch {DOMAIN}.64.0", f"numval: {n_sockets()}")):
            with self.subTest(request=request):
                done = pcp.run("dbpmda", "-n", pcp.folder / "pmdas/uncore/root", "-ie",
                               input=f"open pipe {agent}\n{request}\nquit\n")
                self.assertIn(answer, done.stdout)


class WhileReading(PapiCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernel = KernelCount(n_sockets())
        cls.addClassCleanup(cls.kernel.close)

    def test_truth(self):
        """the counts of pages touched on a CPU lie between the kernel's own, to the last count"""
        for agent in ("pipe", "dso"):
            with self.subTest(agent=agent):
                pcp = self.pcp_with(agent)
                reader = self.reader(pcp)
                toucher = pcp.talk_to("touch-when-told", BUSY)
                toucher.hear()
                first = self.kernel.around(lambda: self.fetch(reader))
                self.assertEqual(toucher.ask(PAGES), "done")
                last = self.kernel.around(lambda: self.fetch(reader))
                self.assert_true(first, last)
                self.end(reader)

    def fetch(self, reader):
        """A read that began after this call: the next read may have begun before it."""
        self.wait_for_reads(reader, 2)
        return {METRIC: [reader.page_faults(cpu) * PAGE_BYTES for cpu in range(n_sockets())]}

    def assert_true(self, first, last):
        for cpu in range(n_sockets()):
            n_bytes, least, most = difference(first, last, METRIC, cpu)
            self.assertTrue(least <= n_bytes <= most, (cpu, least, n_bytes, most))
            if cpu == BUSY:
                self.assertGreaterEqual(n_bytes, PAGES * PAGE_BYTES)

    def test_uncored_dies(self):
        """uncored is killed and started again: no read fails, counts stay, then go on from there"""
        for agent in ("pipe", "dso"):
            with self.subTest(agent=agent):
                pcp = self.pcp_with(agent)
                reader = self.reader(pcp)
                self.assert_counts(pcp, reader)
                pcp.kill_uncored()
                self.wait_for_reads(reader)
                frozen = reader.deltas()
                self.wait_for_reads(reader)
                self.assertEqual(reader.deltas(), frozen)
                pcp.start_uncored()
                self.assert_counts(pcp, reader)
                self.assertEqual(reader.n_survivable(), 0)
                self.end(reader)

    def test_uncored_hangs(self):
        """uncored is stopped for a while: no read fails, and no count is lost"""
        for agent in ("pipe", "dso"):
            with self.subTest(agent=agent):
                pcp = self.pcp_with(agent)
                reader = self.reader(pcp)
                before = reader.page_faults(BUSY)
                pcp.uncored.send_signal(signal.SIGSTOP)
                pcp.run("touch-pages", PAGES, BUSY)
                self.wait_for_reads(reader, 10)
                pcp.uncored.send_signal(signal.SIGCONT)
                self.wait_until(lambda: reader.page_faults(BUSY) >= before + PAGES,
                                WHATEVER_HAPPENS_SECONDS, "the pages are counted")
                self.assertEqual(reader.n_survivable(), 0)
                self.end(reader)

    def test_agent_dies(self):
        """the agent is killed: some reads fail, then the same counts go on in pmcd's new agent"""
        pcp = self.pcp_with(restart_agents=True)
        reader = self.reader(pcp)
        self.assert_counts(pcp, reader)
        killed = pcp.pmda_pid()
        os.kill(killed, signal.SIGKILL)
        self.wait_until(reader.n_survivable, WHATEVER_HAPPENS_SECONDS, "a read fails")
        self.assert_counts(pcp, reader)
        self.assertNotEqual(pcp.pmda_pid(), killed)
        self.assertLess(reader.n_survivable(), 5)
        self.end(reader)

    def assert_agent_is_replaced(self, pcp, reader):
        """Kills the agent; pmcd starts another one."""
        n_survivable = reader.n_survivable()
        killed = pcp.pmda_pid()
        os.kill(killed, signal.SIGKILL)
        self.wait_until(lambda: reader.n_survivable() > n_survivable, WHATEVER_HAPPENS_SECONDS,
                        "a read fails")
        self.wait_for_reads(reader)
        self.assertNotEqual(pcp.pmda_pid(), killed)

    def test_both_die(self):
        """uncored is started anew, and later the agent is: counts go on and never back"""
        pcp = self.pcp_with(restart_agents=True)
        reader = self.reader(pcp)
        self.assert_counts(pcp, reader)
        pcp.kill_uncored()
        pcp.start_uncored()
        self.assert_counts(pcp, reader)
        before = reader.deltas()
        self.assert_agent_is_replaced(pcp, reader)
        for name, count in reader.deltas().items():
            self.assertGreaterEqual(count, before[name], name)
        self.assert_counts(pcp, reader)
        self.end(reader)

    def test_agent_dies_alone(self):
        """the agent is killed while uncored is away: its successor knows the last counts"""
        pcp = self.pcp_with(restart_agents=True)
        reader = self.reader(pcp)
        self.assert_counts(pcp, reader)
        pcp.kill_uncored()
        self.wait_for_reads(reader, 10)
        before = reader.deltas()
        self.assert_agent_is_replaced(pcp, reader)
        self.assertEqual(reader.deltas(), before)
        pcp.start_uncored()
        self.assert_counts(pcp, reader)
        self.end(reader)

    def test_numbers_stay(self):
        """an event keeps its number when a later uncored names the events in another order"""
        pcp = self.pcp_with()
        numbers = pcp.run("pminfo", "-m", "perfevent").stdout
        self.assertEqual(len(numbers.split("PMID")), 7)
        pcp.stop_pmcd()
        pcp.stop_uncored()
        pcp.start_uncored(platforms=self.swapped(pcp))
        pcp.start_pmcd(perfevent=True)
        self.assertEqual(sorted(pcp.run("pminfo", "-m", "perfevent").stdout.splitlines()),
                         sorted(numbers.splitlines()))

    @staticmethod
    def swapped(pcp):
        """A folder with the stand-in's platform file, its first two metrics the other way round."""
        folder = pcp.folder / "platforms"
        folder.mkdir()
        text = (source_root() / "conf/platforms/standin.conf").read_text(encoding="utf-8")
        read, write = text.index("[dram.read]"), text.index("[dram.write]")
        end = text.index("[hbm.read]")
        (folder / "standin.conf").write_text(
            text[:read] + text[write:end] + text[read:write] + text[end:], encoding="utf-8")
        return folder

    def test_pmcd_restarts(self):
        """pmcd is restarted: reads fail for ever, and a program that starts then is fine"""
        pcp = self.pcp_with()
        reader = self.reader(pcp)
        pcp.stop_pmcd()
        pcp.start_pmcd(perfevent=True)
        self.wait_until(lambda: reader.n_survivable() > 10, WHATEVER_HAPPENS_SECONDS, "reads fail")
        n_good = reader.n_good()
        later = self.reader(pcp)
        self.assert_counts(pcp, later)
        self.assertEqual(reader.n_good(), n_good)
        self.end(reader)
        self.end(later)


run_cases()
