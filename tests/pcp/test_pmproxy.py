# SPDX-License-Identifier: BSD-3-Clause
"""The text for Prometheus that pmproxy serves under /metrics, read line by line."""
import http.client
import re
import socket

from harness import Case, n_sockets, run_cases
from test_metrics import ABSENT, METRICS, STRING

CONFIG = """
[pmproxy]
redis.enabled = false
[redis]
enabled = false
[discover]
enabled = false
"""
SOCKETS = [f"socket{i}" for i in range(n_sockets())]
SERVED = [name for name, row in METRICS.items()
          if row[1] != STRING and name[len("uncore."):] not in ABSENT]


def flat(name):
    return name.replace(".", "_")


class Exposition:
    """A text in the exposition format: types {name: type} and samples {name: [(labels, value)]}."""

    sample = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)')
    label = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

    def __init__(self, text):
        self.types, self.samples, self.helped = {}, {}, set()
        for line in text.splitlines():
            self.add(line)

    def add(self, line):
        words = line.split(" ", 3)
        if words[:2] == ["#", "TYPE"]:
            self.types[words[2]] = words[3]
        elif words[:2] == ["#", "HELP"]:
            self.helped.add(words[2])
        elif line and not line.startswith("#"):
            match = self.sample.fullmatch(line)
            if not match:
                raise AssertionError(f"not a sample: {line}")
            labels = dict(self.label.findall(match[2] or ""))
            self.samples.setdefault(match[1], []).append((labels, float(match[3])))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Scrape(Case):
    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored()
        cls.pcp.start_pmcd()
        cls.start_pmproxy()

    @classmethod
    def start_pmproxy(cls):
        folder, cls.port = cls.pcp.folder, free_port()
        config = folder / "pmproxy.conf"
        config.write_text(CONFIG, encoding="utf-8")
        cls.pcp.spawn("pmproxy", "-f", "-A", "-c", config, "-i", "127.0.0.1", "-p", cls.port,
                      "-s", folder / "run/pmproxy.socket", "-l", folder / "log/pmproxy.log")

    def scrape(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/metrics?hostspec=local:&names=uncore")
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        self.assertEqual(answer.status, 200, text)
        return Exposition(text)

    def is_listening(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def setUp(self):
        self.wait_until(self.is_listening, 10, "pmproxy listens")

    def test_metrics(self):
        """has every metric that is a number, with its type and help, and none that is absent"""
        page = self.scrape()
        kinds = {flat(name): "counter" if METRICS[name][2] == "counter" else "gauge"
                 for name in SERVED}
        self.assertEqual(page.types, kinds)
        self.assertEqual(sorted(page.samples), sorted(kinds))
        self.assertEqual(page.helped, set(kinds))

    def test_labels(self):
        """labels each socket and channel"""
        page = self.scrape()
        for number, (labels, _) in enumerate(page.samples["uncore_dram_read"]):
            self.assertEqual(
                [labels[key] for key in ("instname", "socket", "package", "tier")],
                [SOCKETS[number], str(number), str(number), "dram"])
        self.assertEqual(
            [(labels["instname"], labels["socket"], labels["channel"], labels["tier"])
             for labels, _ in page.samples["uncore_channel_write"]],
            [(f"{name}/standin0", str(i), "standin0", "dram") for i, name in enumerate(SOCKETS)])

    def test_values(self):
        """has the values that PCP's own clients see"""
        before = self.pcp.served_values(*SERVED)
        page = self.scrape()
        after = self.pcp.served_values(*SERVED)
        for name in (name for name in SERVED if METRICS[name][2] == "counter"):
            for labels, value in page.samples[flat(name)]:
                number = labels.get("instid", "-1")
                with self.subTest(metric=name, instance=number):
                    self.assertLessEqual(before[name][number], value)
                    self.assertLessEqual(value, after[name][number])
        for name in ("uncore.quality", "uncore.daemon.up"):
            self.assertEqual([value for _, value in page.samples[flat(name)]],
                             list(after[name].values()))

    def test_away(self):
        """has no traffic while uncored is away, but says that it is away"""
        self.pcp.stop_uncored()
        page = self.scrape()
        self.pcp.start_uncored()
        self.assertEqual(list(page.samples), ["uncore_daemon_up"])
        self.assertEqual(page.samples["uncore_daemon_up"][0][1], 0)


if __name__ == "__main__":
    run_cases()
