# SPDX-License-Identifier: BSD-3-Clause
"""What clients see while uncored dies, hangs and returns, while the agent dies, and while many ask at once."""
import itertools
import json
import os
import re
import signal
import subprocess
import time

from harness import Case, n_sockets, run_cases
from processes import end
from reading import TRY_AGAIN, TRY_AGAIN_WORDS, is_served

METRIC = "uncore.dram.read"
WATCHED = [METRIC, "uncore.channel.read", "uncore.sample.time", "uncore.daemon.clients",
           "uncore.daemon.up", "uncore.daemon.reason"]
REASON = "uncore.daemon.reason"
IN_TIME = "within"  # "uncored did not read socket 0 within 35 ms", or did not answer within
OTHER_AGENT = "pmcd.numagents"
ANSWER_NS = 100000000      # the contract: a fetch is answered within this time,
PATIENT_NS = 600000000     # ... but one in ten seconds within this
SCHEDULING_NS = 100000000  # the time that a busy test machine may add to a single fetch
WAIT_MS = 60               # how long an agent waits for uncored, with the time that the machine may add
WAITED_MS = 15             # an answer that took longer was waited for
BRIEF_MS = 35              # how long pmcd may stand still for an agent inside it
ROUNDS = 3                 # a busy machine adds time to single ones
BACK_SECONDS = 1 + 1       # after uncored answers again; one second of them for a busy machine
RECORD_MS = 300
N_CLIENTS = 16
MOST_PER_SECOND = 1e11  # bytes: no machine touches that many pages
AGENT_GONE_WORDS = ["Broken pipe", "No PMCD agent for domain of request",
                    "IPC protocol failure", "Connection reset by peer"]


def reason_of(fetch):
    return fetch["values"][REASON]["-1"]


class Fault(Case):
    agent = "pipe"

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored()
        cls.pcp.start_pmcd(agent=cls.agent, restart_agents=True)

    def value(self, metric=METRIC):
        return self.pcp.values(metric)[metric]

    def has_values(self):
        value = self.value()
        return isinstance(value, dict) and len(value) == n_sockets()

    def wait_for_values(self):
        self.wait_until(self.has_values, BACK_SECONDS, "values come back")

    def stop(self):
        os.kill(self.pcp.uncored.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pcp.uncored.pid, signal.SIGCONT)


class Away(Fault):
    """Pipe and shared object must behave alike."""
    title = "on a pipe: "

    def start_watching(self, seconds):
        """Starts a client of the uncore agent and one of another agent, side by side."""
        step_ms = 10
        return [self.pcp.spawn("pcp-fetch", int(seconds * 1000 / step_ms), step_ms, *metrics,
                               stdout=subprocess.PIPE, text=True)
                for metrics in (WATCHED, [OTHER_AGENT])]

    def finish_watching(self, watchers):
        return [[json.loads(line) for line in watcher.communicate()[0].splitlines()]
                for watcher in watchers]

    def assert_answered_in_time(self, fetches):
        took_ns = sorted(fetch["took_ns"] for fetch in fetches)
        self.assertLess(took_ns[-1], PATIENT_NS + SCHEDULING_NS)
        self.assertLess(took_ns[-2], ANSWER_NS + SCHEDULING_NS)
        self.assertLess(took_ns[len(took_ns) * 95 // 100], ANSWER_NS)

    def assert_outage(self, fetches):
        """Values, then "try again", then values, and nothing in between. On a busy machine single readings may also be
        late, and say so."""
        groups = [(is_away, list(group))
                  for is_away, group in itertools.groupby(fetches, self.is_away)]
        outage = max((group for is_away, group in groups if is_away), key=len)
        at = groups.index((True, outage))
        for part in (groups[:at], groups[at:]):
            self.assertTrue(any(not is_away for is_away, _ in part))
        for is_away, group in groups:
            if is_away and group is not outage:
                self.assertTrue(all(IN_TIME in reason_of(fetch) for fetch in group), group)
        for fetch in fetches:
            self.assert_all_or_none(fetch)

    def is_away(self, fetch):
        value = fetch["values"][METRIC]
        self.assertTrue(isinstance(value, dict) or value == TRY_AGAIN, value)
        return value == TRY_AGAIN

    def assert_all_or_none(self, fetch):
        self.assertEqual(self.is_away(fetch), fetch["values"]["uncore.daemon.up"]["-1"] == 0)
        self.assertEqual(self.is_away(fetch), reason_of(fetch) != "")
        errors = {value == TRY_AGAIN for name, value in fetch["values"].items()
                  if name not in ("uncore.daemon.up", REASON)}
        self.assertEqual(len(errors), 1)

    def outage(self, go_away, return_again):
        watchers = self.start_watching(2.2)
        time.sleep(0.4)
        go_away()
        time.sleep(0.6)
        return_again()
        ours, others = self.finish_watching(watchers)
        self.assert_outage(ours)
        self.assert_answered_in_time(ours)
        self.assert_answered_in_time(others)
        self.assertTrue(all("values" in fetch for fetch in others))

    def test_stopped(self):
        """while uncored hangs no client of any agent waits long; then values come back"""
        self.outage(self.stop, self.resume)

    def test_killed(self):
        """while uncored is dead no client of any agent waits long; then values come back"""
        self.outage(self.pcp.kill_uncored, self.pcp.start_uncored)

    def test_ended(self):
        """uncored may end and start again"""
        self.outage(self.pcp.stop_uncored, self.pcp.start_uncored)

    def test_reason(self):
        """the reason is told in words while uncored is dead, hangs or serves nothing, and is empty otherwise"""
        metric = "uncore.daemon.reason"
        self.wait_for_values()
        self.assertEqual(self.value(metric), {"-1": ""})
        self.pcp.kill_uncored()
        self.assertIn(self.pcp.env["UNCORE_SOCKET"], self.value(metric)["-1"])
        self.pcp.start_uncored(machine="unknown")
        self.wait_until(lambda: "uncore-platform(5)" in self.value(metric)["-1"], BACK_SECONDS,
                        "the reason of an uncored that serves nothing")
        self.pcp.kill_uncored()
        self.pcp.start_uncored()
        self.wait_for_values()
        self.stop()
        self.assertRegex(self.value(metric)["-1"], r"\bms\b|answer|time")
        self.resume()
        self.wait_for_values()
        self.assertEqual(self.value(metric), {"-1": ""})

    def test_generation(self):
        """a new uncored has a new generation, and counts from its own start"""
        self.wait_for_values()
        before = self.pcp.values("uncore.daemon.generation", METRIC)
        self.pcp.kill_uncored()
        self.pcp.start_uncored()
        self.wait_for_values()
        after = self.pcp.values("uncore.daemon.generation", METRIC)
        self.assertNotEqual(before["uncore.daemon.generation"], after["uncore.daemon.generation"])
        self.assertEqual(after["uncore.daemon.generation"]["-1"], self.pcp.info()["generation"])

    def assert_waits(self, fetches):
        """Fetches that were answered at once did not wait: the agent did not ask uncored."""
        waits_ms = sorted(fetch["took_ns"] / 1e6 for fetch in fetches)
        waits_ms = [wait_ms for wait_ms in waits_ms if wait_ms > WAITED_MS]
        self.assertGreaterEqual(len(waits_ms), 3)
        self.assertLess(waits_ms[len(waits_ms) // 2], WAIT_MS)

    def test_patience(self):
        """the first fetch waits long for an uncored that hangs, connected or not; later fetches wait briefly"""
        self.wait_for_values()
        self.stop()
        waiting = self.pcp.fetch(METRIC, n=100, interval_ms=10)
        self.resume()
        self.assert_waits(waiting)
        pcp = self.new_pcp()
        pcp.start_uncored()
        pcp.uncored.send_signal(signal.SIGSTOP)
        pcp.start_pmcd(agent=self.agent)
        self.assert_waits(pcp.fetch(METRIC, n=100, interval_ms=10))

    def log_lines(self):
        name = {"pipe": "uncore.log", "dso": "pmcd/pmcd.log"}[self.agent]
        return (self.pcp.folder / "log" / name).read_text(encoding="utf-8").splitlines()

    def test_log(self):
        """hundreds of failed fetches leave one line in the log, the return another, changes within a minute no more"""
        self.pcp = self.new_pcp()
        self.pcp.start_uncored()
        self.pcp.start_pmcd(agent=self.agent)
        self.wait_for_values()
        n_before = len(self.log_lines())
        self.pcp.kill_uncored()
        fetches = self.pcp.fetch(METRIC, "uncore.channel.write", n=400, interval_ms=3)
        self.assertEqual({fetch["values"][METRIC] for fetch in fetches}, {TRY_AGAIN})
        self.assertEqual(len(self.log_lines()) - n_before, 1, self.log_lines())
        self.pcp.start_uncored()
        self.wait_for_values()
        self.assertEqual(len(self.log_lines()) - n_before, 2, self.log_lines())
        for _ in range(3):
            self.pcp.kill_uncored()
            self.assertEqual(self.pcp.fetch(METRIC)[0]["values"][METRIC], TRY_AGAIN)
            self.pcp.start_uncored()
            self.wait_for_values()
        self.assertEqual(len(self.log_lines()) - n_before, 2, self.log_lines())


class AwayFromSharedObject(Away):
    agent = "dso"
    test_ended = None
    title = "in pmcd: "

    def first_fetch(self, is_connected):
        """Of a pmcd whose agent finds that uncored hangs: its time, and the reason that it tells."""
        pcp = self.new_pcp()
        pcp.start_uncored()
        pcp.start_pmcd(agent=self.agent)
        if is_connected:
            pcp.served_values(METRIC)
        pcp.uncored.send_signal(signal.SIGSTOP)
        fetch = pcp.fetch(METRIC, REASON)[0]
        pcp.close()
        self.assertTrue(self.is_away(fetch))
        return fetch["took_ns"] / 1e6, reason_of(fetch)

    def test_patience(self):
        """already the first fetch waits briefly for an uncored that hangs, connected or not"""
        for is_connected in (True, False):
            with self.subTest(is_connected=is_connected):
                fetches = [self.first_fetch(is_connected) for _ in range(ROUNDS)]
                self.assertLess(min(took_ms for took_ms, _ in fetches), BRIEF_MS)
                limits_ms = [int(ms) for _, reason in fetches for ms in re.findall(r"within (\d+) ms", reason)]
                self.assertEqual(len(limits_ms), ROUNDS if is_connected else 0)
                self.assertTrue(all(limit_ms < BRIEF_MS for limit_ms in limits_ms), limits_ms)

    def test_unloaded(self):
        """pmcd unloads and loads the agent whenever it reads its configuration: no connection stays"""
        conf = self.pcp.folder / "pmcd.conf"
        text = conf.read_text(encoding="utf-8")
        changed = itertools.count(int(time.time()) + 1)  # pmcd looks at whole seconds
        for _ in range(3):
            for lines in (text.splitlines()[:1], text.splitlines()):
                conf.write_text("\n".join([*lines, ""]), encoding="utf-8")
                os.utime(conf, (0, next(changed)))
                self.pcp.pmcd.send_signal(signal.SIGHUP)
                self.wait_until(lambda: self.has_agent() == (len(lines) > 1), 5, "pmcd follows")
        self.wait_for_values()
        self.assertEqual(self.value("uncore.daemon.clients"), {"-1": 1})

    def has_agent(self):
        answer = self.pcp.run("pminfo", "-d", METRIC, check=False).stdout
        return "Data Type" in answer


class Recorded(Fault):
    title = "while pmlogger records: "
    numbers = itertools.count()

    def record(self, fault, recover):
        """Records before, during and after the fault; the archive's name."""
        folder, name = self.pcp.folder, f"archive{next(self.numbers)}"
        config = folder / "pmlogger.conf"
        config.write_text(f"log mandatory on {RECORD_MS} msec {{ {METRIC} uncore.daemon.up }}\n",
                          encoding="utf-8")
        self.wait_for_values()
        logger = self.pcp.spawn("pmlogger", "-c", config, "-l", folder / f"log/{name}.log", name)
        self.wait_until((folder / f"work/{name}.0").exists, 5, "pmlogger writes")
        time.sleep(3 * RECORD_MS / 1000)
        fault()
        time.sleep(3 * RECORD_MS / 1000)
        recover()
        self.wait_until(self.has_values, 10, "values come back")
        time.sleep(3 * RECORD_MS / 1000)
        self.assertIsNone(logger.poll(), "pmlogger ended")
        self.assertTrue(end(logger))
        self.pcp.run("pmlogcheck", name)
        return name

    def history(self, archive, metric=METRIC):
        """A metric in the archive's records: lists of values, or the words of an error."""
        text = self.pcp.run("pmdumplog", archive, metric).stdout
        for record in text.split("\n\n"):
            values = re.findall(r"(?:inst \[.*\]|\):) value (\d+)", record)
            if values:
                yield [int(value) for value in values]
            elif metric in record:
                yield record.strip().rpartition(f"({metric}): ")[2]

    def assert_gap(self, archive, words):
        """A gap with errors of these, several values on either side of it. An uncored that is back and gets no CPU in
        time makes another one."""
        runs = [(kind, list(run)) for kind, run in itertools.groupby(self.history(archive), type)]
        self.assertEqual([runs[0][0], runs[1][0], runs[-1][0]], [list, str, list], runs)
        self.assertLessEqual({word for kind, run in runs if kind is str for word in run}, set(words))
        behind = sum(len(run) for kind, run in runs[2:] if kind is list)
        self.assertGreaterEqual(min(len(runs[0][1]), behind), 2, runs)

    def assert_no_rate_over_gap(self, archive):
        """A rate across the gap would be made of counts that began anew."""
        text = self.pcp.run("pmrep", "-a", archive, "-u", "-o", "csv", METRIC).stdout
        rows = [row.split(",")[1:] for row in text.splitlines()[1:]]
        kinds = "".join("-" if "" in row else "r" for row in rows)
        self.assertRegex(kinds, r"^-r+-+r+$")  # the first record has no rate
        self.assertLess(max(float(rate) for row in rows for rate in row if rate), MOST_PER_SECOND)

    def test_killed(self):
        """the archive has the gap while uncored was dead, and values before and after it"""
        archive = self.record(self.pcp.kill_uncored, self.pcp.start_uncored)
        self.assert_gap(archive, [TRY_AGAIN_WORDS])
        self.assert_no_rate_over_gap(archive)
        ups = [up for up, in self.history(archive, "uncore.daemon.up")]
        self.assertEqual([up for up, _ in itertools.groupby(ups)], [1, 0, 1])

    def test_stopped(self):
        """the archive has the gap while uncored hung, and goes on counting after it"""
        archive = self.record(self.stop, self.resume)
        self.assert_gap(archive, [TRY_AGAIN_WORDS])
        self.assert_counts_up(archive)

    def assert_counts_up(self, archive):
        counts = [record for record in self.history(archive) if isinstance(record, list)]
        for socket in zip(*counts):
            self.assertEqual(list(socket), sorted(socket))

    def test_agent_killed(self):
        """pmcd starts the agent again when it was killed, and no count is lost"""
        pid = self.pcp.pmda_pid()
        archive = self.record(lambda: os.kill(pid, signal.SIGKILL), lambda: None)
        self.assert_gap(archive, AGENT_GONE_WORDS)
        self.assert_counts_up(archive)
        self.assertNotEqual(self.pcp.pmda_pid(), pid)


class Batch(Fault):
    title = "with 16 clients at once: "
    PAGES = 25600
    N_FETCHES = 200

    def start_clients(self):
        return [self.pcp.spawn("pcp-fetch", self.N_FETCHES, 5, *WATCHED,
                               stdout=subprocess.PIPE, text=True) for _ in range(N_CLIENTS)]

    def work(self):
        """Touches pages on socket 0; returns when that began and was done."""
        began_ns = time.monotonic_ns()
        self.assertEqual(self.worker.ask(self.PAGES), "done")
        return began_ns, time.monotonic_ns()

    def served(self, fetches):
        """On a busy machine single readings may be late, and say so."""
        late = [fetch for fetch in fetches if not is_served(fetch["values"])]
        self.assertTrue(all(IN_TIME in reason_of(fetch) for fetch in late), late)
        self.assertLess(len(late), len(fetches) / 4)
        return [fetch for fetch in fetches if is_served(fetch["values"])]

    def assert_each_is_right(self, fetches):
        """All values are there and of one sweep; each is as new as its fetch."""
        for fetch in fetches:
            values = fetch["values"]
            self.assertTrue(all(isinstance(value, dict) for value in values.values()), values)
            channels = {str(int(number) >> 16): count
                        for number, count in values["uncore.channel.read"].items()}
            self.assertEqual(channels, values[METRIC])

    def assert_order(self, fetches):
        """A fetch that began after the answer to another one has no lower count."""
        answered = sorted(fetches, key=lambda fetch: fetch["begin_ns"] + fetch["took_ns"])
        highest, done = {}, 0
        for fetch in sorted(fetches, key=lambda fetch: fetch["begin_ns"]):
            while answered[done]["begin_ns"] + answered[done]["took_ns"] < fetch["begin_ns"]:
                for number, count in answered[done]["values"][METRIC].items():
                    highest[number] = max(count, highest.get(number, 0))
                done += 1
            for number, least in highest.items():
                self.assertGreaterEqual(fetch["values"][METRIC][number], least)

    def assert_saw_work(self, fetches, began_ns, done_ns):
        """A client fetched before and after the work. Other processes touch pages, too."""
        before = [fetch for fetch in fetches if fetch["begin_ns"] + fetch["took_ns"] < began_ns]
        after = [fetch for fetch in fetches if fetch["begin_ns"] > done_ns]
        self.assertTrue(before and after)
        self.assertGreaterEqual(
            after[0]["values"][METRIC]["0"] - before[-1]["values"][METRIC]["0"], self.PAGES * 4096)

    def test_batch(self):
        """each sees all values, in order, and the pages that were touched meanwhile"""
        self.worker = self.pcp.talk_to("touch-when-told", 0)
        self.worker.hear()
        clients = self.start_clients()
        time.sleep(0.4)
        began_ns, done_ns = self.work()
        by_client = [[json.loads(line) for line in client.communicate()[0].splitlines()]
                     for client in clients]
        self.assertTrue(all(len(client) == self.N_FETCHES for client in by_client))
        by_client = [self.served(client) for client in by_client]
        fetches = [fetch for client in by_client for fetch in client]
        self.assert_each_is_right(fetches)
        self.assert_order(fetches)
        for client in by_client:
            self.assert_saw_work(client, began_ns, done_ns)


class HeldBack(Fault):
    """A site where reads wait for longer than pmcd does."""
    title = "where the site holds reads back, "
    INTERVAL_MS = 1000
    SEEN = [METRIC, "uncore.sample.age", "uncore.sample.sweeps"]

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored(config=f"[disclosure]\nmin_interval_ms = {cls.INTERVAL_MS}\n")
        cls.pcp.start_pmcd(agent=cls.agent)

    def test_last_sweep(self):
        """each fetch has values, none older than the interval, and new values come"""
        fetches = self.pcp.fetch(*self.SEEN, n=30, interval_ms=self.INTERVAL_MS // 10)
        for fetch in fetches:
            for metric in self.SEEN:
                self.assertEqual(len(fetch["values"][metric]), n_sockets(), fetch)
            for age_ns in fetch["values"]["uncore.sample.age"].values():
                self.assertLess(age_ns, self.INTERVAL_MS * 1000000 + fetch["took_ns"])
        sweeps = [fetch["values"]["uncore.sample.sweeps"]["0"] for fetch in fetches]
        self.assertGreater(sweeps[-1], sweeps[0] + 1)
        self.assertLess(sweeps[-1] - sweeps[0], len(fetches) - 1)


class HeldBackForLonger(HeldBack):
    INTERVAL_MS = 5000


if __name__ == "__main__":
    run_cases()
