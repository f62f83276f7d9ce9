#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every shipped platform file on every machine, against the facts of events.csv.

usage: test_platforms.py EVENTS.csv MACHINES PLATFORMS TREES UNCORED

EVENTS.csv is not made from uncored's output: it is a second opinion. Its columns:

platform, machines   the file that must be recognised on each of these machines
metric               "-": the platform is unsupported, and `why` is its sentence
socket               "*": all sockets
cpus                 where boxes are opened, one of each die: "0+2/4+6" is socket 0, socket 1
terms                PMU=CONFIG or PMU=CONFIG/CONFIG1/CONFIG2, added (+) or subtracted (-). {0..7} makes many PMUs of one,
                     {a,b,..} gives each of these its own CONFIG. All other words of the event are 0. PMU@2 is
                     opened on CPU 2 and not on `cpus`
bytes, channel       of one count, or what else the unit is, maybe a fraction like 64/9; name of the memory channels
via                  which kind of alternative is taken; "PMU=KIND" where one PMU differs, "KIND,KIND"
                     if its terms do
quality              uncalibrated, partial, absent; check: counted by the check of the metric; disputed: the
                     kernel's alias is another code, so it is uncalibrated, too
why                  the sentence of partial, absent and check; "..." at its end stands for anything. That of
                     uncalibrated is the platform file's, and stands here only if it has two
source               where the row is known from

Metrics that a site must enable are enabled where they have rows, and each has rows on one machine at least.

A platform, metric, machine or socket without a row fails, and so does a machine that two files match, and a row that is
compared with nothing. The machines of standin and simulated have as many CPUs as this computer; the suites that run on
them test them.
"""
import configparser
import csv
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STANDARD = ["dram.read", "dram.write", "hbm.read", "hbm.write", "pmm.read", "pmm.write", "itom",
            "specitom"]
STANDINS = ("standin", "simulated")
# Nothing in proc/cpuinfo tells this one from power9.
BY_NAME = {"power9-cumulus"}

# The confidence where it is not "high": inferred scales and names, sources that disagree, counters that no source has
# validated.
LESS_SURE = {
    "altra": {"dram.read": "medium", "dram.write": "medium"},
    "ampereone": {"dram.read": "low", "dram.write": "low"},
    "cascade-lake": {"pmm.read": "medium", "pmm.write": "medium"},
    "grace": {"dram.read": "medium", "dram.write": "medium"},
    "grand-ridge": {"dram.read": "medium", "dram.write": "medium"},
    "intel-client": {"dram.write": "medium"},
    "intel-core-ultra": {"dram.read": "low", "dram.write": "low"},
    "kunpeng920": {"dram.read": "medium", "dram.write": "medium"},
    "thunderx2": {"dram.read": "medium", "dram.write": "medium"},
    "yitian710": {"dram.read": "medium", "dram.write": "medium"},
    "icelake-sp": {"pmm.read": "medium", "pmm.write": "medium", "check.dram.read": "medium",
                   "check.dram.write": "medium"},
    "clearwater-forest": {"dram.read": "medium", "dram.write": "medium"},
    "grace-hopper": {"dram.read": "medium", "dram.write": "medium"},
    "vera": dict.fromkeys(("dram.read", "dram.write", "remote.in.read", "remote.in.write", "remote.out.read",
                           "remote.out.write", "pcie.read", "pcie.write"), "low"),
    "zen4": {"link.out": "low"},
    "zen5": {"link.in": "low", "link.out": "low"},
    "zen6": {"dram.read": "medium", "dram.write": "medium"},
    "knl-cache": {"hbm.read": "medium", "hbm.write": "medium"},
    "power10": {"dram.read": "medium", "dram.write": "medium", "check.dram.read": "low",
                "check.dram.write": "low"},
    "power9": {"dram.read": "medium", "dram.write": "medium", "check.dram.read": "medium",
               "check.dram.write": "medium"},
    "power9-cumulus": {"dram.read": "low", "dram.write": "low"},
    "sapphire-rapids": {"hbm.read": "low", "hbm.write": "low"},
    "sierra-forest": {"dram.read": "medium", "dram.write": "medium"},
    "zen2": {"dram.total": "low"},
    "zen3": {"dram.total": "low"},
}
# Words of which a source has at least one.
SOURCE = re.compile(r"linux|perfmon|likwid|ima-catalog|perf pmu-events|libpfm4|EAR|occ|inferred")
# Firmware may stop these (OCC's 24x7 engine), so a clock watches them: (event, most ms between steps).
CLOCKS = {"power9": ("sysfs:PM_MBA{n}_CLK_CYC", "20"),
          "power9-cumulus": ("sysfs:PM_CEN{n}_PORT0_DRAM_CLK_CYC", "20"),
          # Others may stop these (linux-6.12 drivers/perf/alibaba_uncore_drw_pmu.c, ali_drw_pmu_stop).
          "yitian710": ("sysfs:cycle | raw:event=0x80", "10")}
# These saturate (linux-6.12 arch/x86/events/amd/uncore.c:920): 2^47 transfers at 6e8 a second are 65 h.
SWEEPS = {"zen4": "36000", "zen5": "36000", "zen6": "36000"}

# Where a range of models ends: (vendor, family, model, stepping) and the file, None for no file. AMD:
# linux-6.12 arch/x86/kernel/cpu/amd.c and tools/perf/pmu-events/arch/x86/mapfile.csv.
INTEL, AMD = "GenuineIntel", "AuthenticAMD"
BORDERS = [
    ((INTEL, 6, 0x55, 0), "skylake-sp"), ((INTEL, 6, 0x55, 4), "skylake-sp"),
    ((INTEL, 6, 0x55, 5), "cascade-lake"), ((INTEL, 6, 0x55, 15), "cascade-lake"),
    ((INTEL, 6, 0x56, 2), "broadwell-ep"), ((INTEL, 6, 0x6a, 6), "icelake-sp"),
    ((INTEL, 6, 0x6c, 1), "icelake-sp"), ((INTEL, 6, 0x85, 0), "knl-cache"),
    ((INTEL, 6, 0xcf, 2), "sapphire-rapids"), ((INTEL, 6, 0xae, 1), "granite-rapids"),
    ((INTEL, 6, 0x2a, 7), "intel-client-old"), ((INTEL, 6, 0xa7, 1), "intel-client-old"),
    ((INTEL, 6, 0x7e, 5), "intel-client-old"), ((INTEL, 6, 0x8c, 1), "intel-client"),
    ((INTEL, 6, 0xbe, 0), "intel-client"), ((INTEL, 6, 0xbf, 2), "intel-client"),
    ((INTEL, 6, 0xaa, 4), "intel-core-ultra"), ((INTEL, 6, 0xb5, 0), "intel-core-ultra"),
    ((INTEL, 6, 0xcc, 1), "intel-core-ultra"), ((INTEL, 6, 0x9d, 0), None),
    ((INTEL, 6, 0x2d, 7), "sandybridge-ep"), ((INTEL, 6, 0x3e, 4), "sandybridge-ep"),
    ((INTEL, 6, 0x2e, 6), None), ((INTEL, 15, 0x55, 4), None),
    ((AMD, 0x17, 0x2f, 0), None), ((AMD, 0x17, 0x30, 0), "zen2"), ((AMD, 0x17, 0x3f, 0), "zen2"),
    ((AMD, 0x17, 0x40, 0), None), ((AMD, 0x17, 0x4f, 0), None), ((AMD, 0x17, 0x50, 0), None),
    ((AMD, 0x17, 0x60, 0), None), ((AMD, 0x17, 0x7f, 0), None), ((AMD, 0x17, 0x80, 0), None),
    ((AMD, 0x17, 0x8f, 0), None), ((AMD, 0x17, 0x90, 0), None), ((AMD, 0x17, 0x91, 0), None),
    ((AMD, 0x17, 0x92, 0), None), ((AMD, 0x17, 0xa0, 0), None), ((AMD, 0x17, 0xaf, 0), None),
    ((AMD, 0x19, 0x00, 0), "zen3"), ((AMD, 0x19, 0x0f, 0), "zen3"),
    ((AMD, 0x19, 0x10, 0), "zen4"), ((AMD, 0x19, 0x1f, 0), "zen4"), ((AMD, 0x19, 0x20, 0), None),
    ((AMD, 0x19, 0x2f, 0), None), ((AMD, 0x19, 0x30, 1), "zen3"), ((AMD, 0x19, 0x3f, 1), "zen3"),
    ((AMD, 0x19, 0x40, 0), None), ((AMD, 0x19, 0x5f, 0), None),
    ((AMD, 0x19, 0x60, 0), "zen4"), ((AMD, 0x19, 0x8f, 0), "zen4"), ((AMD, 0x19, 0x90, 0), None),
    ((AMD, 0x19, 0x9f, 0), None), ((AMD, 0x19, 0xa0, 0), "zen4"), ((AMD, 0x19, 0xaf, 0), "zen4"),
    ((AMD, 0x19, 0xb0, 0), None),
    ((AMD, 0x1a, 0x00, 0), "zen5"), ((AMD, 0x1a, 0x2f, 0), "zen5"), ((AMD, 0x1a, 0x30, 0), None),
    ((AMD, 0x1a, 0x4f, 0), "zen5"), ((AMD, 0x1a, 0x50, 0), "zen6"), ((AMD, 0x1a, 0x5f, 0), "zen6"),
    ((AMD, 0x1a, 0x60, 0), "zen5"), ((AMD, 0x1a, 0x7f, 0), "zen5"), ((AMD, 0x1a, 0x80, 0), "zen6"),
    ((AMD, 0x1a, 0xaf, 0), "zen6"), ((AMD, 0x1a, 0xb0, 0), None), ((AMD, 0x1a, 0xc0, 0), "zen6"),
    ((AMD, 0x1a, 0xcf, 0), "zen6"), ((AMD, 0x1a, 0xd0, 0), "zen5"), ((AMD, 0x1a, 0xd7, 0), "zen5"),
    ((AMD, 0x1a, 0xd8, 0), "zen6"), ((AMD, 0x1a, 0xef, 0), "zen6"), ((AMD, 0x1a, 0xf0, 0), None),
    ((INTEL, 6, 0xdd, 0), "clearwater-forest"),
]

# Files of a tree that become FIFOs, one at a time.
FIFOS = ["proc/cpuinfo", "sys/devices/system/cpu/online", "sys/devices/system/cpu/cpu0/topology/core_id",
         "sys/devices/system/node/has_cpu", "sys/devices/system/node/node0/cpumap",
         "sys/devices/uncore_imc_0/type", "sys/devices/uncore_imc_0/cpumask",
         "sys/devices/uncore_imc_0/format/event", "sys/devices/uncore_imc_0/events/cas_count_read"]

failures = []


def check(ok, text):
    if not ok:
        failures.append(text)
    return ok


# --- events.csv ---


def load_rows(path):
    with open(path, encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows, 2):
        row["line"] = number
        row["used"] = False
        row["quality"] = row["quality"].split()
        row["machines"] = row["machines"].split()
    return rows


def spread(text, count):
    """"{0..2}" or "{a,b,c}" in a text: one text for each."""
    span = re.search(r"{(\d+)\.\.(\d+)}", text)
    many = re.search(r"{([^}]*)}", text)
    if span:
        parts = [str(n) for n in range(int(span[1]), int(span[2]) + 1)]
    elif many:
        parts = many[1].split(",")
    else:
        return [text] * (count or 1)
    if count and len(parts) != count:
        raise ValueError(f"{text} is not for {count} PMUs")
    return [text.replace(many[0], part) for part in parts]


def expand_terms(terms, worth):
    """[(pmu, cpus, (config, config1, config2), bytes, subtracted)] of a whole column; cpus "": those of the row; bytes of
    each or all terms."""
    found = []
    terms = re.findall(r"(^|\+ |- )(\S+)", terms)
    worth = worth.split()
    for (sign, term), count in zip(terms, worth if len(worth) > 1 else worth * len(terms)):
        names, configs = term.split("=")
        names, _, cpu = names.partition("@")
        pmus = spread(names, 0)
        for pmu, config in zip(pmus, spread(configs, len(pmus))):
            words = [int(word, 16) for word in config.split("/")]
            found.append((pmu, cpu, tuple((words + [0, 0])[:3]), count, sign == "- "))
    return found


def kinds_of(row, pmu):
    """The kinds ("sysfs", "raw", "pfm") of alternatives that must find the events of this PMU."""
    words = row["via"].split()
    special = {w.partition("=")[0]: w.partition("=")[2] for w in words if "=" in w}
    usual = [w for w in words if "=" not in w]
    return set((special.get(pmu) or (usual[0] if usual else "")).split(","))


def says(wanted, text):
    if wanted.endswith("..."):
        return text.startswith(wanted[:-3])
    return text == wanted


# --- platform files ---


def load_platforms(directory):
    platforms = {}
    for path in sorted(directory.glob("*.conf")):
        parser = configparser.ConfigParser(delimiters="=", comment_prefixes=("#", ";"),
                                           interpolation=None)
        parser.read_string(path.read_text(encoding="ascii"))
        platforms[path.stem] = {name: dict(parser[name]) for name in parser.sections()}
    return platforms


def metrics_of(platform):
    return [name for name in platform if name != "platform" and "/" not in name]


def opt_in(platform):
    return [name for name in metrics_of(platform) if platform[name].get("opt_in") == "yes"]


def numbers(text):
    found = set()
    for word in text.split():
        first, _, last = word.partition("-")
        found.update(range(int(first, 0), int(last or first, 0) + 1))
    return found


def may_both_match(one, other):
    """Is there a machine that both patterns fit? Globs of cpu both fit if one is the other's beginning."""
    lists = ("family", "model", "stepping", "implementer", "part", "cpuless_gib")
    if not any(key in one and key in other for key in ("vendor", "cpu", "implementer")):
        return False
    for key in ("vendor", "cpuless_node"):
        if key in one and key in other and one[key] != other[key]:
            return False
    for a, b in ((one, other), (other, one)):
        if a.get("with_pmu", "none") == b.get("without_pmu"):
            return False
        if a.get("cpuless_node") == "no" and "cpuless_gib" in b:
            return False
    for key in lists:
        if key in one and key in other and not numbers(one[key]) & numbers(other[key]):
            return False
    if "cpu" in one and "cpu" in other:
        a, b = one["cpu"].rstrip("*"), other["cpu"].rstrip("*")
        return a.startswith(b) if other["cpu"].endswith("*") else b.startswith(a)
    return True


def check_patterns(platforms):
    for (a, one), (b, other) in itertools.combinations(platforms.items(), 2):
        if not {a, b} & BY_NAME:
            check(not may_both_match(one["platform"], other["platform"]),
                  f"{a}.conf and {b}.conf can match one machine")


def check_metrics(platforms):
    """Each file has the metrics that users know, and names a source for each."""
    for name, platform in platforms.items():
        if "unsupported" in platform["platform"]:
            continue
        check(metrics_of(platform)[:len(STANDARD)] == STANDARD,
              f"{name}.conf does not begin with the metrics of uncore-platform(5)")
        for metric in metrics_of(platform):
            keys = platform[metric]
            if "absent" in keys:
                check(re.match(r"[A-Z].*\.$", keys["absent"]),
                      f"{name}.conf [{metric}]: \"{keys['absent']}\" is not a sentence")
                continue
            if name in STANDINS:
                continue
            usual = "medium" if metric.startswith(("remote.", "link.", "pcie.")) else "high"
            sure = LESS_SURE.get(name, {}).get(metric, usual)
            check(keys["confidence"] == sure, f"{name}.conf [{metric}]: confidence is not {sure}")
            check(SOURCE.search(keys["source"]), f"{name}.conf [{metric}] names no known source")
            clock = CLOCKS.get(name) if not metric.startswith("check.") else None
            check((keys.get("clock"), keys.get("clock_ms")) == (clock or (None, None)),
                  f"{name}.conf [{metric}]: its clock is not {clock}")
        check(platform["platform"].get("sweep_every_s") == SWEEPS.get(name),
              f"{name}.conf: sweep_every_s is not {SWEEPS.get(name)}")


# --- uncored ---


class Uncored:
    def __init__(self, binary, platforms):
        self.binary, self.platforms = binary, platforms

    def run(self, root, platform, enabled, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as config:
            if platform in BY_NAME:
                config.write(f"[platform]\nname = {platform}\n")
            config.write(f"[metrics]\nenable = {' '.join(enabled)}\n")
            config.flush()
            return subprocess.run([self.binary, "--check", "--config", config.name, "--platforms",
                                   self.platforms, "--root", root, *options], text=True,
                                  capture_output=True, timeout=20, check=False)

    def plan(self, root, platform=None, enabled=()):
        """The plan as JSON, and the reasons why a metric is not whole: {socket: {metric: reason}}."""
        result = self.run(root, platform, enabled, "--json")
        if not result.stdout:
            check(result.returncode in (1, 3), f"no plan, and status {result.returncode}")
            return None, result.stderr
        plan = json.loads(result.stdout)
        check(result.returncode == (0 if plan["serves"] else 3), f"status {result.returncode} with {plan['serves']}")
        plan["uncalibrated"] = {(served["socket"], served["metric"]) for served in plan["serves"]
                                if "uncalibrated" in served["quality"]}
        plan["partial"] = {socket["socket"]: {} for socket in plan["sockets"]}
        for served in plan["serves"]:
            check(0 < served["boxes"] <= served["expected"], f"boxes of {served}")
            if "why" in served:
                plan["partial"][served["socket"]][served["metric"]] = served["why"]
        return plan, result.stderr


def events_of(plan, socket, metric):
    """[(pmu, cpu, (config, config1, config2), bytes, subtracted)] and {pmu: kinds}."""
    events, kinds = [], {}
    for box in plan["sockets"][socket]["boxes"]:
        for event in box["events"]:
            if event["metric"] != metric:
                continue
            words = tuple(int(event.get(word, "0"), 16) for word in ("config", "config1", "config2"))
            events.append((box["pmu"], box["cpu"], words, str(event.get("scale", event.get("bytes"))),
                           event.get("subtract", False)))
            kinds.setdefault(box["pmu"], set()).add(event["via"].partition(":")[0])
    return sorted(events), kinds


def absent_because(plan, socket, metric):
    for entry in plan["absent"]:
        if entry["metric"] == metric and entry.get("socket", socket) == socket:
            return entry["why"]
    return None


# --- comparing ---


def wanted_events(row, socket):
    cpus = row["cpus"].split("/")[socket]
    return sorted((pmu, int(cpu), words, count, subtracted)
                  for pmu, own, words, count, subtracted in expand_terms(row["terms"], row["bytes"])
                  for cpu in (own or cpus).split("+"))


def doubts_of(keys):
    return [keys[key] for key in ("uncalibrated", "uncalibrated_if_divided") if key in keys]


def gives_reason(row, reason, keys):
    """Is it the row's, with a doubt of the file behind it if the value is uncalibrated?"""
    wanted = [row["why"]] if row["why"] else []
    if "uncalibrated" in row["quality"] and "check" not in row["quality"] and not row["why"].endswith("..."):
        wanted += ["; ".join(part for part in (row["why"], doubt) if part) for doubt in doubts_of(keys)]
    return any(says(text, reason) for text in wanted)


def compare_reasons(where, row, plan, socket, metric, keys):
    absent = absent_because(plan, socket, metric)
    partial = plan["partial"][socket].get(metric)
    if "absent" in row["quality"]:
        check(absent is not None, f"{where}: is not absent")
        check(absent is None or says(row["why"], absent),
              f"{where}: is absent because \"{absent}\", not \"{row['why']}\"")
        return
    check(absent is None, f"{where}: is absent because \"{absent}\"")
    check(bool(set(row["quality"]) & {"uncalibrated", "disputed"}) == ((socket, metric) in plan["uncalibrated"]),
          f"{where}: the plan's uncalibrated differs")
    if set(row["quality"]) & {"partial", "check", "disputed", "uncalibrated"}:
        check(partial is not None, f"{where}: is whole")
        check(partial is None or gives_reason(row, partial, keys),
              f"{where}: is partial or in doubt because \"{partial}\", not \"{row['why']}\"")
    else:
        check(partial is None, f"{where}: is partial because \"{partial}\"")
        check(not row["why"], f"{where}: has a reason that is compared with nothing")


def compare_file(where, row, keys):
    """Compares keys of the file that the plan does not print."""
    is_uncalibrated = "uncalibrated" in row["quality"]
    check((is_uncalibrated or "uncalibrated" not in keys) and (doubts_of(keys) or not is_uncalibrated) or
          "absent" in row["quality"], f"{where}: uncalibrated differs")
    if row["terms"]:
        check(keys.get("channel", "") == row["channel"], f"{where}: channel differs")


def compare(where, row, plan, socket, metric, keys):
    row["used"] = True
    if row["cpus"]:
        n_sockets = len(row["cpus"].split("/"))
        if not check(n_sockets == len(plan["sockets"]),
                     f"{where}: there are {len(plan['sockets'])} sockets, not {n_sockets}"):
            return
    compare_reasons(where, row, plan, socket, metric, keys)
    compare_file(where, row, keys)
    have, kinds = events_of(plan, socket, metric)
    want = wanted_events(row, socket) if row["terms"] else []
    for pmu, cpu, config, count, subtracted in sorted(set(want) ^ set(have)):
        whose = "missing" if (pmu, cpu, config, count, subtracted) in want else "too many"
        check(False, f"{where}: {whose}: {'-' if subtracted else ''}{pmu} on CPU {cpu}, "
                     f"{config[0]:#x} {config[1]:#x} x {count}")
    check(len(want) == len(have), f"{where}: {len(have)} events, not {len(want)}")
    check(want or set(row["quality"]) & {"absent", "check"}, f"{where}: the row has no terms")
    for pmu, kind in kinds.items():
        check(kind == kinds_of(row, pmu),
              f"{where}: {pmu} is found by {', '.join(sorted(kind))}, not {row['via']}")


def check_checks(where, plan, socket, metrics):
    """A metric that is counted by its check has boxes there."""
    for metric, row in metrics.items():
        if "check" in row["quality"]:
            check(events_of(plan, socket, f"check.{metric}")[0],
                  f"{where}: the check of {metric} has no boxes")


def check_machine(uncored, root, name, platform, rows, platforms):
    asleep = set(opt_in(platforms[platform])) - {row["metric"] for row in rows}
    plan, errors = uncored.plan(root, platform, set(opt_in(platforms[platform])) - asleep)
    if not check(plan, f"{name}: uncored says {errors.strip()}"):
        return
    check(plan["platform"] == platform, f"{name} is {plan['platform']}, not {platform}")
    known = metrics_of(platforms[platform])
    for socket in range(len(plan["sockets"])):
        found = {}
        for row in rows:
            if row["socket"] not in ("*", str(socket)):
                continue
            where = f"events.csv:{row['line']}: {name}, socket {socket}, {row['metric']}"
            check(row["metric"] not in found, f"{where}: there is a row before this one")
            found[row["metric"]] = row
            if check(row["metric"] in known, f"{where}: {platform}.conf has no such metric"):
                compare(where, row, plan, socket, row["metric"], platforms[platform][row["metric"]])
        for metric in set(known) - set(found) - asleep:
            check(False, f"events.csv has no row for {name}, socket {socket}, {metric}")
        check_checks(f"{name}, socket {socket}", plan, socket, found)


def check_unsupported(uncored, root, name, row, platforms):
    row["used"] = True
    plan, errors = uncored.plan(root)
    title = platforms[row["platform"]]["platform"]["title"]
    check(plan is None, f"{name} is not refused")
    check(f"This machine is {title}: {row['why']}" in errors, f"{name} is refused with {errors}")


def check_unknown(uncored, root):
    plan, errors = uncored.plan(root)
    check(plan is None and "No platform file in" in errors, f"unknown is refused with {errors}")


def check_machines(uncored, rows, machines, trees, platforms):
    check_unknown(uncored, trees / "unknown")
    for name in machines:
        of_machine = [row for row in rows if name in row["machines"]]
        check(of_machine, f"events.csv has no row for the machine {name}")
        for platform in sorted({row["platform"] for row in of_machine}):
            own = [row for row in of_machine if row["platform"] == platform]
            if not check(platform in platforms, f"there is no {platform}.conf"):
                continue
            if "unsupported" in own[0]["quality"]:
                check_unsupported(uncored, trees / name, name, own[0], platforms)
            else:
                check_machine(uncored, trees / name, name, platform, own, platforms)


def check_fifos(uncored, trees):
    """The kernel makes no FIFO, but a copied tree may have one, whose other end is never opened."""
    with tempfile.TemporaryDirectory() as directory:
        for name in FIFOS:
            root = pathlib.Path(directory) / name.replace("/", "-")
            shutil.copytree(trees / "broadwell-de", root, symlinks=True)
            (root / name).unlink()
            os.mkfifo(root / name)
            try:
                plan, errors = uncored.plan(root)
                check(plan or "no file" in errors or "regular" in errors or "be read" in errors,
                      f"{name} is a FIFO: uncored says {errors.strip()}")
            except subprocess.TimeoutExpired:
                check(False, f"uncored waits at {name}, which is a FIFO")


def check_borders(uncored, trees):
    """Checks borders of model ranges, with the tree of a small machine that claims to be another CPU."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        shutil.copytree(trees / "broadwell-de", root, symlinks=True, dirs_exist_ok=True)
        for (vendor, family, model, stepping), platform in BORDERS:
            (root / "proc/cpuinfo").write_text(
                f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\n"
                f"model\t\t: {model}\nstepping\t: {stepping}\n", encoding="ascii")
            plan, _ = uncored.plan(root)
            check((plan or {"platform": None})["platform"] == platform,
                  f"{vendor} {family:#x} {model:#x} {stepping} is "
                  f"{plan and plan['platform']}, not {platform}")


def main():
    events, machines, conf, trees, binary = map(pathlib.Path, sys.argv[1:])
    rows = load_rows(events)
    platforms = load_platforms(conf)
    names = sorted(path.stem for path in machines.glob("*.machine")
                   if not path.stem.startswith(STANDINS) and path.stem != "unknown")
    uncored = Uncored(binary, conf)
    check_patterns(platforms)
    check_metrics(platforms)
    check_machines(uncored, rows, names, trees, platforms)
    check_borders(uncored, trees)
    check_fifos(uncored, trees)
    for platform in set(platforms) - {row["platform"] for row in rows} - set(STANDINS):
        check(False, f"events.csv has no row for {platform}.conf")
    for name, platform in platforms.items():
        for metric in set(opt_in(platform)) - {row["metric"] for row in rows if row["platform"] == name}:
            check(False, f"events.csv has no row for {metric} of {name}.conf")
    for row in rows:
        check(row["used"], f"events.csv:{row['line']}: no machine was compared with this row")
        for name in set(row["machines"]) - set(names):
            check(False, f"events.csv:{row['line']}: there is no machine {name}")
    print(f"{len(rows)} rows, {len(names)} machines, {len(platforms)} platform files: "
          f"{len(failures)} differences")
    for failure in failures:
        print(failure)
    sys.exit(bool(failures))


main()
