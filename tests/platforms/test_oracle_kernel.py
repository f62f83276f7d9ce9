# SPDX-License-Identifier: BSD-3-Clause
"""uncored counts by the words, on the PMUs and at the bytes per count of the kernel's own tables."""
import functools
import json
import re

import kernel_events
import oracle
import plan
import tap

# Where the kernel's tables and uncored count a metric by different events, and why.
DIFFERENCES = {
    ("x86/icelakex", "pmm.read"): "uncored takes the free-running counters of the same requests:"
                                  " nobody can take them away, and CAS_COUNT and this fill the box",
    ("x86/icelakex", "pmm.write"): "as pmm.read",
    ("x86/sapphirerapids", "pmm.read"): "uncored leaves it out and says so: its events would take all"
                                        " counters of the box that are left",
    ("x86/sapphirerapids", "pmm.write"): "as pmm.read",
    ("x86/emeraldrapids", "pmm.read"): "copied from Sapphire Rapids: the CPU takes no such modules",
    ("x86/emeraldrapids", "pmm.write"): "as pmm.read",
    ("x86/skylakex", "pcie.read"): "uncored counts all ports of a stack by one event, whose mask has the bits of all",
    ("x86/skylakex", "pcie.write"): "as pcie.read",
    ("x86/cascadelakex", "pcie.read"): "as pcie.read",
    ("x86/cascadelakex", "pcie.write"): "as pcie.read",
    ("x86/icelakex", "pcie.read"): "as pcie.read",
}

# Metrics that the tables have nothing on, so that only the platform file and the machine say it. The table of Zen 5's data
# fabric is newer than these, and those of Granite Rapids and Sierra Forest leave the free-running counters out.
WITHOUT_TABLE = {"check.dram.read", "check.dram.write", "energy.package", "energy.dram"}
WITHOUT_SOME_TABLE = {("x86/amdzen5", "link.out"), ("x86/amdzen5", "link.in"), ("x86/graniterapids", "pcie.write"),
                      ("x86/sierraforest", "pcie.write")}

# The last line of perf's mapfile for family 0x19 takes it for Zen 4; the kernel and likwid say Zen 3.
TAKEN_FOR_ANOTHER = {"zen3-trento": "x86/amdzen3"}

with open(plan.SOURCE / "tests/platforms/kernel-events.json", encoding="utf-8") as file:
    TABLES = json.load(file)["tables"]


def table_of(machine):
    """The first table whose pattern fits, as perf chooses; most patterns leave the stepping out."""
    cpuid = "" if machine.name in TAKEN_FOR_ANOTHER else oracle.cpuid(machine.cpu)
    for table in TABLES:
        if table["folder"] == TAKEN_FOR_ANOTHER.get(machine.name):
            return table
        if "models" in table and re.fullmatch(table["models"] + r"(-[0-9A-F]+)?", cpuid):
            return table
        if "cpu" in table and re.match(table["cpu"] + r"\b", machine.cpu.get("cpu", "")):
            return table
    return None


def resolve(machine, table, event):
    """{pmu: word}, or None; PMUs that the machine does not have are left out."""
    entry = table["events"].get(event)
    if not entry:
        return None
    words = {}
    for pmu in oracle.pmus_of(machine, kernel_events.PMUS[entry["unit"]]):
        try:
            words[pmu] = plan.encode(machine.root, pmu, plan.parse_terms(entry["terms"]))
        except (AssertionError, OSError, ValueError):
            pass  # no such field, or too narrow a one: then uncored must not count it here either
    return words


def check_words(comparison, machine, table):
    for metric, ways in kernel_events.METRICS[table["folder"]].items():
        comparison.metric(machine, table["folder"], metric, ways,
                          functools.partial(resolve, machine, table))
    known = set(kernel_events.METRICS[table["folder"]])
    for metric in {event["metric"] for socket in machine.plan["sockets"]
                   for box in socket["boxes"] for event in box["events"]} - known:
        tap.check(metric in WITHOUT_TABLE or (table["folder"], metric) in WITHOUT_SOME_TABLE,
                  f"{machine.name}: {metric} is compared with nothing: add it to kernel_events.py")


def check_bytes(machine, table):
    for metric, ways in kernel_events.METRICS[table["folder"]].items():
        stated = {table["bytes"].get(event.lstrip("-")) for way in ways for event in way} - {None}
        for socket in plan.uses(machine.plan, metric):
            for pmu, uses in socket.items():
                for use in uses:
                    tap.check(not stated or use.bytes in stated,
                              f"{machine.name}: {metric} on {pmu}: {use.bytes} bytes a count,"
                              f" the kernel's tables say {stated}")


def scale_of(event):
    path = event.with_name(event.name + ".scale")
    return float(path.read_text(encoding="ascii")) if path.exists() else 1


def aliases_of(machine, alias):
    return list((machine.root / "sys/devices").glob(f"nest_*/events/{alias}"))


def check_power(machine, table):
    """Compares events by their names. perf's numbers are per scaled count, but POWER10's are per raw count."""
    for alias, value in table["aliases"].items():
        for event in aliases_of(machine, alias):
            pmu = event.parent.parent.name
            word = plan.encode(machine.root, pmu,
                               plan.parse_terms(event.read_text(encoding="ascii")))
            want = value * (scale_of(event) if table["cpu"] == "POWER9" else 1)
            verb = "read" if "_RD_" in alias else "write"
            found = [use for name in (f"dram.{verb}", f"check.dram.{verb}")
                     for socket in plan.uses(machine.plan, name)
                     for use in socket.get(pmu, []) if use.word == word]
            tap.check(found or "-broken" in machine.name,
                      f"{machine.name}: {alias} of {pmu} ({word[0]:#x}) is not counted")
            for use in found:
                tap.check(abs(use.bytes / want - 1) < 0.055,
                          f"{machine.name}: {alias} is taken for {use.bytes} bytes, perf says {want}")


def main():
    comparison = oracle.Comparison("the kernel's tables", DIFFERENCES)
    cases, seen = [], set()
    for machine in oracle.machines():
        table = table_of(machine)
        if not table:
            continue
        if "aliases" in table and not any(aliases_of(machine, alias) for alias in table["aliases"]):
            continue
        seen.add(table["folder"])
        name = f"{machine.name} counts as {table['folder']} of the kernel's tables says"
        if "aliases" in table:
            cases.append((name, functools.partial(check_power, machine, table)))
            continue
        cases += [(name, functools.partial(check_words, comparison, machine, table)),
                  (f"{machine.name} takes a count for as many bytes as {table['folder']} says",
                   functools.partial(check_bytes, machine, table))]

    def check_rows():
        for table in TABLES:
            tap.check(table["folder"] in seen, f"no test machine is of {table['folder']}")
        comparison.check_rows((folder, metric, {way})
                              for folder, metrics in kernel_events.METRICS.items()
                              for metric, ways in metrics.items() for way in range(len(ways)))

    tap.run_functions(cases + [("each metric of the kernel's tables was compared on some machine", check_rows)])


main()
