# SPDX-License-Identifier: BSD-3-Clause
"""Debian's Prometheus and node_exporter collect what `uncore export` prints, while uncored comes and goes."""
import time

from monitor import (EXPORTER, NODE_EXPORTER, SECONDS, UNCORE, Case, all_metrics_platform, expressions_of, get, query,
                     run_cases)
from processes import as_user, wait_until

READ = "uncore_dram_read_bytes_total"


def wait_for(expression, what):
    """Waits until Prometheus has a result, and returns it."""
    return wait_until(lambda: query(expression), SECONDS, f"{what}: {expression}")


def wait_for_scrapes(job):
    """Waits until Prometheus has scraped twice since now."""
    now = time.time()
    wait_for(f'timestamp(up{{job="{job}"}}) > {now + 1}', "scrapes")


class Http(Case):
    title = "Prometheus, over HTTP: "

    def test_generations(self):
        """a new generation of uncored is a reset of its counters, and no rate is negative"""
        self.node.start_uncored()
        self.node.serve_http()
        self.node.start_prometheus(EXPORTER)
        wait_for('up{job="uncore"} == 1', "the target is up")
        wait_for(f"rate({READ}[1m]) > 0", "rates")
        self.assertEqual(query("uncore_up")[0]["metric"]["job"], "uncore")
        last = {line["metric"]["socket"]: float(line["value"][1]) for line in query(READ)}
        self.node.stop_uncored()
        wait_for("uncore_up == 0", "uncored is missed")
        wait_for('uncore_down_info{reason="no_answer"}', "the reason")
        self.assertEqual(query(READ), [])
        self.node.start_uncored()
        wait_for("uncore_up == 1", "uncored is back")
        wait_for(f"{READ} > 0", "values again")
        wait_for("count by (instance) (count_over_time(uncore_info[1h])) == 2", "both generations")
        for line in wait_for(f"{READ}", "values"):
            socket, value = line["metric"]["socket"], float(line["value"][1])
            if value < last[socket]:
                self.assertEqual(query(f'resets({READ}{{socket="{socket}"}}[5m])')[0]["value"][1], "1")
        for line in query(f"{READ} < 0 or (rate({READ}[5m]) < 0)"):
            self.fail(line)

    def test_refused(self):
        """a policy that refuses the exporter shows as its reason, and values come back with the permission"""
        self.node.start_uncored("[access]\nusers = 4711\n")
        self.node.serve_http()
        self.node.start_prometheus(EXPORTER)
        wait_for('uncore_down_info{reason="refused"} == 1', "the reason")
        wait_for('up{job="uncore"} == 1', "the target itself is up")
        self.assertEqual(query(READ), [])
        wait_for('ALERTS{alertname="UncoreDown"}', "the alert is pending")


    def test_panels(self):
        """every panel of the dashboard has data, where there is something to show"""
        self.node.start_uncored("[disclosure]\nquantum = 4096\n", all_metrics_platform(self.node.folder / "platforms"))
        self.node.serve_http()
        self.node.start_prometheus(EXPORTER)
        expressions = expressions_of("uncore-prometheus")
        expressions.remove('uncore_down_info{instance=~"$instance"}')
        for expression in expressions:
            wait_for(expression.replace("$__rate_interval", "30s").replace("$instance", ".*"), "data")


class TextFile(Case):
    title = "node_exporter, from the text file: "

    def scrape(self):
        text = get(NODE_EXPORTER, "/metrics")
        self.assertEqual(value_of_line(text, "node_textfile_scrape_error"), 0)
        return text

    def test_file(self):
        """it serves what was written last, also while uncored is away, and Prometheus has the counters"""
        self.node.start_node_exporter()
        self.assertIsNone(value_of_line(self.scrape(), "uncore_up"))
        self.node.export("-o", str(self.node.text_file))
        self.assertEqual(value_of_line(self.scrape(), "uncore_up"), 0)
        self.node.start_uncored()
        self.node.export("-o", str(self.node.text_file))
        self.assertEqual(value_of_line(self.scrape(), "uncore_up"), 1)
        self.node.start_prometheus(NODE_EXPORTER)
        wait_for(f'{READ}{{job="node",socket="0"}}', "counters")
        self.node.export("-o", str(self.node.text_file))
        wait_for_scrapes("node")
        self.assertEqual(query("uncore_up")[0]["value"][1], "1")
        self.node.stop_uncored()
        self.node.export("-o", str(self.node.text_file))
        self.assertEqual(value_of_line(self.scrape(), "uncore_up"), 0)
        wait_for("uncore_up == 0", "uncored is missed")
        self.assertEqual(query('up{job="node"}')[0]["value"][1], "1")
        self.assertEqual([path.name for path in self.node.text_file.parent.iterdir()], ["uncore.prom"])

    def test_replaced(self):
        """it never finds half a file, though one is written all the time"""
        self.node.start_uncored()
        self.node.start_node_exporter()
        self.node.export("-o", str(self.node.text_file))
        for _ in range(20):
            writer = self.node.start([UNCORE, "export", "--socket", self.node.socket, "-o", self.node.text_file], **as_user())
            self.assertEqual(value_of_line(self.scrape(), "uncore_up"), 1)
            self.assertEqual(writer.wait(SECONDS), 0)


def value_of_line(text, name):
    """Of a series without labels; None: there is none. node_exporter's text has names that the exporter's has not."""
    lines = [line for line in text.splitlines() if line.startswith(name + " ")]
    return float(lines[0].split()[1]) if lines else None


run_cases("prometheus", "prometheus-node-exporter")
