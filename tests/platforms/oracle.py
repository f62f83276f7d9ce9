# SPDX-License-Identifier: BSD-3-Clause
"""Compares the events that uncored counts on the test machines with the events of an oracle, an independent source.

An oracle knows an event by name, and gives the word with which each PMU of a machine counts it. The comparison is
exact: the same PMUs, words and signs, and nothing besides.
"""
import collections
import re

import plan
import tap

# Test machines on which uncored counts nothing, although the CPU has such events, and why.
LEFT_OUT = {
    ("knl-hybrid", "hbm.read"): "no oracle knows in which mode a machine is",
    ("knl-hybrid", "hbm.write"): "no oracle knows in which mode a machine is",
}
Machine = collections.namedtuple("Machine", "name root plan cpu")


def cpu_facts(root):
    """The first processor of proc/cpuinfo: {"vendor_id": ..., "model": ...}"""
    text = (root / "proc/cpuinfo").read_text(encoding="ascii").split("\n\n")[0]
    return {label.strip(): value.strip() for label, _, value in
            (line.partition(":") for line in text.splitlines())}


def cpuid(facts):
    """The CPU as perf writes it: GenuineIntel-6-6A-6. Empty if it is not x86."""
    if "vendor_id" not in facts or "cpu family" not in facts:
        return ""
    return (f"{facts['vendor_id']}-{facts['cpu family']}-{int(facts['model']):X}"
            f"-{int(facts.get('stepping', 0)):X}")


def machines():
    """All test machines that uncored has a platform for."""
    for root in sorted(path for path in plan.MACHINES.iterdir() if (path / "proc/cpuinfo").exists()):
        machine_plan = plan.read(root, *plan.ALL_METRICS)
        if "refused" not in machine_plan:
            yield Machine(root.name, root, machine_plan, cpu_facts(root))


def is_healthy(machine, metric):
    """Whether the machine has all that the metric should count, with nothing missing on purpose."""
    return not any(entry.get("metric") in (metric, None) for entry in machine.plan["missing"]) and \
        "-broken" not in machine.name


def pmus_of(machine, pattern):
    devices = machine.root / "sys/bus/event_source/devices"
    return sorted(path.name for path in devices.iterdir() if re.fullmatch(pattern, path.name))


def number(pmu):
    """The number in a PMU's name: {n} of platform files."""
    found = re.findall(r"\d+", pmu)
    return int(found[-1]) if found else 0


def counted(machine, metric):
    """{pmu: {(sign, word), ...}} over all sockets."""
    boxes = collections.defaultdict(set)
    for socket in plan.uses(machine.plan, metric):
        for pmu, uses in socket.items():
            boxes[pmu] |= {(use.sign, use.word) for use in uses}
    return dict(boxes)


def expected(way, resolve):
    """As counted(), for a sum of events; None if the oracle does not know one of them.

    resolve(event) gives {pmu: word}, or None."""
    boxes = collections.defaultdict(set)
    for event in way:
        words = resolve(event.lstrip("-"))
        if words is None:
            return None
        for pmu, word in words.items():
            boxes[pmu].add((-1 if event.startswith("-") else 1, word))
    return dict(boxes)


def show(boxes):
    """{"pmu": ...} in words, PMUs that count the same together."""
    alike = collections.defaultdict(list)
    for pmu, words in boxes.items():
        alike[tuple(sorted(words))].append(pmu)
    return "; ".join(
        f"{' '.join(sorted(pmus, key=number))}: "
        + " ".join(f"{'-' if sign < 0 else '+'}{'/'.join(map(hex, word))}" for sign, word in words)
        for words, pmus in alike.items()) or "nothing"


def agrees(machine, metric, have, want):
    if is_healthy(machine, metric):
        return have == want
    return bool(have) and all(have[pmu] == want.get(pmu) for pmu in have)


class Comparison:
    """One oracle against all machines; remembers which rows were compared, so that no row goes unused."""

    def __init__(self, name, differences):
        self.name = name
        self.differences = differences  # {(key of the machine, metric): why they may disagree}
        self.compared = set()           # (key, metric, number of the way)
        self.disagreed = set()

    def metric(self, machine, key, metric, ways, resolve):
        """ways: sums of events that count the metric; uncored must count by one of them."""
        have = counted(machine, metric)
        wants = [expected(way, resolve) for way in ways]
        if all(want is None for want in wants):
            return
        if not have and (not any(wants) or not is_healthy(machine, metric)
                         or (machine.name, metric) in LEFT_OUT):
            return  # no PMU of this machine can count the metric, or the PMU that should is missing on purpose
        matching = [n for n, want in enumerate(wants)
                    if want is not None and agrees(machine, metric, have, want)]
        self.compared |= {(key, metric, n) for n in matching}
        if matching or None in wants:  # of several ways, the unknown one may be right
            return
        self.disagreed.add((key, metric))
        tap.check((key, metric) in self.differences,
                  f"{machine.name}: uncored counts {metric} by {show(have)}"
                  + "".join(f"\n  {self.name}: {show(want)}" for want in wants if want is not None)
                  + f"\n  uncored says: {plan.why_absent(machine.plan, metric)}" * (not have))

    def check_rows(self, rows):
        """rows: (key, metric, ways), one of which must have been compared by now."""
        for key, metric, ways in rows:
            tap.check(any((key, metric, way) in self.compared for way in ways)
                      or (key, metric) in self.disagreed,
                      f"{key}: {metric} (way {ways}) was never compared: a test machine is missing")
        for stale in sorted(set(self.differences) - self.disagreed):
            tap.check(False, f"{stale} is listed as a difference, but there is none")
