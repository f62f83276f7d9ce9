# SPDX-License-Identifier: BSD-3-Clause
"""The files of conf/pcp, read and used by the tools that they are for.

The files lie in a private copy of PCP's folders, as they are installed, and the tools find them
there by themselves: PCP_SYSCONF_DIR and PCP_VAR_DIR say where.
"""
import csv
import re
import shutil
import subprocess
import time

from harness import Case, n_sockets, pcp_file, run_cases, source_root
from kernel import KernelCount
from processes import end

PAGES = 102400
TRUTH_GB = PAGES * 4096 / 1e9
METRIC = "uncore.dram.read"
ATTEMPTS = 8
ROUNDING_GB = TRUTH_GB / 10  # of the tools, which print few digits
CLOCK = "%s.%f"  # seconds, as time.time() counts them
RULES = ["counters_frozen", "counters_shared", "daemon_gone"]
LINKED = ("pmlogconf", "pmieconf")  # folders that PCP looks for in PCP_VAR_DIR
SETS = {  # headings of the columns of pmrep's sets, and the columns that have no values here
    "mem": (["read GB/s", "write GB/s", "quality"], []),
    "hbm": (["hbm rd GB/s", "hbm wr GB/s"], ["hbm rd GB/s", "hbm wr GB/s"]),
    "pmm": (["pmm rd GB/s", "pmm wr GB/s"], ["pmm rd GB/s", "pmm wr GB/s"]),
    "itom": (["itom GB/s", "specitom GB/s", "write GB/s"], ["specitom GB/s"]),
}
# Sections that flag values of a stand-in machine, so that pmie complains: a clock that stands still (instructions that the
# kernel emulates, of which there are none), and a difference below zero.
FLAGGED = {
    "counters_frozen": ("[dram.write]", """[dram.write]
clock = raw:event=0x8
clock_ms = 1"""),
    "counters_shared": ("[specitom]", """[itom/minor]
pmu = uncore_standin_[0-9]*
event = sysfs:minor_faults
bytes = 1
subtract = yes

[specitom]"""),
}


def install(folder):
    """Lays out conf/pcp below folder. Returns the environment in which tools look there."""
    etc, var = folder / "etc", folder / "var"
    shutil.copytree(source_root() / "conf/pcp", etc)
    for name in LINKED:
        group = var / "config" / name / "uncore"
        group.mkdir(parents=True)
        for path in (etc / name / "uncore").iterdir():
            (group / path.name).symlink_to(path)
    stock_actions = pcp_file("PCP_SYSCONF_DIR", "pmieconf/global")
    (var / "config/pmieconf/global").symlink_to(stock_actions)
    for path in [etc, var, *etc.rglob("*"), *var.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    return {"PCP_SYSCONF_DIR": str(etc), "PCP_VAR_DIR": str(var)}


def number(word):
    """A cell of pmrep: a number, or None where there is no value."""
    return None if word == "N/A" else float(word)


class Configured(Case):
    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.env = install(cls.pcp.folder)
        cls.pcp.start_uncored()
        cls.pcp.start_pmcd()
        cls.workers = [cls.pcp.talk_to("touch-when-told", cpu) for cpu in range(n_sockets())]
        for worker in cls.workers:
            worker.hear()
        cls.kernel = KernelCount(n_sockets())
        cls.addClassCleanup(cls.kernel.close)
        cls.started = cls.kernel.read()[METRIC]

    def tool(self, *argv, **options):
        return self.pcp.run(*argv, env=self.env, **options)

    def pipe_from(self, *argv):
        """The lines of a tool that runs on."""
        return self.pcp.spawn(*argv, env={**self.env, "PYTHONUNBUFFERED": "1"},
                              stdout=subprocess.PIPE, text=True).stdout

    def work(self, socket):
        self.assertEqual(self.workers[socket].ask(PAGES), "done")

    def each_socket(self, measure, least=0.7):
        """measure(socket) returns how many GB were touched by socket, the work among them, or None
        if a reading came too late. Others touch pages, too, and the kernel counts all of them."""
        for socket in range(n_sockets()):
            with self.subTest(socket=socket):
                self.assertTrue(any(self.is_true(measure, socket, least) for _ in range(ATTEMPTS)),
                                f"{self.seen} GB, at least {least * TRUTH_GB} of them on this socket "
                                f"and at most {self.most}")

    def is_true(self, measure, socket, least):
        """The fetch of a tool's first line may be older than this attempt, but not older than the attempt before."""
        earlier, self.started = self.started, self.kernel.read()[METRIC]
        self.seen = measure(socket)
        self.most = [(now - then) / 1e9 for now, then in zip(self.kernel.read()[METRIC], earlier)]
        return self.seen is not None and self.seen[socket] >= least * TRUTH_GB and all(
            seen <= most + ROUNDING_GB for seen, most in zip(self.seen, self.most))


class Pmrep(Configured):
    def columns(self, lines):
        """The heading of pmrep, as (label, instance) by column."""
        labels, instances = next(lines), next(lines)
        ends = [match.end() for match in re.finditer(r"\S+", instances)]
        begins = [len("00:00:00")] + ends
        return [(labels[begin:stop].strip(), instances[begin:stop].strip())
                for begin, stop in zip(begins, ends)]

    def expected_columns(self, labels):
        return [(label, f"socket{i}") for label in labels for i in range(n_sockets())]

    def test_names(self):
        """every metric that a file names exists"""
        texts = [path.read_text(encoding="utf-8") for path in self.pcp.folder.glob("etc/**/*")
                 if path.is_file() and path.name != "meson.build"]
        words = {word for text in texts for line in text.splitlines()
                 if not line.startswith(("#", "rule")) for word in re.findall(
                     r"(?<!-)\buncore(?:\.[a-z_]+)+", line)}
        self.assertGreater(len(words), 20)
        self.tool("pminfo", *sorted(words))

    def test_sets(self):
        """pmrep's sets have a column for each socket, and no value where the machine has none"""
        for name, (labels, absent) in SETS.items():
            with self.subTest(set=name):
                lines = iter(self.tool("pmrep", "-s", "2", "-t", "0.2",
                                       f":uncore-{name}").stdout.splitlines())
                columns = self.columns(lines)
                self.assertEqual(columns, self.expected_columns(labels))
                cells = dict(zip(columns, map(number, list(lines)[1].split()[1:])))
                self.assertEqual({label for (label, _), cell in cells.items() if cell is None},
                                 set(absent))

    def test_all_sets(self):
        """all sets of pmrep together are one report"""
        out = self.tool("pmrep", "-s", "2", "-t", "0.2", *(f":uncore-{name}" for name in SETS))
        self.assertEqual(len(out.stdout.splitlines()), 4, out.stdout)

    def test_channels(self):
        """pmrep :uncore-channels has a row for each channel, with its whole name"""
        text = self.tool("pmrep", "-s", "2", "-t", "0.2", ":uncore-channels").stdout
        heading, *rows = [line.split(maxsplit=1) for line in text.splitlines()]
        self.assertEqual(heading, ["channel", "read GB/s  write GB/s"])
        last = {name: [number(cell) for cell in cells] for _, row in rows[-n_sockets():]
                for name, *cells in [row.split()]}
        self.assertEqual(sorted(last), [f"socket{i}/standin0" for i in range(n_sockets())])
        self.assertTrue(all(len(cells) == 2 and None not in cells for cells in last.values()))

    def test_quality(self):
        """pmrep :uncore-quality has a row for each socket, with times in microseconds"""
        text = self.tool("pmrep", "-s", "2", "-t", "0.2", ":uncore-quality").stdout
        heading, *rows = text.splitlines()
        self.assertEqual(heading.split(), "socket estimated partial frozen reset age us skew us "
                         "sweeps/s".split())
        for i, row in enumerate(rows[-n_sockets():]):
            _, socket, *flagged, age, skew, sweeps = row.split()
            self.assertEqual([socket, *flagged], [f"socket{i}", "0", "0", "0", "0"])
            self.assertLess(float(age), 100000)  # else the unit would be nanoseconds, or seconds
            self.assertTrue(0.01 < float(skew) < 100000, skew)
            self.assertGreater(float(sweeps), 0)

    def test_daemon(self):
        """pmrep :uncore-daemon shows what uncored does"""
        text = self.tool("pmrep", "-s", "2", "-t", "0.2", ":uncore-daemon").stdout
        heading, *rows = text.splitlines()
        self.assertEqual(
            heading.split(), "up clients sweeps/s held/s refused/s cpu ms/s".split())
        _, is_up, clients, sweeps, held, refused, cpu_ms = rows[-1].split()
        self.assertEqual((is_up, float(refused)), ("1", 0))
        self.assertGreaterEqual(int(clients), 1)
        self.assertGreater(float(sweeps), 0)
        self.assertGreaterEqual(float(held), 0)
        self.assertLess(float(cpu_ms), 1000 * n_sockets())

    def rates(self, lines):
        """The rows of pmrep: (time, dram.read in GB/s by socket). It repeats its heading after 24 rows or so."""
        for line in lines:
            if line[:1].isdigit():
                when, *cells = line.split()
                yield float(when), [number(cell) for cell in cells[:n_sockets()]]

    def test_rates(self):
        """pmrep :uncore-mem shows pages that were touched, in GB/s of 10^9 bytes"""
        lines = self.pipe_from("pmrep", "-f", CLOCK, "-t", "0.25", ":uncore-mem")
        rows = self.rates(lines)
        before = next(rows)

        def measure(socket):
            nonlocal before
            self.work(socket)
            done = time.time()
            n_gb, late = [0.0] * n_sockets(), False
            while before[0] <= done:  # pmrep prints a line some time after its fetch
                row = next(rows)
                step, late = row[0] - before[0], late or None in row[1]
                n_gb = [sum_gb + (rate or 0) * step for sum_gb, rate in zip(n_gb, row[1])]
                before = row
            return None if late else n_gb

        self.each_socket(measure, least=0.98)  # 0.93 would mean GB of 2^30 bytes


class Dstat(Configured):
    def test_rates(self):
        """pcp dstat --uncore shows pages that were touched, on their socket"""
        lines = self.pipe_from("pcp", "dstat", "--nocolor", "--noheaders", "--uncore", "1")
        heading = [next(lines), next(lines)]
        self.assertEqual(heading[0].replace("-", " ").split(), [f"socket{i}" for i in range(n_sockets())])
        self.assertEqual(heading[1].replace(":", " ").split(), ["mread", "mwrit"] * n_sockets())
        next(lines)

        def measure(socket):
            self.work(socket)
            n_gb = [0.0] * n_sockets()
            for _ in range(2):  # a second each, more or less
                reads = next(lines).replace(":", " ").split()[::2]
                n_gb = [sum_gb + self.gb(word) for sum_gb, word in zip(n_gb, reads)]
            return n_gb

        self.each_socket(measure)

    @staticmethod
    def gb(word):
        unit = {"B": 1, "k": 2**10, "M": 2**20, "G": 2**30}.get(word[-1])
        return float(word[:-1]) * unit / 1e9 if unit else float(word) / 1e9


class Away(Configured):
    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.env = install(cls.pcp.folder)
        cls.pcp.start_pmcd()

    def test_reports(self):
        """while uncored is away, pmrep's sets say N/A and do not fail"""
        for name in [*SETS, "channels", "quality"]:
            with self.subTest(set=name):
                out = self.tool("pmrep", "-s", "2", "-t", "0.2", f":uncore-{name}").stdout
                cells = [cell for line in out.splitlines()[-2:] for cell in line.split()[1:]]
                self.assertEqual({"N/A"}, set(cells) - {"="})

    def test_daemon(self):
        """while uncored is away, pmrep :uncore-daemon says so"""
        out = self.tool("pmrep", "-s", "1", ":uncore-daemon").stdout
        self.assertEqual(out.splitlines()[-1].split()[1:], ["0"] + ["N/A"] * 5)

    def test_groups(self):
        """pmlogconf takes the groups while uncored is away"""
        self.assertEqual(Recorded.groups(self), {"traffic", "channels", "daemon"})


class Elsewhere(Configured):
    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.env = install(cls.pcp.folder)
        cls.pcp.start_pmcd(agent=None)

    def test_groups(self):
        """pmlogconf leaves the groups out where pmcd does not have the agent"""
        self.assertEqual(Recorded.groups(self), set())


class Recorded(Configured):
    def groups(self):
        """The groups that pmlogconf takes; its file is pmlogger.conf."""
        path = self.pcp.folder / "work/pmlogger.conf"
        path.unlink(missing_ok=True)
        self.tool("pmlogconf", "-c", path)
        return set(re.findall(r"^#\+ uncore/(\w+):y:", path.read_text(encoding="utf-8"),
                              re.MULTILINE))

    def record(self, archive):
        """Records half a second of all metrics, with work in it."""
        self.assertEqual(self.groups(), {"traffic", "channels", "daemon"})
        logger = self.pcp.spawn("pmlogger", "-c", "pmlogger.conf", "-t", "0.1",
                                "-l", self.pcp.folder / f"log/{archive}.log", archive)
        client = ["pmrep", "-s", "3", "-t", "0.25", "-o", "csv", "uncore.sample.sweeps"]
        self.wait_until((self.pcp.folder / f"work/{archive}.0").exists, 5, "pmlogger writes")
        for socket in range(n_sockets()):
            self.tool(*client)  # lets time pass
            self.work(socket)
        self.tool(*client)
        self.assertTrue(end(logger))
        return archive

    def test_record(self):
        """pmlogger records every metric of the agent by that configuration, but no jobs: everybody reads archives"""
        archive = self.record("all")
        live = {name for name in self.tool("pminfo", "uncore").stdout.split() if not name.startswith("uncore.job.")}
        self.assertEqual(set(self.tool("pminfo", "-a", archive, "uncore").stdout.split()), live)
        warnings = (self.pcp.folder / "log/all.log").read_text(encoding="utf-8")
        self.assertNotRegex(warnings, "(?i)warn|error|fail")

    def csv_rows(self, *arguments):
        out = self.tool("pmrep", "-u", "-o", "csv", "-f", CLOCK, *arguments).stdout
        for when, *cells in list(csv.reader(out.splitlines()))[1:]:
            if all(cells):
                yield float(when), [float(cell) for cell in cells]

    def test_replay(self):
        """pmrep :uncore-mem of an archive is 10^-9 of its counts per second"""
        archive = self.record("replay")
        raw = list(self.csv_rows("-r", "-a", archive, "uncore.dram.read", "uncore.dram.write"))
        rates = dict(self.csv_rows("-P", "6", "-a", archive, ":uncore-mem"))
        n_compared, total = 0, 0
        for (began, first), (ended, last) in zip(raw, raw[1:]):
            if ended not in rates:
                continue
            for begin, stop, rate in zip(first, last, rates[ended]):
                self.assertAlmostEqual((stop - begin) / 1e9 / (ended - began), rate, delta=0.002)
                n_compared += 1
            total += sum(rates[ended][:n_sockets()]) * (ended - began)
        self.assertGreater(n_compared, 4)
        self.assertGreater(total, n_sockets() * TRUTH_GB * 0.5)


class Rules(Configured):
    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.env = install(cls.pcp.folder)
        cls.pcp.start_pmcd()

    def rules(self, *settings):
        """The file that pmieconf makes of the rules of our group."""
        path = self.pcp.folder / "work/rules.pmie"
        path.unlink(missing_ok=True)
        for words in settings:
            self.tool("pmieconf", "-f", path, "modify", *words)
        self.tool("pmieconf", "-F", "-f", path)
        return path

    def start_pmie(self):
        """Evaluates the rules several times a second."""
        path = self.rules(("global", "syslog_action", "no"), ("uncore", "delta", "100 msec"),
                          ("uncore", "user_action", "yes"))
        self.log = self.pcp.folder / "log/pmie.log"
        with open(self.log, "w", encoding="utf-8") as output:
            self.pmie = self.pcp.spawn("pmie", "-v", "-c", path, env=self.env, stdout=output,
                                       stderr=output)

    def states(self, rule):
        """The results of the rule, one for each time it was evaluated."""
        return re.findall(rf"^uncore\.{rule}: (\w+)", self.log.read_text(encoding="utf-8"),
                          re.MULTILINE)

    def wait_for(self, rule, state):
        """Waits for the state in later results. The first, as many as a rule has observations, do not count."""
        begin = len(self.states(rule))
        self.wait_until(lambda: state in self.states(rule)[begin + 2:], 10, f"{rule} is {state}")

    def said(self):
        """The rules that pmie has reported so far, with their instances: a clock of the stand-in machine may tick now
        and then."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        said = {}
        for rule in RULES:
            for line in lines:
                if line.startswith(self.words_of(rule)):
                    said.setdefault(rule, set()).update(re.findall(r"(\w*)@", line))
        return {rule: sorted(instances) for rule, instances in said.items()}

    def wait_for_words(self, expected):
        """On a busy machine pmie writes a rule's words some time after its state."""
        self.wait_until(lambda: self.said() == expected, 10, f"pmie says {expected}")

    def words_of(self, rule):
        text = (self.pcp.folder / f"etc/pmieconf/uncore/{rule}").read_text(encoding="utf-8")
        return re.search(r'string\s+rule\s+default\s+= "(.*)"', text)[1]

    def start_uncored(self, **options):
        self.stop_uncored()
        self.pcp.start_uncored(**options)
        self.addCleanup(self.stop_uncored)
        self.wait_until(lambda: "value 1" in self.tool("pminfo", "-f", "uncore.daemon.up").stdout,
                        5, "the agent has found uncored")

    def stop_uncored(self):
        if self.pcp.uncored:
            self.pcp.stop_uncored()

    def test_accepted(self):
        """pmieconf enables the rules, and pmie accepts the result"""
        listed = self.tool("pmieconf", "-f", self.pcp.folder / "work/new.pmie", "rules",
                           "enabled").stdout
        self.assertEqual(re.findall(r"uncore\.(\w+)", listed), RULES)
        path = self.rules()
        self.assertEqual(re.findall(r"^uncore\.(\w+) =", path.read_text(encoding="utf-8"),
                                    re.MULTILINE), RULES)
        checked = self.tool("pmie", "-C", path)
        self.assertEqual(checked.stdout + checked.stderr, "")

    def test_gone(self):
        """pmie is silent while uncored runs, says that uncored is gone, and sees that it is back"""
        self.start_uncored()
        self.start_pmie()
        for rule in RULES:
            self.wait_for(rule, "false")
        self.assertEqual(self.said(), {})
        self.pcp.kill_uncored()
        self.wait_for("daemon_gone", "true")
        self.wait_for_words({"daemon_gone": [""]})
        self.start_uncored()
        self.wait_for("daemon_gone", "false")

    def test_flags(self):
        """pmie names the sockets on which counters stand still, and the sockets on which they are shared"""
        for rule in FLAGGED:
            with self.subTest(rule=rule):
                self.start_uncored(platforms=self.flagged_platform(rule))
                self.start_pmie()
                self.wait_for(rule, "true")
                self.wait_for_words({rule: [f"socket{i}" for i in range(n_sockets())]})
                end(self.pmie)

    def flagged_platform(self, rule):
        folder = self.pcp.folder / f"platforms-{rule}"
        folder.mkdir()
        text = (source_root() / "conf/platforms/standin.conf").read_text(encoding="utf-8")
        section, change = FLAGGED[rule]
        self.assertIn(f"\n{section}\n", text)
        (folder / "standin.conf").write_text(text.replace(section, change),
                                             encoding="utf-8")
        return folder


if __name__ == "__main__":
    run_cases()
