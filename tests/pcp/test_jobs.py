# SPDX-License-Identifier: BSD-3-Clause
"""The open jobs of a batch system as instances: what they moved, and who is told. In a mount namespace with a /run of
its own."""
import contextlib
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path += [os.path.join(os.environ["UNCORE_SOURCE_ROOT"], "tests", name) for name in ("jobs", "ranks")]

from harness import DOMAIN, Case, n_sockets, run_cases, source_root  # noqa: E402 pylint: disable=wrong-import-position
from machine import OPEN, enter  # noqa: E402 pylint: disable=wrong-import-position
from processes import NOBODY, as_user, port_of, wait_until  # noqa: E402 pylint: disable=wrong-import-position
from reading import (NO_PERMISSION, NO_VALUES_WORDS, TRY_AGAIN_WORDS, labels_of,  # noqa: E402
                     values_of)  # pylint: disable=wrong-import-position
from test_metrics import METRICS, OF_JOBS  # noqa: E402 pylint: disable=wrong-import-position

JOBS = ["uncore." + name for name in OF_JOBS]
READ, WRITE, ITOM, SPECITOM, BEGIN, UID = JOBS
TRAFFIC = "uncore.dram.read"
FIXED = [name for name in METRICS if name not in JOBS]
# Of these the value changes from one fetch to the next, whatever jobs do.
PASSING = ["uncore.sample.time", "uncore.sample.age", "uncore.daemon.uptime", "uncore.daemon.clients",
           "uncore.daemon.cpu_time", "uncore.daemon.throttled"]
# Of each instance domain one: while readings are held back, each label takes the time that a fetch may wait.
LABELLED = [TRAFFIC, "uncore.channel.read", "uncore.daemon.up"]
ROOT, ALICE, BOB = as_user(0), as_user(1234), as_user(1235)
SOCKETS = [f"socket{i}" for i in range(n_sockets())]
AWAY = "/nonexistent/socket"
PAGES, MIB, MOST = 100, 1 << 20, 256
COME_AND_GO = 20
IN_OPEN, EVENT_BYTES = 0x20, 65536
libc = ctypes.CDLL(None)
HELD_SECONDS = 60


def instances(*jobs):
    return [f"{job}/{socket}" for job in jobs for socket in SOCKETS]


def numbers_in(text):
    """Of `pminfo -f`: the instances with their numbers."""
    return {name: int(number) for number, name in re.findall(r'inst \[(\d+) or "(.*)"\]', text)}


class Served(Case):
    """uncored and pmcd, whose agent is nobody and may look at the jobs."""
    agent, config, options = "pipe", "", {}

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored(config=cls.config)
        cls.pcp.start_pmcd(agent=cls.agent, **cls.options)

    def setUp(self):
        self.open_folder()
        self.addCleanup(shutil.rmtree, OPEN, ignore_errors=True)
        self.pcp.served("uncore.daemon.up", who=ROOT)

    def open_folder(self):
        """As the manual page has it, for the group of this agent."""
        page = (source_root() / "man/uncored-jobs.7.scd").read_text(encoding="utf-8")
        line, = re.findall(r"^d /run/uncored-jobs .*", page, re.MULTILINE)
        path = self.pcp.folder / "uncored-jobs.conf"
        path.write_text(re.sub(r"\bpmdauncore$", str(NOBODY), line) + "\n", encoding="ascii")
        subprocess.run(["systemd-tmpfiles", "--create", path], check=True, timeout=20)

    # --- jobs ---

    def job(self, *words, **options):
        return self.pcp.run("uncore", "job", *words, who=ROOT, **options).stdout

    def begin(self, job, *words, who=ALICE):
        self.job("begin", job, "--uid", who["user"], "--quiet", *words)

    def end(self, job, *words):
        self.job("end", job, "--quiet", *words)

    def shown(self, job):
        return json.loads(self.job("show", job, "--json"))

    def touch(self):
        for cpu in range(n_sockets()):
            self.pcp.run("touch-pages", PAGES, cpu)

    # --- what a client is told ---

    def say(self, *argv, who=ROOT, word="", **options):
        """What a tool prints, which has this word, and does not have to be asked again."""
        def look():
            text = self.pcp.run(*argv, who=who, check=False, **options).stdout
            return text if word in text and TRY_AGAIN_WORDS not in text else None

        return wait_until(look, 10, f"{argv} says {word}")

    def told(self, *metrics, who=ROOT):
        """{metric: {instance: value}}, or words in place of the instances."""
        return values_of(self.say("pminfo", "-f", *metrics, who=who))

    def assert_instances(self, metric, *jobs, who=ROOT):
        """Returns their numbers by name."""
        found = numbers_in(self.say("pminfo", "-f", metric, who=who))
        self.assertEqual(list(found), instances(*jobs))
        return found

    def assert_nothing(self, metrics=JOBS, who=ROOT):  # pylint: disable=dangerous-default-value
        self.assertEqual(self.told(*metrics, who=who), dict.fromkeys(metrics, NO_VALUES_WORDS))


def sockets_of(record):
    """Also those that the job could not use."""
    return sorted([*record["regions"][0]["sockets"], *record["outside"]], key=lambda socket: socket["socket"])


class Values(Served):
    def test_sums(self):
        """a job has the bytes that `uncore job show` shows, on each socket"""
        self.begin("1", "--cpus", "0")
        self.touch()
        before = self.shown("1")
        values = self.told(*JOBS)
        after = self.shown("1")
        for metric, name in ((READ, "dram.read"), (WRITE, "dram.write"), (ITOM, "itom")):
            self.assertEqual(list(values[metric]), instances("1"))
            for i, value in enumerate(values[metric].values()):
                low, high = (sockets_of(record)[i]["metrics"][name]["bytes"] for record in (before, after))
                self.assertTrue(low <= value <= high, (metric, low, value, high))
                if metric == READ:
                    self.assertGreaterEqual(value, PAGES * 4096)
        self.assertEqual(values[SPECITOM], NO_VALUES_WORDS)
        self.assertEqual(values[UID], dict.fromkeys(instances("1"), ALICE["user"]))
        begun = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(values[BEGIN]["1/socket0"]))
        self.assertEqual(begun, before["begun"].removesuffix("Z"))
        labels = labels_of(self.say("pminfo", "-l", READ, word="inst"))[READ]
        for i, socket in enumerate(sockets_of(before)):
            own = {key: labels[f"1/socket{i}"][key] for key in ("jobid", "uid", "socket", "package", "used")}
            self.assertEqual(own, {"jobid": "1", "uid": ALICE["user"], "socket": i, "package": socket["package"],
                                   "used": socket not in before["outside"]})

    def test_absent(self):
        """a job whose begin has no reading, or whose counts were lost, has no bytes, and is there all the same"""
        self.begin("unread", "--socket", AWAY)
        self.begin("lost")
        self.assert_instances(READ, "lost")
        self.pcp.stop_uncored()
        self.pcp.start_uncored()
        self.begin("new")
        values = self.told(*JOBS)
        for metric in (READ, WRITE, ITOM):
            self.assertEqual(list(values[metric]), instances("new"))
        for metric in (BEGIN, UID):
            self.assertEqual(sorted(values[metric]), sorted(instances("unread", "lost", "new")))

    def test_numbers(self):
        """a job keeps its numbers while others come and go, also in an agent that was started anew"""
        self.begin("1")
        self.begin("2")
        first = self.assert_instances(UID, "1", "2")
        self.assertEqual(len(set(first.values())), 2 * n_sockets())
        self.end("1")
        self.begin("3")
        second = self.assert_instances(UID, "2", "3")
        self.assertEqual([second[name] for name in instances("2")], [first[name] for name in instances("2")])
        self.assertFalse({second[name] for name in instances("3")} & set(first.values()))
        self.begin("3", "--run", "again")
        third = self.assert_instances(UID, "2", "3")
        self.assertFalse({third[name] for name in instances("3")} & {*first.values(), *second.values()})
        agent = f"add,{DOMAIN},{self.pcp.folder}/bin/pmda_uncore.so,uncore_init"
        text = self.say("pminfo", "-L", "-K", "clear", "-K", agent, "-n", self.pcp.folder / "pmdas/uncore/root",
                        "-f", UID)
        self.assertEqual(numbers_in(text), third)

    def test_unopened(self):
        """where the agent may not read the folder, or there is none, there are no jobs, and nothing else changes"""
        self.begin("1")
        self.assert_instances(READ, "1")
        OPEN.chmod(0o700)
        self.assert_nothing()
        self.assertEqual(list(self.told(TRAFFIC)[TRAFFIC]), SOCKETS)
        OPEN.chmod(0o2750)
        for path in OPEN.glob("1@*"):
            path.chmod(0o600)
        self.assert_nothing()
        shutil.rmtree(OPEN)
        self.assert_nothing()

    def test_unasked(self):
        """the folder is looked at for these metrics alone"""
        self.begin("1")
        watch = os.fdopen(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0)
        self.addCleanup(watch.close)
        self.assertGreater(libc.inotify_add_watch(watch.fileno(), bytes(OPEN), IN_OPEN), 0)
        for tool, *options in (("pminfo", "-dmtTfl"), ("pmprobe", "-I")):
            self.say(tool, *options, *FIXED)
        self.assertIsNone(watch.read(EVENT_BYTES))
        for argv in (("pminfo", "-f", UID), ("pminfo", "-l", UID), ("pmprobe", "-I", UID)):
            self.say(*argv, word="1/socket0")
            self.assertIsNotNone(watch.read(EVENT_BYTES))

    def test_many(self):
        """of more than 256 jobs those that began first are there, and the log says so once"""
        for i in range(MOST + 2):
            self.begin(f"j{i}", "--socket", AWAY)
        for _ in range(3):
            self.assert_instances(UID, *(f"j{i}" for i in range(MOST)))
        log = self.pcp.folder / "log/uncore.log"
        self.assertEqual(log.read_text(encoding="utf-8").count("More than 256 jobs are open"), 1)
        self.end("j7", "--socket", AWAY)
        self.assert_instances(UID, *(f"j{i}" for i in range(MOST + 1) if i != 7))


class Readers:
    def test_own(self):
        """root sees all jobs, other users their own ones alone: no instance, value, number or label of others"""
        self.begin("of-alice", who=ALICE)
        self.begin("of-bob", who=BOB)
        numbers = self.assert_instances(UID, "of-alice", "of-bob")
        for who, own, other, uid in ((ALICE, "of-alice", "of-bob", BOB["user"]),
                                     (BOB, "of-bob", "of-alice", ALICE["user"])):
            for metric in JOBS[:2]:
                found = self.assert_instances(metric, own, who=who)
                self.assertEqual(found, {name: numbers[name] for name in instances(own)})
            for argv in (("pminfo", "-f", UID), ("pminfo", "-l", UID), ("pmprobe", "-I", UID)):
                self.assertNotIn(other, self.say(*argv, who=who, word=own))
            said = self.pcp.run("pmval", "-s", "1", "-i", instances(other)[0], UID, who=who, check=False)
            self.assertNotEqual(said.returncode, 0)
            self.assertNotIn(str(uid), said.stdout + said.stderr)
        self.assert_nothing(who=as_user(NOBODY))
        self.assert_nothing(who=as_user(1236, groups=[0, NOBODY]))

    def test_unknown(self):
        """a client that comes over the network is nobody, and sees no job"""
        self.begin("1")
        self.assert_instances(UID, "1")
        host = f"127.0.0.1:{port_of(self.pcp.pmcd.pid)}"
        text = self.say("pminfo", "-f", "-h", host, UID, env={"PMCD_PORT": ""})
        self.assertEqual(values_of(text), {UID: NO_VALUES_WORDS})


class Pipe(Readers, Served):
    title = "the agent on a pipe: "


class SharedObject(Readers, Served):
    title = "the shared object: "
    agent = "dso"


class Policy(Served):
    title = "the site's policy: "
    config = (f"[access]\nusers = {NOBODY} {ALICE['user']} {BOB['user']}\n[disclosure]\nquantum = {MIB}\n")

    def test_policy(self):
        """whom it does not admit is refused, whether or not there is a job; values are rounded"""
        refused = as_user(1236)
        for job in (None, "1"):
            if job:
                self.begin(job)
                self.begin("of-refused", who=refused)
            for who in (ROOT, refused):
                self.assertEqual(self.pcp.served_values(*JOBS, who=who), dict.fromkeys(JOBS, NO_PERMISSION))
                self.assertNotIn("socket0", self.pcp.run("pmprobe", "-I", UID, who=who, check=False).stdout)
        for _ in range(5):
            self.touch()
        self.assert_instances(READ, "1", who=ALICE)
        values = self.told(READ, who=ALICE)[READ]
        self.assertEqual({value % MIB for value in values.values()}, {0})
        self.assertGreater(sum(values.values()), 0)


class Others(Served):
    """While counters stand still, because the site lets uncored read once a minute."""

    def setUp(self):
        super().setUp()
        self.pcp.reload_uncored(f"[disclosure]\nmin_interval_ms = {HELD_SECONDS * 1000}\n")
        self.end_of_test = time.monotonic() + HELD_SECONDS * 3 / 4

    def fixed(self):
        """Whatever does not change by itself of all metrics but those of jobs; None: not all of it came in time."""
        steady = [name for name in FIXED if name not in PASSING]
        values = self.pcp.served_values(*steady, *PASSING)
        texts = [self.pcp.run(*argv).stdout for argv in (("pminfo", "-dmtT", *FIXED), ("pminfo", "-l", *LABELLED),
                                                         ("pmprobe", "-I", *FIXED), ("pminfo", "-f", *steady))]
        if any(TRY_AGAIN_WORDS in text for text in texts):
            return None
        return texts, {name: values[name] for name in steady}, {name: list(values[name]) for name in PASSING}

    def come_and_go(self, stop):
        """On a machine that is not busy more than ten jobs a second, three of which are open at a time."""
        n = 0
        while not stop.wait(0.05):
            self.begin(f"passing{n}", "--socket", AWAY)
            self.begin(f"passing{n}", "--socket", AWAY, "--run", "again")
            n += 1
            if n > 3:
                self.end(f"passing{n - 4}", "--socket", AWAY)
                self.n_gone += 1

    @contextlib.contextmanager
    def coming_and_going(self):
        stop, self.n_gone = threading.Event(), 0
        thread = threading.Thread(target=self.come_and_go, args=[stop])
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def test_fixed(self):
        """other metrics, their numbers, instances, labels and help are the same to the byte while jobs come and go"""
        alone = wait_until(self.fixed, 20, "the agent has values")
        self.begin("stays")
        watcher = self.pcp.talk_to("pcp-fetch", "0", "0", *JOBS, who=ROOT)
        seen, n_compared = set(), 0
        with self.coming_and_going():
            while self.n_gone < COME_AND_GO or n_compared < 2 or len(seen) <= 2 * n_sockets():
                self.assertLess(time.monotonic(), self.end_of_test, "counters may go on soon")
                values = json.loads(watcher.ask())["values"][UID]
                seen.update(values if isinstance(values, dict) else ())
                now = self.fixed()
                if now:
                    self.assertEqual(now, alone)
                    n_compared += 1
        self.assert_instances(READ, "stays")


if __name__ == "__main__":
    enter()
    run_cases()
