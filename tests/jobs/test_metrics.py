# SPDX-License-Identifier: BSD-3-Clause
"""A metric is a section in a platform file and nothing else: 16 metrics of all units, most with the longest names, appear
in each form of each command. Needs root."""
import contextlib
import csv
import io
import json
import pathlib
import re
import tempfile

import machine as standin
import tap
from machine import TOUCH, complete, machine, region_of, touch
from ranks import Rank, read_report

PAGES = 3000
WIDE = 120  # characters of a line of a table
LONG = ("traffic.of.a.long.name.in{}bytes", "energy.of.a.long.name.in{}joules", "events.of.a.long.name.in{}counts",
        "periods.of.a.long.name.as{}times")  # 31 bytes, which is the most
UNITS = ("bytes", "nJ", "count", "ns")
WORTH = {"bytes": 4096, "nJ": 1000000, "count": 1, "ns": 1}  # of a count
METRICS = {"dram.read": "bytes", "dram.write": "bytes", "dram.energy": "nJ", "faults": "count",
           **{name.format(letter): unit for letter in ".ab" for name, unit in zip(LONG, UNITS)}}
MEMORY = ("dram.read", "dram.write")
SUMMED = [name for name, unit in METRICS.items() if unit != "ns"]
CLOCKS = ["dram.energy", *(name for name, unit in METRICS.items() if unit == "ns")]  # a PMU has at most 12 events


def section(name, unit):
    pmu, event = ("clock", 0) if name in CLOCKS else (0, 2)
    return (f"[{name}]\npmu = uncore_standin_{pmu}\nevent = raw:event={event:#x}\nscale = {WORTH[unit]}\nunit = {unit}\n"
            "source = a test\nconfidence = low\n")


PLATFORM = "[platform]\ntitle = Has long names\nvendor = Standin\nstandin = yes\n" + "".join(
    section(*metric) for metric in METRICS.items())


@contextlib.contextmanager
def serving(config=""):
    with tempfile.TemporaryDirectory(prefix="uncored-metrics-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "standin.conf").write_text(PLATFORM, encoding="ascii")
        with machine(config, platforms=folder) as here:
            yield here


def run(here, *words):
    done = here.uncored.command(*map(str, words))
    tap.equal(done.returncode, 0, f"status, of {done}")
    return done


def stat(here, *words):
    """What `uncore stat` says, without what the command says."""
    return run(here, "stat", *words, TOUCH, PAGES, 0).stderr


def row_of(name):
    return rf"(?<!\S){re.escape(name)} "


def lines_with(text, name):
    found = [line for line in text.splitlines() if re.search(row_of(name), line)]
    tap.check(found, f"there is no {name} in:\n{text}")
    return found


def straight(text, pattern, names=METRICS):
    """Behind each name, what @pattern finds begins in the same column of all lines."""
    columns = {re.search(row_of(name) + pattern, line).end() for name in names for line in lines_with(text, name)}
    tap.equal(len(columns), 1, f"columns of '{pattern}', in:\n{text}")


def narrow(text):
    for line in text.splitlines():
        tap.check(len(line) <= WIDE, f"{len(line)} characters: {line}")


def has_all(text):
    for name in METRICS:
        lines_with(text.replace("\n", " \n"), name)
    tap.check("no room" not in text, text)


# --- the cases ---


def in_info():
    """`uncore info` and its list of platforms have straight columns"""
    with serving() as here:
        straight(run(here, "info", "-v").stdout.split("\nMetrics\n")[1], r" *(?=\S+ +standin)")
        straight(run(here, "info", "-v").stdout.split("\nMetrics\n")[1], r" *\S+ +(?=standin)")
        straight(run(here, "info", "--platforms").stdout, r" *(?=low +a test)")


def in_stat():
    """`uncore stat` has straight columns, also with -I; bytes, energy and counts are summed over sockets"""
    with serving() as here:
        text = stat(here)
        straight(text, r" *[0-9,]+(?= [a-zA-Z])")
        for name in METRICS:
            tap.equal(len(lines_with(text, name)), 3 if name in SUMMED else 2, f"rows of {name} in:\n{text}")
        text = stat(here, "-I", "10", "-r", "2")
        lines = text.split("\n Counts while")[0].splitlines()
        tap.equal({len(line) for line in lines}, {len(lines[0])}, f"lengths of lines in:\n{text}")
        tap.check(len(lines[0]) <= 80 and "dram.total" in lines[1], text)


def in_stat_for_programs():
    """CSV and JSON of `uncore stat` have each metric with its unit, and the same sums as the table"""
    with serving() as here:
        rows = list(csv.DictReader(io.StringIO(stat(here, "--csv"))))
        whole = json.loads(stat(here, "--json"))["all_sockets"]["metrics"]
        tap.equal({name: value.get("unit", "bytes") for name, value in whole.items()},
                  {"dram.total": "bytes", **{name: METRICS[name] for name in SUMMED}}, "sums in JSON")
        for name, unit in METRICS.items():
            apart = [row for row in rows if row["metric"] == name and row["socket"] != "all"]
            together = [int(row["mean"]) for row in rows if row["metric"] == name and row["socket"] == "all"]
            tap.equal([row["unit"] for row in apart], [unit] * 2, f"units of {name}")
            tap.equal(together, [sum(int(row["mean"]) for row in apart)] if name in SUMMED else [], f"sum of {name}")


def in_prometheus():
    """`uncore export` has a counter of each metric in Prometheus' unit, and with --channels of each channel"""
    endings = {"bytes": "_bytes_total", "nJ": "_joules_total", "count": "_total", "ns": "_seconds_total"}
    with serving() as here:
        text = run(here, "export", "--channels").stdout
    for name, unit in METRICS.items():
        series = "uncore_" + name.replace(".", "_") + endings[unit]
        tap.equal(len(re.findall(rf"^{series}\{{socket=", text, re.MULTILINE)), 2, f"series {series} in:\n{text}")
        tap.check(f'uncore_quality{{socket="1",package="1",metric="{name}",flag="standin"}} 1\n' in text, text)


def in_clustercockpit():
    """`uncore export --clustercockpit` has the rate of each metric that is in no bandwidth, in a unit that it knows"""
    units = {"bytes": "MB/s", "nJ": "W", "count": "events/s", "ns": "s/s"}
    with serving() as here:
        lines = run(here, "export", "--clustercockpit").stdout.splitlines()
    found = {line.split(",")[0]: line for line in lines if "type-id=1" in line}
    tap.equal(set(found), {"mem_bw"} | {"uncore_" + name.replace(".", "_") for name in METRICS if name not in MEMORY},
              "names")
    rates = {}
    for name, unit in METRICS.items():
        if name not in MEMORY:
            line = found["uncore_" + name.replace(".", "_")]
            tap.check(f",unit={units[unit]}" in line, line)
            rates[name] = float(re.search(r" value=(\S+) ", line).group(1))
    faults, time = rates["faults"], rates[CLOCKS[-1]]
    tap.check(faults > 0 and time > 0, f"{rates}")
    for name, rate in rates.items():
        each = {"bytes": 4096e-6, "nJ": 1e-3, "count": 1, "ns": 1}[METRICS[name]]
        expected = 1e6 * time if name == "dram.energy" else time if name in CLOCKS else each * faults
        tap.check(abs(rate - expected) <= 0.001 * (1 + abs(expected)), f"{name}: {rate}, should be {expected}")


def in_regions():
    """The table of regions has a column for each metric; only bytes are memory traffic"""
    with serving() as here:
        path = here.folder / "report.json"
        rank = Rank(here.uncored, f"begin solve touch {PAGES} end solve", team="", user=0)
        text = rank.end()
        rank = Rank(here.uncored, f"begin solve touch {PAGES} end solve", team="", user=0, UNCORE_REPORT=str(path))
        tap.equal(rank.end(), "", "stderr")
        report = read_report(path)
        joined = run(here, "report", path).stdout
        rows = list(csv.DictReader(io.StringIO(run(here, "report", "--csv", path).stdout)))
    for table in (text, joined):
        has_all(table)
        narrow(table)
    tap.equal({row["metric"]: row["unit"] for row in rows}, METRICS, "CSV")
    tap.equal(report["metrics"], METRICS, "units in JSON")
    region, = report["regions"]
    volume = sum(socket["metrics"][name]["bytes"] for socket in region["sockets"] for name in MEMORY)
    tap.equal(region["derived"]["volume"]["total"]["value"], volume, "volume")


def in_jobs():
    """`uncore job` shows and reports each metric; the record has its unit"""
    with serving() as here:
        here.begin("1")
        touch(PAGES)
        shown = here.job("show", "1").stdout
        record = complete(here.end("1"))
        (here.folder / "log").write_text(json.dumps(record) + "\n" + json.dumps({**record, "host": "n2", "generation": "0" * 32}) + "\n",
                                         encoding="utf-8")
        text = here.job("report", "1", here.folder / "log").stdout
        report = json.loads(here.job("report", "1", "--json", here.folder / "log").stdout)
    for socket in region_of(record)["sockets"]:
        tap.equal({name: value.get("unit", "bytes") for name, value in socket["metrics"].items()}, METRICS, "record")
    for table in (shown, text):
        has_all(table)
        narrow(table)
    tap.equal(report["total"]["metrics"], METRICS, "report")


def in_jobs_under_a_quantum():
    """Where a quantum hides all but bytes, the record of a job still has the units, and joins another host's"""
    with serving("[disclosure]\nquantum = 4096\n") as here:
        here.begin("1")
        hidden = complete(here.end("1"))
    for socket in region_of(hidden)["sockets"]:
        tap.equal({name: value.get("unit", "bytes") for name, value in socket["metrics"].items()}, METRICS, "units")
        tap.equal([name for name, value in socket["metrics"].items() if "absent" not in value],
                  [name for name, unit in METRICS.items() if unit == "bytes"], "metrics with values")


standin.enter()
tap.run_functions([(body.__doc__, body) for body in (
    in_info, in_stat, in_stat_for_programs, in_prometheus, in_clustercockpit, in_regions, in_jobs,
    in_jobs_under_a_quantum)])
