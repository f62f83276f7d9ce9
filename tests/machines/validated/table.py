#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""table.py [FOLDER]: prints doc/validated.md. FOLDER, this one unless told, has what `uncore validate --report` wrote on
machines, as files WHO--MACHINE.txt; what others published is in the platform files, as `measured =`.

A report that was changed or cut, that leaves nodes out, or whose traffic is simulated or a stand-in's is refused."""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PLATFORMS = HERE.parents[2] / "conf/platforms"
HEAD = """# Validated machines

Which uncore counters are right, and who says so. `tests/machines/validated/table.py` makes this page.

## With uncored, by sites

`uncore validate --report FILE` writes what to send in, to the project's tracker. A factor is what a metric shows of a known
traffic: 1 is right. A report tells of one machine with its firmware and kernel, and of the kernels of `uncore validate`.
"""
COLUMNS = "| machine | microcode | kernel | NUMA nodes per package | metric | shows | outcome | who, when, release |"
PUBLISHED = """
## With other tools, as published

What others measured by the same counters, and what that shows. uncored was not there, so these rows say that an event
counts bytes, not that uncored reads it well.

| platform | metric | measured |
|---|---|---|
"""
TAIL = "\nNext: [Platforms](platforms.md). [All guides](../README.md#what-to-read)\n"


def fnv1a(data):
    """FNV-1a, 64 bit (Fowler, Noll, Vo)."""
    found = 0xcbf29ce484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001b3 % 2**64
    return found


class Refused(ValueError):
    pass


def require(condition, why):
    if not condition:
        raise Refused(why)


def read_report(data):
    """The JSON of a report that counts; Refused: why it does not."""
    data = data.replace(b"\r\n", b"\n").strip(b"\n") + b"\n"  # as mail may have it
    text, _, last = data[:-1].rpartition(b"\n")
    end = re.fullmatch(rb"fnv1a ([0-9a-f]{16})", last)
    require(end, "its end is missing")
    require(int(end[1], 16) == fnv1a(text + b"\n"), "something in it was changed")
    report = json.loads(text[text.index(b"\n{\n"):])
    require(not report["simulated"] and "standin" not in report["platform"], "its counts are not memory traffic")
    require(report["nodes"] and not report["nodes_left_out"], "it leaves out nodes")
    require(" --node" not in report["command"], "it leaves out nodes")
    return report


def shows(metric):
    """Of a metric for reads, writes, or both: what it shows of those that it counts."""
    shares = [(metric[kind], kind) for kind in ("reads", "writes") if metric[kind] > max(0.01, 2 * metric["error"])]
    return ", ".join(f"{share:.3f} of the {kind}" for share, kind in shares) + f" +- {metric['error']:.3f}"


def cell(text):
    return re.sub(r"[|\n<]", " ", str(text))


def rows_of(report, who):
    processor = report["processor"]
    name = next(processor[key] for key in ("model name", "cpu", "CPU part") if key in processor)
    for node in report["nodes"]:
        for metric in node.get("metrics", []):
            outcome = "; ".join([node["outcome"], *node["findings"]])
            yield [f"{name}, node {node['node']}", processor.get("microcode", processor.get("revision", "-")),
                   report["kernel"], node["nodes_of_package"], metric["metric"], shows(metric), outcome,
                   f"{who}, {report['date']}, {report['uncore']}"]


def sent_in(folder):
    """(rows, sentences on what is refused)"""
    rows, refused = [], []
    for path in sorted(folder.glob("*.txt")):
        try:
            rows += rows_of(read_report(path.read_bytes()), path.stem.partition("--")[0])
        except (Refused, ValueError, KeyError, StopIteration) as error:
            refused.append(f"{path.name} is refused: {error}.")
    return rows, refused


def published():
    """[platform, metric, text] of each `measured =`."""
    for path in sorted(PLATFORMS.glob("*.conf")):
        metric = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            metric = line.strip("[]") if line.startswith("[") else metric
            if line.startswith("measured = "):
                yield [path.stem, metric, line.removeprefix("measured = ")]


def page(folder):
    """(doc/validated.md, sentences on what is refused)"""
    rows, refused = sent_in(folder)
    lines = [HEAD]
    if rows:
        lines += [COLUMNS, "|---" * COLUMNS.count(" | ") + "|---|"]
    else:
        lines.append("Nobody has sent in a report yet.")
    lines += [f"| {' | '.join(map(cell, row))} |" for row in rows]
    other = "".join(f"| {' | '.join(map(cell, row))} |\n" for row in published())
    return "\n".join(lines) + "\n" + PUBLISHED + other + TAIL, refused


def main():
    text, refused = page(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
    print(text, end="")
    sys.exit("\n".join(refused) or None)


if __name__ == "__main__":
    main()
