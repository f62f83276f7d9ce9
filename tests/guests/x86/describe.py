# SPDX-License-Identifier: BSD-3-Clause
"""Turns the uncore PMUs of a machine's tree into the definitions that the test module takes ("define" in
module/main.c).

usage: describe.py TREE >DEFINITIONS

TREE is made by tests/machines/mktree. There is an empty line between two PMUs. sysfs does not say how many counters
there are: every box has 4 that all events share, and free-running PMUs have one for each event.
"""
import pathlib
import re
import sys

COUNTERS = 4
HANDLED = {"type", "cpumask"}  # by perf and by the module


def numbers(text):
    """The numbers of a list as the kernel prints it: "0-1,4"."""
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def package_of_cpus(tree):
    """{CPU: package}, numbered from 0, as a guest numbers its own."""
    ids = {}
    for path in (tree / "sys/devices/system/cpu").glob("cpu*/topology/physical_package_id"):
        ids[int(path.parts[-3][len("cpu"):])] = int(path.read_text())
    order = sorted(set(ids.values()))
    return {cpu: order.index(number) for cpu, number in ids.items()}


def mask_of(formats):
    """The bits of config that any field has: "config:0-7,32-57"."""
    bits = {bit for text in formats for bit in
            (numbers(text[len("config:"):]) if text.startswith("config:") else ())}
    return sum(1 << bit for bit in bits)


def texts(folder):
    return [(path.name, path.read_text().strip()) for path in sorted(folder.glob("*"))
            if path.is_file()]


def definition(pmu, packages):
    own = {packages[cpu] for cpu in numbers((pmu / "cpumask").read_text())}
    formats = texts(pmu / "format")
    yield f"pmu {pmu.name}"
    yield f"packages {sum(1 << package for package in own):x}"
    yield f"counters {0 if 'free_running' in pmu.name else COUNTERS}"
    yield f"mask {mask_of(text for _, text in formats):x}"
    yield from (f"format {name} {text}" for name, text in formats)
    yield from (f"event {name} {text}" for name, text in texts(pmu / "events"))
    yield from (f"file {name} {text}" for name, text in texts(pmu) if name not in HANDLED)


def by_number(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]


def main(tree):
    packages = package_of_cpus(tree)
    pmus = (tree / "sys/bus/event_source/devices").iterdir()
    print("\n\n".join("\n".join(definition(pmu, packages)) for pmu in sorted(pmus, key=by_number)
                      if (pmu / "cpumask").exists()))


main(pathlib.Path(sys.argv[1]))
