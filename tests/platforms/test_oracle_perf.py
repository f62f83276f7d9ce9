# SPDX-License-Identifier: BSD-3-Clause
"""uncored counts by the same words, on the same PMUs, as `perf` does on the same machine.

It needs perf (Debian: linux-perf). perf carries the kernel's event tables; PERF_CPUID makes it take the tables of
another CPU, and SYSFS_PATH another machine's sysfs. perf then finds the PMUs, reads their format files and encodes, all
by itself. `perf stat -vv` says so before it opens the first event, and whether it can open it does not matter.
"""
import functools
import os
import re
import shutil
import subprocess

import kernel_events
import oracle
import plan
import tap

# Metrics that perf of Debian 12 (Linux 6.1) does not know, and why; a newer perf may know them.
UNKNOWN_TO_PERF = {
    "x86/knightslanding": ({"UNC_M_CAS_COUNT.RD", "UNC_M_CAS_COUNT.WR"},
                           "perf looks for uncore_imc_dclk, the kernel calls it uncore_imc"),
    "x86/sapphirerapids": ({"UNC_MCHBM_CAS_COUNT.RD", "UNC_MCHBM_CAS_COUNT.WR"},
                           "not in the tables of 6.1; later ones look for uncore_mchbm, which the"
                           " kernel calls uncore_hbm"),
}
NEWER_THAN_PERF = {"x86/emeraldrapids", "x86/graniterapids", "x86/sierraforest", "x86/grandridge",
                   "x86/amdzen4", "x86/amdzen5"}

# Where perf and uncored count a metric by different events, and why.
DIFFERENCES = {
    ("x86/icelakex", "pmm.read"): "as in test_oracle_kernel.py",
    ("x86/icelakex", "pmm.write"): "as in test_oracle_kernel.py",
    ("x86/sapphirerapids", "pmm.read"): "as in test_oracle_kernel.py",
    ("x86/sapphirerapids", "pmm.write"): "as in test_oracle_kernel.py",
}

# PCIe is left out: perf of Debian 12 counts each port by an event of its own, or has no event or a wrong one, and asking
# for so many takes most of the time. test_oracle_kernel.py compares it.
METRICS = {folder: {metric: ways for metric, ways in metrics.items() if not metric.startswith("pcie.")}
           for folder, metrics in kernel_events.METRICS.items()}

# CPUs by perf's names for them, and the tables that perf takes for each.
CPUS = [
    ("GenuineIntel-6-(57|85)", "x86/knightslanding"),
    ("GenuineIntel-6-3F", "x86/haswellx"),
    ("GenuineIntel-6-4F", "x86/broadwellx"),
    ("GenuineIntel-6-56", "x86/broadwellde"),
    ("GenuineIntel-6-55-[0-4]", "x86/skylakex"),
    ("GenuineIntel-6-55", "x86/cascadelakex"),
    ("GenuineIntel-6-6[AC]", "x86/icelakex"),
    ("GenuineIntel-6-8F", "x86/sapphirerapids"),
    ("GenuineIntel-6-CF", "x86/emeraldrapids"),
    ("GenuineIntel-6-A[DE]", "x86/graniterapids"),
    ("GenuineIntel-6-AF", "x86/sierraforest"),
    ("GenuineIntel-6-B6", "x86/grandridge"),
    ("AuthenticAMD-23", "x86/amdzen2"),
    ("AuthenticAMD-25-([245][0-9A-F]|[0-9A-F])-", "x86/amdzen3"),
    ("AuthenticAMD-25", "x86/amdzen4"),
    ("AuthenticAMD-26", "x86/amdzen5"),
]


def needed():
    if not shutil.which("perf"):
        raise tap.Skip("there is no perf: install linux-perf")


def perf(machine, events):
    environment = {**os.environ, "LC_ALL": "C", "PERF_CPUID": oracle.cpuid(machine.cpu),
                   "SYSFS_PATH": str(machine.root / "sys")}
    chosen = [word for event in events for word in ("-e", event)]
    result = subprocess.run(["perf", "stat", "-vv", "-a", *chosen, "--", "true"],
                            env=environment, capture_output=True, text=True, check=False)
    return result.stdout + result.stderr


def read_attributes(text, machine, events):
    """{event: {pmu: word}} of the events that perf tried to open; only of the first, if perf may open none."""
    names = {(path / "type").read_text(encoding="ascii").strip(): path.name
             for path in (machine.root / "sys/bus/event_source/devices").iterdir()
             if (path / "type").exists()}
    words = {event: {} for event in events}
    for block in text.split("perf_event_attr:")[1:]:
        fields = dict(re.findall(r"^  (type|config\d?)\s+(0x[0-9a-f]+|\d+)", block, re.MULTILINE))
        pmu = names.get(fields.get("type"))
        refused = re.search(r"^(\S+) event is not supported", block, re.MULTILINE)
        if pmu:
            words[refused[1] if refused else events[0]][pmu] = tuple(
                int(fields.get(name, "0"), 0) for name in ("config", "config1", "config2"))
    return words


def read_terms(text, machine, event):
    """{pmu: word} by the terms that perf prints."""
    terms = re.findall(rf"^{re.escape(event)} -> ([^/\n]+)/([^/\n]+)/", text, re.MULTILINE)
    return {pmu: plan.encode(machine.root, pmu, plan.parse_terms(words)) for pmu, words in terms}


def ask(machine, events):
    """{event: {pmu: word}}: by the terms that perf prints, or by its own encoding where it did one.

    perf ends at the first event that it does not know. Then it is asked for the others."""
    if not events:
        return {}
    text = perf(machine, events)
    unknown = re.search("event syntax error: '([^']+)'", text)
    if unknown:
        tap.check(unknown[1] in events, f"perf does not know {unknown[1]}, which it was not asked for:\n{text}")
        return ask(machine, [event for event in events if event != unknown[1]])
    encoded = read_attributes(text, machine, events)
    tap.check(encoded[events[0]], f"perf did not print the first event of {events[0]}:\n{text}")
    return {event: {**read_terms(text, machine, event), **encoded[event]} for event in events}


@functools.lru_cache(maxsize=None)
def known_events(machine_name, folder):
    """What perf says of all events of the folder, asked once for each machine."""
    events = {event.lstrip("-").lower() for ways in METRICS[folder].values()
              for way in ways for event in way}
    return ask(MACHINES[machine_name], sorted(events))


def may_be_unknown(folder, event):
    return folder in NEWER_THAN_PERF or event in UNKNOWN_TO_PERF.get(folder, [()])[0]


def resolve_or_explain(machine, folder, metric, event):
    """perf knows no event of a PMU that the machine does not have."""
    words = known_events(machine.name, folder).get(event.lower())
    tap.check(words is not None or may_be_unknown(folder, event)
              or not oracle.is_healthy(machine, metric),
              f"{machine.name}: perf does not know {event}")
    return words


def folder_of(machine):
    for models, folder in CPUS:
        if re.match(models, oracle.cpuid(machine.cpu)):
            return folder
    return None


def check_machine(comparison, machine, folder):
    needed()
    for metric, ways in METRICS[folder].items():
        comparison.metric(machine, folder, metric, ways,
                          functools.partial(resolve_or_explain, machine, folder, metric))


def check_rows(comparison, folders):
    needed()
    for folder in METRICS:
        tap.check(folder in folders, f"no test machine is of {folder}")
    comparison.check_rows(
        (folder, metric, {way}) for folder, metrics in METRICS.items()
        for metric, ways in metrics.items() for way, events in enumerate(ways)
        if not any(may_be_unknown(folder, event.lstrip("-")) for event in events))


# To perf, which reads no aliases here, kernel 6.15 is as 6.12.
MACHINES = {machine.name: machine for machine in oracle.machines()
            if "-broken" not in machine.name and not machine.name.endswith("-kernel615")}


def main():
    comparison = oracle.Comparison("perf", DIFFERENCES)
    cases, folders = [], set()
    for machine in MACHINES.values():
        folder = folder_of(machine)
        if folder:
            folders.add(folder)
            cases.append((f"{machine.name} counts as perf does",
                          functools.partial(check_machine, comparison, machine, folder)))
    tap.run_functions(cases + [("each metric that perf knows was compared on some machine",
                      functools.partial(check_rows, comparison, folders))])


main()
