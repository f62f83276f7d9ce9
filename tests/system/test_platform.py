# SPDX-License-Identifier: BSD-3-Clause
"""How the running daemon uses a platform file: `uncore info` in all its forms, [calibration], [metrics], and a metric's check, on
stand-in machines made for the case. Prints TAP; needs root.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
import tap
from kernel import PAGE_FAULTS, open_event
from tap import equal
PAGES = 40000
SECONDS = 180

# The kernel refuses every event of this type.
MACHINE = """
[machine]
packages = 0 1
cpus = host
order = alternate
[cpuinfo]
vendor_id = Standin
[pmu uncore_standin_0]
type = 1
cpumask = packages
format event = config:0-7
event page_faults = event=0x2
event minor_faults = event=0x5
event scaled = event=0x2 @ 4096 Bytes
[pmu uncore_refused_0]
type = 4095
cpumask = packages
format event = config:0-7
"""
HEAD = "[platform]\ntitle = Made for a test\nvendor = Standin\nstandin = yes\n"


def metric(name, event="sysfs:page_faults", size=4096, pmu="uncore_standin_[0-9]*", more=""):
    return (f"[{name}]\npmu = {pmu}\nevent = {event}\nbytes = {size}\n"
            f"source = source of {name}\nconfidence = low\n{more}")


class Daemon:
    """uncored on such a machine, with one platform file."""

    def __init__(self, folder, platform, config=""):
        self.folder = pathlib.Path(folder)
        (self.folder / "platforms").mkdir()
        (self.folder / "platforms/made.conf").write_text(platform, encoding="ascii")
        (self.folder / "made.machine").write_text(MACHINE, encoding="ascii")
        (self.folder / "conf").write_text(config, encoding="ascii")
        subprocess.run([sys.executable, SOURCE / "tests/machines/mktree",
                        self.folder / "made.machine", self.folder / "tree"], check=True)
        self.process = subprocess.Popen(
            [BUILD / "daemon/uncored", "--platforms", self.folder / "platforms", "--root",
             self.folder / "tree", "--config", self.folder / "conf", "--socket",
             self.folder / "socket"], stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None and self.uncore("info").returncode:
            assert time.monotonic() < deadline, "uncored does not answer"
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.log = self.process.communicate(timeout=SECONDS)[1]
        shutil.rmtree(self.folder)

    def uncore(self, *words):
        return subprocess.run([BUILD / "client/uncore", *words], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS,
                              env=dict(os.environ, UNCORE_SOCKET=str(self.folder / "socket")))

    def text(self, *words):
        done = self.uncore(*words)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def stat_of_pages(self):
        """What socket 0 says of PAGES page faults on it."""
        out = self.folder / "out"
        self.text("stat", "--json", "-o", out, BUILD / "tests/workload/touch-pages", str(PAGES), "0")
        return json.loads(out.read_text(encoding="ascii"))["sockets"][0]["metrics"]

    def metrics(self):
        return {m["name"]: m for m in json.loads(self.text("info", "--json"))["metrics"]}

    def touch(self):
        subprocess.run([BUILD / "tests/workload/touch-pages", str(PAGES), "0"], check=True,
                       stdout=subprocess.DEVNULL)
        self.text("stat", "true")  # a sweep after it
        time.sleep(0.15)  # until then uncored sends its last report again


def serve(platform, config=""):
    return Daemon(tempfile.mkdtemp(prefix="uncored-platform-"), platform, config)


def within(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in: {text}"


# --- the cases ---


def explains():
    """--explain says terms, bytes, PMUs, encodings, failed alternatives, and the source"""
    platform = HEAD + metric("dram.read", "sysfs:no_such | raw:event=0x2") + (
        "[dram.read/less]\npmu = uncore_standin_[0-9]*\nevent = sysfs:minor_faults\nbytes = 1\n"
        "subtract = yes\n")
    with serve(platform) as daemon:
        text = daemon.text("info", "--explain", "dram.read")
        within(text, "dram.read, in bytes, on platform made", "nothing here is memory traffic",
               "is   4096 bytes x each count of sysfs:no_such | raw:event=0x2",
               "less 1 bytes x each count of sysfs:minor_faults",
               "on every PMU named uncore_standin_[0-9]*",
               "source: source of dram.read (confidence: low)",
               "uncore_standin_0 on CPU 0: dram.read 0x2 (raw:event=0x2), "
               "-dram.read 0x5 (sysfs:minor_faults)",
               "tried before: sysfs:no_such: the PMU has no such event")
        done = daemon.uncore("info", "--explain", "hbm.read")
        equal(done.returncode, 1, "status")
        within(done.stdout, "platform made does not have the metric hbm.read")
        equal(daemon.uncore("info", "--json", "--explain", "dram.read").returncode, 2, "status")


def counts_in_other_units():
    """a metric in unit count is the kernel's count; with a fraction it is that part of the whole"""
    pmu = "pmu = uncore_standin_0\n"
    platform = HEAD + metric("dram.read") + (
        f"[faults]\n{pmu}event = sysfs:page_faults\nscale = 1\nunit = count\nsource = s\nconfidence = low\n"
        f"[energy]\n{pmu}event = sysfs:page_faults\nscale = 1000000000/4294967296\nunit = nJ\nsource = s\n"
        f"confidence = low\n[flits]\n{pmu}event = sysfs:page_faults\nscale = 64/9\nsource = s\n"
        "confidence = low\n[flits/minor]\npmu = uncore_standin_0\nevent = sysfs:minor_faults\nbytes = 8\n")
    with serve(platform) as daemon:
        text = daemon.text("info", "--explain", "energy")
        within(text, "energy, in nJ", "is   1953125/8388608 nJ x each count of sysfs:page_faults")
        within(daemon.text("info", "--explain", "flits"), "is   64/9 bytes x", "plus 8 bytes x")
        terms = daemon.metrics()["flits"]["terms"]
        equal([(t.get("bytes"), t.get("scale")) for t in terms], [(None, "64/9"), (8, None)], "terms")
        daemon.touch()
        with open(open_event(0, PAGE_FAULTS), "rb", buffering=0) as kernel:
            values = daemon.stat_of_pages()
            most = int.from_bytes(kernel.read(8), sys.byteorder)
        faults = values["faults"]["value"]
        assert PAGES <= faults <= most, (PAGES, faults, most)
        equal(values["faults"]["unit"], "count", "unit")
        equal(values["dram.read"]["bytes"], faults * 4096, "bytes")
        equal(values["energy"]["unit"], "nJ", "unit")
        # Both ends of the difference are rounded down.
        assert abs(values["energy"]["value"] - faults * 1000000000 / 4294967296) <= 1, values
        assert 64 * faults / 9 <= values["flits"]["bytes"] + 1 <= 64 * faults / 9 + 8 * faults + 2, values


def rounds_energy():
    """energy is absent while only bytes are rounded, and with quantum.energy a multiple of that"""
    platform = HEAD + metric("dram.read") + metric("energy", size=700000, more="unit = nJ\n")
    with serve(platform, "[disclosure]\nquantum = 4096\n") as daemon:
        state = daemon.metrics()["energy"]["sockets"][0]
        within(state["why"], "rounds values down to multiples of some bytes")
        assert "absent" in state["quality"], state
        (daemon.folder / "conf").write_text("[disclosure]\nquantum = 8192\nquantum.energy = 1000000\n", encoding="ascii")
        daemon.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + SECONDS
        while "absent" in daemon.metrics()["energy"]["sockets"][0]["quality"]:
            assert time.monotonic() < deadline, "it is still absent"
            time.sleep(0.05)
        values = daemon.stat_of_pages()
        assert values["energy"]["value"] > 0 and values["dram.read"]["bytes"] > 0, values
        equal(values["energy"]["value"] % 1000000, 0, "remainder")
        equal(values["dram.read"]["bytes"] % 8192, 0, "remainder of bytes")
        within(" ".join(daemon.text("info", "-v").split()), "quantum_energy 1000000",
               "multiples of 8192 bytes. Energy is rounded down to multiples of 1000000 nJ.")
    with serve(platform, "[disclosure]\nquantum.energy = 1000000\n") as daemon:
        values = daemon.stat_of_pages()
        assert values["energy"]["value"] > 0, values
        equal(values["energy"]["value"] % 1000000, 0, "remainder without a quantum of bytes")


def lists_platforms():
    """--platforms lists every platform file with sources, confidence and absent metrics"""
    doubts = "uncalibrated = Nobody knows.\nuncalibrated_if_divided = Nor there.\n"
    with serve(HEAD + metric("dram.read", more=doubts)
               + "[itom]\nabsent = No such event.\n") as daemon:
        (daemon.folder / "platforms/other.conf").write_text(
            "[platform]\ntitle = Another\nvendor = Other\nunsupported = It cannot count.\n",
            encoding="ascii")
        equal(daemon.text("info", "--platforms").split("\n\n"), [
            "made: Made for a test\n"
            "  dram.read         low     uncalibrated; source of dram.read\n"
            "                            uncalibrated: Nobody knows.\n"
            "                            uncalibrated if sockets have several NUMA nodes: Nor there.\n"
            "  itom              absent  No such event.",
            "other: Another\n  unsupported: It cannot count.", ""], "the list")
        equal([p["name"] for p in json.loads(daemon.text("info", "--platforms", "--json"))],
              ["made", "other"], "the names")


def tells_of_broken_files():
    """--platforms names a file that has been broken since the start"""
    with serve(HEAD + metric("dram.read")) as daemon:
        (daemon.folder / "platforms/zz.conf").write_text("junk\n", encoding="ascii")
        done = daemon.uncore("info", "--platforms")
        equal(done.returncode, 1, "status")
        within(done.stdout, "zz.conf:1:")


def calibrates():
    """[calibration] says what a count is worth, and clears the flag"""
    platform = HEAD + metric("dram.read", more="uncalibrated = yes\n") + metric(
        "dram.write", more="uncalibrated = yes\n")
    with serve(platform, "[calibration]\ndram.read = 8192\n") as daemon:
        daemon.touch()
        metrics = daemon.metrics()
        equal(metrics["dram.read"]["terms"][0]["bytes"], 8192, "bytes")
        assert metrics["dram.read"]["calibrated"]
        equal(metrics["dram.read"]["sockets"][0]["quality"], ["standin"], "quality")
        equal(metrics["dram.write"]["sockets"][0]["quality"], ["uncalibrated", "standin"],
              "quality of the other")
        stat = json.loads(daemon.text("stat", "--json", "true"))["sockets"][0]["metrics"]
        equal(stat["dram.read"]["bytes"], 2 * stat["dram.write"]["bytes"], "bytes")


def tells_of_disputes():
    """where the kernel's alias is another event than the file's code, the file's is counted, and both are told"""
    platform = HEAD + metric("dram.read", "sysfs:page_faults | raw:event=0x5")
    dispute = "this kernel's sysfs:page_faults is 0x2, but raw:event=0x5 is 0x5, which is counted"
    with serve(platform) as daemon:
        state = daemon.metrics()["dram.read"]["sockets"][0]
        equal((state["quality"], state["why"]), (["uncalibrated", "standin"], dispute), "the first socket")
        within(" ".join(daemon.text("info").split()), dispute)
    within(daemon.log, f"dram.read is uncalibrated: {dispute}.")
    with serve(platform, "[calibration]\ndram.read = 4096\n") as daemon:
        equal(daemon.metrics()["dram.read"]["sockets"][0]["quality"], ["standin"], "quality where the site measured it")
    assert "is uncalibrated" not in daemon.log, daemon.log


def refuses_what_the_kernel_denies():
    """[calibration] that contradicts the kernel's own scale is refused, check or no check"""
    platform = HEAD + metric("dram.read", "sysfs:scaled") + metric("check.dram.read")
    with serve(platform, "[calibration]\ndram.read = 8192\n") as daemon:
        within(daemon.text("info"), "[calibration] says that a count of dram.read is worth",
               "its .scale and .unit say 4096 bytes")
        equal(daemon.uncore("stat", "true").returncode, 125, "status")


def chooses():
    """a file with 17 metrics is refused with the key that chooses; with it 16 are served"""
    platform = HEAD + "".join(f"[m{i}]\nabsent = Not here.\n" for i in range(16)) + metric("dram.read")
    with serve(platform) as daemon:
        within(daemon.text("info"), "has 17 metrics", "serves at most 16", "disable in [metrics]", "dram.read")
        equal(daemon.uncore("stat", "true").returncode, 125, "status")
    with serve(platform, "[metrics]\ndisable = m3\n") as daemon:
        touch = [BUILD / "tests/workload/touch-pages", str(PAGES), "0"]
        text = daemon.text("stat", "--json", "--", *touch)  # the program prints a line, too
        stat = json.loads(text[text.index("{"):])["sockets"][0]["metrics"]
        equal(list(stat), [f"m{i}" for i in range(16) if i != 3] + ["dram.read"], "metrics")
        assert stat["dram.read"]["bytes"] >= PAGES * 4096, stat
    within(daemon.log, "disable in [metrics] of uncored.conf: m3.")
    with serve(platform, "[metrics]\ndisable = dram.read m16\n") as daemon:
        within(daemon.text("info"), "names m16, which platform made does not have")


def enables():
    """an opt-in metric is counted only where the site enables it; a glob may match nothing"""
    platform = HEAD + metric("dram.read") + metric("remote.in.read", more="opt_in = yes\n")
    with serve(platform) as daemon:
        equal(list(daemon.metrics()), ["dram.read"], "metrics")
    within(daemon.log, "Counted only if enable in [metrics] of uncored.conf names them: remote.in.read.")
    with serve(platform, "[metrics]\nenable = link.* remote.in.read\n") as daemon:
        equal(list(daemon.metrics()), ["dram.read", "remote.in.read"], "metrics")
        daemon.touch()
        stat = json.loads(daemon.text("stat", "--json", "true"))["sockets"][0]["metrics"]
        equal(stat["remote.in.read"]["bytes"], stat["dram.read"]["bytes"], "the same event")
    with serve(platform, "[metrics]\nenable = link.out\n") as daemon:
        within(daemon.text("info"), "enable in [metrics] names link.out, which platform made does not have")


def compares():
    """a metric and its check are compared, once enough was counted; they may disagree"""
    platform = HEAD + metric("dram.read") + metric("check.dram.read", "sysfs:minor_faults", 8192)
    platform += metric("dram.write") + metric("check.dram.write", "sysfs:minor_faults")
    with serve(platform) as daemon:
        daemon.touch()
        text = daemon.text("info", "-v")
        ratio = daemon.metrics()["dram.read"]["sockets"][0]["check_ratio"]
        assert 0.49 < ratio < 0.51, ratio
        within(text, f", {ratio:.3f} times what its check counts: THE TWO DISAGREE")
        ratio = daemon.metrics()["dram.write"]["sockets"][0]["check_ratio"]
        assert 0.98 < ratio < 1.02, ratio
        assert "check." not in daemon.text("stat", "true")
        within(daemon.text("stat", "--json", "true"), "check.dram.read")


def compares_with_nothing():
    """a check that stands at 0 while its metric counts is told"""
    platform = HEAD + metric("dram.read") + metric("check.dram.read", "raw:event=0x6")
    with serve(platform) as daemon:
        daemon.touch()
        within(daemon.text("info", "-v"), "THE TWO DISAGREE")


def tells_where_values_are_from():
    """--check --json names file and line of each value, of the last file that has it"""
    with tempfile.TemporaryDirectory(prefix="uncored-check-") as name:
        folder = pathlib.Path(name)
        (folder / "conf.d").mkdir()
        (folder / "conf").write_text("[reader]\nburst_ms = 50\nbudget_percent = 5\n", encoding="ascii")
        (folder / "conf.d/10.conf").write_text("[reader]\n\nbudget_percent = 7\n", encoding="ascii")
        done = subprocess.run([BUILD / "daemon/uncored", "--check", "--json", "--platforms", SOURCE / "conf/platforms",
                               "--root", BUILD / "tests/machines/standin", "--config", folder / "conf"], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=SECONDS)
        found = {value["key"]: [value[key] for key in ("section", "value", "file", "line")]
                 for value in json.loads(done.stdout)["configured"]}
        equal(found, {"burst_ms": ["reader", "50", f"{folder}/conf", 2],
                      "budget_percent": ["reader", "7", f"{folder}/conf.d/10.conf", 3]}, "values")


def says_the_map_of_nodes():
    """the map of NUMA nodes is in the report; one that is not a map is refused"""
    with serve(HEAD + "nodes = imc0 imc2 | imc4\n" + metric("dram.read")) as daemon:
        equal(json.loads(daemon.text("info", "--json"))["nodes"], "imc0 imc2 | imc4", "nodes")
    for wrong in ("IMC0 | imc1", "imc0 imc1", "imc0, imc1 | imc2"):
        with serve(HEAD + f"nodes = {wrong}\n" + metric("dram.read")) as daemon:
            within(daemon.text("info"), f"nodes = {wrong}: must be the channels of each NUMA node")


def counts_a_check_instead():
    """where the kernel refuses a metric's counters, those of its check are counted and said to be"""
    platform = HEAD + metric("dram.read", "raw:event=0x1", 64, "uncore_refused_[0-9]*")
    platform += metric("check.dram.read", size=8192, more="uncalibrated = yes\n")
    with serve(platform) as daemon:
        daemon.touch()
        state = daemon.metrics()["dram.read"]["sockets"][0]
        equal(state["taken_from"], "check.dram.read", "taken_from")
        equal(state["quality"], ["uncalibrated", "standin"], "quality")
        within(state["why"], "the kernel refused to open 1 of 1 boxes")
        stat = json.loads(daemon.text("stat", "--json", "true"))["sockets"][0]["metrics"]
        equal(stat["dram.read"], stat["check.dram.read"], "figures")
        equal(stat["dram.read"]["bytes"] % 8192, 0, "remainder")
        text = daemon.text("info", "--explain", "dram.read")
        within(text, "counted by check.dram.read in its place", "is   8192 bytes x each count of",
               "source: source of check.dram.read")


CASES = [explains, counts_in_other_units, rounds_energy, lists_platforms, tells_of_broken_files, calibrates, chooses, enables,
         tells_of_disputes, refuses_what_the_kernel_denies, compares, compares_with_nothing, counts_a_check_instead,
         tells_where_values_are_from, says_the_map_of_nodes]


if os.geteuid() == 0:
    tap.run_functions([(case.__doc__, case) for case in CASES])
print("1..0 # SKIP it opens counters, which needs root")
