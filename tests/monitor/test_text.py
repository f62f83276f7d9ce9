# SPDX-License-Identifier: BSD-3-Clause
"""What `uncore export` prints: for promtool, under policies of a site, without uncored; and its rules."""
import json
import os
import re
import socket
import subprocess
import time

from kernel import KernelCount
from monitor import (EXPORTER, RULES, SECONDS, SOURCE, UNCORE, Case, all_metrics_platform, comments_of, dashboard,
                     expressions_of, get, names_of, run_cases, series_of, value_of)
from processes import NOBODY, wait_until

MIB = 1 << 20
ALICE = 4711
DRAM = ("uncore_dram_read_bytes_total", "uncore_dram_write_bytes_total")


def promtool(*words, text=None):
    return subprocess.run(["promtool", *map(str, words)], input=text, capture_output=True, text=True, check=False,
                          timeout=60)


class Text(Case):
    title = "the text: "

    def test_format(self):
        """promtool has no complaint about it, with values and without"""
        absent = self.node.export()
        self.node.start_uncored()
        for text in (absent, self.node.export()):
            done = promtool("check", "metrics", text=text)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_families(self):
        """each family has one HELP and one TYPE, and all its series follow"""
        self.node.start_uncored()
        family, seen = None, set()
        for line in self.node.export().splitlines():
            head = re.match(r"# HELP (\w+) ", line)
            if head:
                family = head[1]
                self.assertNotIn(family, seen)
                seen.add(family)
            elif not line.startswith("#"):
                self.assertEqual(re.match(r"\w+", line)[0], family)

    def test_truth(self):
        """the counters are the kernel's counts"""
        self.node.start_uncored()
        sockets = min(2, os.cpu_count())
        kernel = KernelCount(sockets)
        self.addCleanup(kernel.close)

        def fetch():
            text = self.node.export()
            return {"uncore.dram.read": [value_of(text, DRAM[0], socket=str(i)) for i in range(sockets)]}

        first, last = kernel.around(fetch), kernel.around(fetch)
        for i in range(sockets):
            grown = last.values["uncore.dram.read"][i] - first.values["uncore.dram.read"][i]
            least = last.before["uncore.dram.read"][i] - first.after["uncore.dram.read"][i]
            most = last.after["uncore.dram.read"][i] - first.before["uncore.dram.read"][i]
            self.assertLessEqual(least, grown)
            self.assertLessEqual(grown, most)

    def test_channels(self):
        """with --channels each channel is a series, and those of a socket add up to it"""
        self.node.start_uncored(machine="standin-wide")
        for name in DRAM:
            self.assertNotIn(name.replace("uncore_", "uncore_channel_"), names_of(self.node.export()))
        text = self.node.export("--channels")
        for name in DRAM:
            for i in range(2):
                of_socket = [value for (its_name, labels), value in series_of(text).items()
                             if its_name == name.replace("uncore_", "uncore_channel_") and ("socket", str(i)) in labels]
                self.assertEqual(len(of_socket), 48)
                self.assertEqual(sum(of_socket), value_of(text, name, socket=str(i)))
        done = promtool("check", "metrics", text=text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_units(self):
        """the unit of a metric ends its name: base units, and nothing after a count"""
        folder = self.node.folder / "platforms"
        folder.mkdir()
        (folder / "standin.conf").write_text("[platform]\ntitle = Has all units\nvendor = Standin\nstandin = yes\n" + "".join(
            f"[{name}]\npmu = uncore_standin_0\nevent = raw:event=0x2\nscale = {scale}\nunit = {unit}\n"
            "source = a test\nconfidence = low\n" for name, unit, scale in (
                ("faults", "count", 1), ("energy", "nJ", 1000000000), ("work", "bytes", 4096), ("time", "ns", "1/2"))),
            encoding="ascii")
        self.node.start_uncored(platforms=folder)
        text = self.node.export()
        faults, energy, work, time_s = (value_of(text, f"uncore_{name}_total", socket="0")
                                        for name in ("faults", "energy_joules", "work_bytes", "time_seconds"))
        self.assertGreater(faults, 0)
        self.assertEqual((energy, work), (faults, 4096 * faults))
        self.assertAlmostEqual(time_s, faults // 2 / 1e9)
        done = promtool("check", "metrics", text=text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_absent(self):
        """a metric that the machine does not have is not a series, and a comment says why"""
        self.node.start_uncored()
        text = self.node.export()
        self.assertNotIn("hbm", "".join(names_of(text)))
        self.assertIn("hbm.read of socket 0 is absent: The stand-in machine has no such counter.", comments_of(text))


class Policy(Case):
    title = "under a policy: "

    def test_refused(self):
        """a refused user gets no value, and the reason; another user gets them"""
        self.node.start_uncored(f"[access]\nusers = {ALICE}\n")
        text = self.node.export(uid=NOBODY)
        self.assertEqual(names_of(text), {"uncore_up", "uncore_down_info"})
        self.assertEqual(value_of(text, "uncore_up"), 0)
        self.assertEqual(value_of(text, "uncore_down_info", reason="refused"), 1)
        self.assertRegex(comments_of(text)[0], "65534")
        self.assertEqual(value_of(self.node.export(uid=ALICE), "uncore_up"), 1)
        for line in self.node.export("--clustercockpit", uid=NOBODY).splitlines():
            self.assertTrue(line.startswith("#"))

    def test_refusals(self):
        """refusals are counted by rule"""
        def refused(rule):
            return value_of(self.node.export(uid=ALICE), "uncore_refusals_total", rule=rule)

        self.node.start_uncored(f"[access]\nusers = {ALICE}\n")
        before = refused("access.users")
        self.node.export(uid=NOBODY)
        wait_until(lambda: refused("access.users") > before, SECONDS, "the refusal is counted, in uncored's next report")
        self.assertEqual(refused("access.group"), 0)

    def test_quantum(self):
        """values are rounded, and a metric and a comment say so"""
        self.node.start_uncored(f"[disclosure]\nquantum = {MIB}\n")
        text = self.node.export("--channels")
        self.assertEqual(value_of(text, "uncore_quantum_bytes"), MIB)
        self.assertIn(f"The site has uncored round values down to multiples of {MIB} bytes.", comments_of(text))
        counts = [value for (name, _), value in series_of(text).items() if name.endswith(("read_bytes_total",
                                                                                         "write_bytes_total"))]
        self.assertEqual(len(counts), 8)  # of two sockets, with a channel each
        self.assertEqual({count % MIB for count in counts}, {0})

    def test_interval(self):
        """an exporter that is held back waits, and tells for how long it may be"""
        self.node.start_uncored("[disclosure]\nmin_interval_ms = 2000\n")
        first, second = (self.node.export() for _ in range(2))
        self.assertEqual(value_of(first, "uncore_min_interval_seconds"), 2)
        times = [value_of(text, "uncore_sweep_time_seconds", socket="0") for text in (first, second)]
        self.assertGreaterEqual(times[1] - times[0], 1.999)

    def test_held_back(self):
        """a scrape does not wait for a minute's interval: it gets the last sweep, and its time"""
        self.node.start_uncored("[disclosure]\nmin_interval_ms = 60000\n")
        self.node.serve_http("--channels")
        first = get(EXPORTER, "/metrics")
        time.sleep(1.1)  # for more than a second, no text serves a second time
        second = get(EXPORTER, "/metrics")
        for name in ("uncore_sweeps_total", "uncore_sweep_time_seconds"):
            self.assertIsNotNone(value_of(first, name, socket="0"))
        self.assertEqual(*(value_of(text, "uncore_channel_dram_read_bytes_total", socket="0") for text in (first, second)))
        self.assertEqual(*(value_of(text, "uncore_sweeps_total", socket="0") for text in (first, second)))
        self.assertAlmostEqual(*(value_of(text, "uncore_sweep_time_seconds", socket="0") for text in (first, second)),
                               places=2)  # clocks are adjusted


class ClusterCockpit(Case):
    title = "ClusterCockpit: "

    def test_line(self):
        """read and written bytes a second are in units of 10^6, with the time in nanoseconds"""
        self.node.start_uncored()
        kernel = KernelCount(1)
        self.addCleanup(kernel.close)
        self.node.others.append(self.node.start(["taskset", "-c", "0", "sh", "-c", "while :; do sleep 0.05; done"]))
        begun_ns, before = time.time_ns(), kernel.read()
        text = self.node.export("--clustercockpit")
        after, ended_ns = kernel.read(), time.time_ns()
        host = os.uname().nodename.split(".")[0]
        line = re.search(rf"^mem_bw,hostname={host},type=socket,type-id=0,unit=MB/s,quality=standin "
                         r"value=([0-9.]+) (\d+)$", text, re.MULTILINE)
        self.assertTrue(line, text)
        self.assertTrue(begun_ns < int(line[2]) < ended_ns)
        moved = sum(after[metric][0] - before[metric][0] for metric in ("uncore.dram.read", "uncore.dram.write"))
        self.assertGreater(float(line[1]), 0)
        self.assertLessEqual(float(line[1]), moved / 1e6)  # the window is a second or more

    def test_every(self):
        """a file has the last period, also after a restart of uncored"""
        self.node.start_uncored()
        target = self.node.text_file.with_name("mem_bw")
        self.node.others.append(self.node.start([UNCORE, "export", "--clustercockpit", "--every", "1", "-o", target,
                                                 "--socket", self.node.socket]))

        def has_line():
            return target.exists() and "mem_bw,hostname" in target.read_text(encoding="ascii")

        wait_until(has_line, SECONDS, "there is a bandwidth")
        self.node.stop_uncored()
        wait_until(lambda: not has_line(), SECONDS, "the file says that there is none")
        self.assertEqual(target.read_text(encoding="ascii")[:2], "# ")
        self.node.start_uncored()
        wait_until(has_line, SECONDS, "there is one again")

    def test_service(self):
        """the man page's service writes a file before a collector starts, and then one each period"""
        page = (SOURCE / "man/uncore-export.1.scd").read_text(encoding="ascii")
        unit = dict(re.findall(r"^(\w+)=(.+)$", page, re.MULTILINE))
        first, second = (unit[key].split() for key in ("ExecStartPre", "ExecStart"))
        self.assertEqual(first[0], second[0])
        path = self.node.text_file.with_name("mem_bw")
        for words in (first, second):
            self.assertEqual(words[-2:], ["-o", f"/run/{unit['RuntimeDirectory']}/mem_bw"])
            words[-1] = path
        second[second.index("--every") + 1] = "1"
        self.node.start_uncored()
        self.node.export(*first[2:])
        self.assertIn("mem_bw,hostname", path.read_text(encoding="ascii"))
        path.unlink()
        self.node.others.append(self.node.start([UNCORE, *second[1:], "--socket", self.node.socket]))
        wait_until(path.exists, SECONDS, "the file is there")


class Files(Case):
    title = "the shipped files: "

    def test_rules(self):
        """promtool has no complaint about the rules, and they fire when they should"""
        for words in (("check", "rules", RULES), ("test", "rules", SOURCE / "tests/monitor/rules-test.yml")):
            done = promtool(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_port(self):
        """the man page names the unit's port, and no other"""
        page = (SOURCE / "man/uncore-export.1.scd").read_text(encoding="ascii")
        self.assertEqual(set(re.findall(r"(?:port |:)(\d{5})\b", page)), {str(EXPORTER)})

    def test_addresses(self):
        """the unit with the man page's drop-in can listen on all its addresses at once"""
        page = (SOURCE / "man/uncore-export.1.scd").read_text(encoding="ascii")
        unit = (SOURCE / "systemd/uncore-export-http.socket").read_text(encoding="ascii")
        addresses = []
        for address in re.findall(r"^ListenStream=(.*)$", unit + page, re.MULTILINE):
            addresses = [*addresses, address] if address else []
        self.assertTrue(addresses)
        for host, port in (address.rsplit(":", 1) for address in addresses):
            place, both = (host.strip("[]"), int(port)), ":" in host
            family = socket.AF_INET6 if both else socket.AF_INET
            self.enterContext(socket.create_server(place, family=family, dualstack_ipv6=both))
        with socket.create_connection(("127.0.0.1", EXPORTER), timeout=SECONDS):
            pass

    def test_names(self):
        """rules and the dashboard for Prometheus name only metrics that the exporter has"""
        self.node.start_uncored(platforms=all_metrics_platform(self.node.folder / "platforms"))
        had = names_of(self.node.export("--channels")) | {"uncore_down_info", "uncore_quality_raised_sweep"}
        named = set(re.findall(r"(?<!:)\buncore_\w+", RULES.read_text(encoding="ascii")))
        for expression in expressions_of("uncore-prometheus"):
            named |= set(re.findall(r"uncore_\w+", expression))
        self.assertGreater(len(named), 8)
        recorded = {"uncore_dram_bytes", "uncore_read_bytes"}
        self.assertEqual(named - had - recorded, set())

    def test_expressions(self):
        """promtool understands every expression of the dashboard for Prometheus"""
        rules = [{"record": f"panel{i}", "expr": expression.replace("$__rate_interval", "1m").replace("$instance", ".*")}
                 for i, expression in enumerate(expressions_of("uncore-prometheus"))]
        path = self.node.folder / "panels.yml"
        path.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}), encoding="ascii")
        done = promtool("check", "rules", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_pcp_names(self):
        """the dashboard for PCP names only metrics of its agent"""
        text = (SOURCE / "pmda/pmns").read_text(encoding="ascii")
        had = {f"{node}.{leaf}" for node, body in re.findall(r"^([\w.]+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
               for leaf in re.findall(r"^\s+(\w+)\s+UNCORE:", body, re.MULTILINE)}
        named = set(expressions_of("uncore-pcp"))
        self.assertIn("uncore.dram.read", named)
        self.assertEqual(named - had, set())

    def test_panels(self):
        """panels of the dashboards lie side by side, each with a number of its own"""
        for name in ("uncore-prometheus", "uncore-pcp"):
            panels = dashboard(name)["panels"]
            self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
            cells = [(x, y) for panel in panels for grid in [panel["gridPos"]]
                     for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])]
            self.assertEqual(len(set(cells)), len(cells))
            self.assertLess(max(x for x, _ in cells), 24)


run_cases("promtool")
