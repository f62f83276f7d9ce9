# SPDX-License-Identifier: BSD-3-Clause
"""`uncore report`: files of records, written here as uncore-report(5) describes them."""
import copy
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile

import tap

UNCORE = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"], "client/uncore")
SECOND_NS = 10**9


def value(count, *quality):
    return {"bytes": count, "quality": list(quality)}


def socket(number, read, write):
    return {"socket": number, "metrics": {"dram.read": value(read), "dram.write": value(write)},
            "window_ns": 2 * SECOND_NS, "skew_ns": SECOND_NS // 50, "quantum_bytes": 0}


def region(name, *sockets):
    return {"name": name, "count": 10, "failed": 0, "open": 0, "died": 0, "ranks": 2, "time_ns": 4 * SECOND_NS,
            "lost_ns": 0, "shared_ns": 0, "work": {"cell": 1000}, "sockets": list(sockets)}


def record(host, *regions):
    return {"schema": 1, "version": "0.2.0", "platform": "icelake-sp", "generation": "0" * 32, "host": host,
            "team": "77.0", "run": 1, "job": "77", "command": "lbm", "begun_ns": 1795408200 * SECOND_NS, "ended_ns": 1795408260 * SECOND_NS,
            "expected": 2,
            "members": [{"rank": 0, "pid": 100, "cpus": "0-3", "died": False},
                        {"rank": 1, "pid": 101, "cpus": None, "died": False}],
            "metrics": {"dram.read": "bytes", "dram.write": "bytes"}, "regions": list(regions),
            "outside": []}


def two_nodes():
    return {"n01.json": record("n01", region("solve", socket(0, 1000, 100), socket(1, 3000, 300)),
                               region("output", socket(0, 10, 20), socket(1, 0, 0))),
            "n02.json": record("n02.site", region("solve", socket(0, 6000, 300), socket(1, 6000, 100)))}


def report(files, *options, paths=None):
    """Runs the command in a folder with @files, on the whole folder or on @paths."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        done = subprocess.run([UNCORE, "report", *options, *(["."] if paths is None else paths)], cwd=folder,
                              capture_output=True, text=True, check=False)
    tap.check(done.returncode in (0, 1, 2), f"status {done.returncode}: {done.stderr}")
    return done


def contains(text, *words):
    for word in words:
        tap.check(word in text, f"'{word}' is not in:\n{text}")


def one_file():
    """One file is shown as its own table"""
    done = report(two_nodes(), paths=["n01.json"])
    tap.equal(done.returncode, 0, f"{done.stderr}status")
    contains(done.stdout, "Regions of lbm (team 77.0, host n01, 2 of 2 ranks), platform icelake-sp:", "\n solve   ",
             " 4.00 KB ", " 25/75 %", " 4.40 B ")


def joined_table():
    """A folder is shown as sums, nodes and imbalance"""
    done = report(two_nodes())
    tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    contains(done.stdout, "Regions of lbm (job 77, 2 nodes, 4 of 4 ranks), platform icelake-sp, all nodes together:",
             " 16.0 KB ", " 1.50 n02", " 1.00 n01", "Region solve on each node:", "\n n01 ", "\n n02.site ",
             "Region output on each node:", " 25/75 %")
    tap.equal(done.stdout.count("2 of 4 ranks"), 1, "regions that not all ranks entered")
    for line in done.stdout.splitlines():
        tap.check(len(line) <= 120, f"{len(line)} columns: {line}")


def singulars():
    """One node is "1 node", and one rank is "1 rank\""""
    alone = record("n01", region("solve", socket(0, 1000, 100)))
    alone.update(expected=1, members=alone["members"][:1])
    done = report({"n01.json": alone}, paths=["n01.json"])
    contains(done.stdout, "1 of 1 rank)")
    done = report({"n01.json": alone, "later.json": {**alone, "run": 2, "begun_ns": 1795408300 * SECOND_NS, "ended_ns": 1795408360 * SECOND_NS}})
    contains(done.stdout, "(job 77, 1 node, 2 runs, 2 of 2 ranks)")
    del alone["expected"]
    done = report({"n01.json": alone}, "--hosts", "n01")
    contains(done.stdout, "1 rank)")


def joined_json():
    """The JSON has the nodes as they were, their sums and the imbalance"""
    files = two_nodes()
    done = report(files, "--json", "--hosts", "n[01-03]")
    tap.equal(done.returncode, 1, "status")
    said = json.loads(done.stdout)
    tap.equal(said["missing"], ["n03"], "missing hosts")
    tap.equal([node["host"] for node in said["nodes"]], ["n01", "n02.site"], "nodes")
    solve = said["total"]["regions"][0]
    tap.equal((solve["name"], solve["count"], solve["ranks"], solve["work"]), ("solve", 20, 4, {"cell": 2000}), "sums")
    metrics = solve["derived"]["metrics"]
    tap.equal(metrics["dram.read"]["total"], {"value": 16000, "error": 160}, "sum of reads")
    tap.equal(metrics["dram.read"]["per_work"]["cell"]["value"], 8, "reads per cell")
    tap.equal(metrics["dram.read"]["rate"]["value"], 8000, "reads per second")
    tap.equal(solve["derived"]["read_write"]["value"], 20, "reads / writes")
    tap.equal(said["imbalance"][0]["metrics"]["dram.read"],
              {"largest_to_mean": 1.5, "largest_host": "n02.site", "percentiles": [4000, 4000, 4000, 12000, 12000],
               "worst": [{"host": "n02.site", "count": 12000}, {"host": "n01", "count": 4000}]}, "imbalance")
    tap.equal(said["nodes"][0]["members"], files["n01.json"]["members"], "members")


def candidates():
    """Candidates for faster memory are the fast regions, the most bytes first, as a table and as JSON"""
    files = {"n01.json": record("n01", region("setup", socket(0, 10, 20)), region("small", socket(0, 60 * 10**9, 10**9)),
                                region("solve", socket(0, 90 * 10**9, 10**10)))}
    files["n01.json"]["warning"] = "Another team ran."
    table = report(files, "--candidates", paths=["n01.json"])
    tap.equal((table.returncode, table.stderr), (0, ""), "status and stderr")
    contains(table.stdout, "Regions with at least 50 % of the rate of the best region, 50.0 GB/s:",
             "The order is that of the bytes, since no cache misses are counted.", "n01: Another team ran.")
    names = [line.split()[0] for line in table.stdout.splitlines() if " counted " in line]
    tap.equal(names, ["solve", "small"], "regions")
    for line in table.stdout.splitlines():
        tap.check(len(line) <= 100, f"{len(line)} columns: {line}")
    said = json.loads(report(files, "--candidates=70", "--json", paths=["n01.json"]).stdout)
    tap.equal((said["least_percent"], said["reference"]), (70, "best region"), "what is asked for")
    tap.equal(said["candidates"], [{"region": "solve", "basis": "counted", "bytes": 10**11, "bytes_per_s": 5 * 10**10,
                                    "share": 1, "shared": 0}], "regions")
    tap.equal(said["order"], "bytes", "order")
    contains(report(files, "--candidates=200").stderr, "--candidates takes a number from 1 to 100, and got \"200\"")
    contains(report(files, "--candidates", "--csv").stderr, "--candidates prints a table, or JSON")
    contains(report(files, "--candidates", paths=[]).stderr, "need a FILE or DIR")


def candidates_by_misses():
    """Candidates are in the order of their misses if all have some, and else the reason is said; a node more adds up"""
    def counted(**misses):
        regions = [region(name, socket(0, read * 10**9, 10**9)) for name, read in (("solve", 90), ("small", 60), ("setup", 1))]
        for one in regions:
            one["misses"] = {"event": "page-faults", **misses.get(one["name"], {"count": 5})}
        return {**record("n01", *regions), "cost": {"reading_calls": 1, "reading_ns": 5, "timed_calls": 1, "timed_ns": 1,
                                                    "misses_calls": 4, "misses_ns": 400}}

    files = {"n01.json": counted(solve={"count": 700}, small={"count": 123456})}
    table = report(files, "--candidates", paths=["n01.json"]).stdout
    contains(table, "missed\n", "The order is that of page-faults (missed), which the team's own threads counted:",
             "100 ns more for each begin and end (4 timed)")
    names = [line.split()[0] for line in table.splitlines() if " counted " in line]
    tap.equal(names[:2], ["small", "solve"], "regions")
    for line in table.splitlines():
        tap.check(len(line) <= 100, f"{len(line)} columns: {line}")
        tap.check("LLC" not in line and "cache" not in line, line)
    contains(report(files, paths=["n01.json"]).stdout, "100 ns more for UNCORE_MISSES (4 timed)")
    files["n02.json"] = {**counted(solve={"count": 1}, small={"count": 4}), "host": "n02"}
    said = json.loads(report(files, "--candidates", "--json").stdout)
    tap.equal((said["order"], said["misses_ns_per_call"]), ("misses", 100), "order and cost")
    tap.equal([one["misses"] for one in said["candidates"]],
              [{"event": "page-faults", "count": 123460}, {"event": "page-faults", "count": 701}], "counts")
    why = "The kernel lets no thread count page-faults: Permission denied."
    files["n02.json"] = {**counted(small={"absent": why}), "host": "n02"}
    table = report(files, "--candidates").stdout
    contains(" ".join(table.split()), f"The order is that of the bytes. Not counted in small: {why}")
    tap.check("missed" not in table, table)
    said = json.loads(report(files, "--candidates", "--json").stdout)
    tap.equal([(one["region"], one["misses"].get("absent")) for one in said["candidates"]], [("solve", None), ("small", why)],
              "regions")


def predicted():
    """What somebody predicts stands beside what was counted, in the table and in JSON; what fits no region is said"""
    files = two_nodes()
    done = report(files, "--predict", "solve:cell=8", "--predict", "cell=0.5", "--json", "--nodes")
    tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    solve, output = json.loads(done.stdout)["total"]["regions"]
    ratio = solve["derived"]["predicted"]["cell"]
    tap.equal((ratio["per_work"], ratio["ratio"]["value"], round(ratio["ratio"]["error"], 6)), (8, 1.05, 0.0105), "of one region")
    tap.equal(output["derived"]["predicted"]["cell"]["per_work"], 0.5, "of all others")
    tap.equal(json.loads(report(files, "--json").stdout)["total"]["regions"][0]["derived"]["predicted"], {}, "of nobody")
    contains(report(files, "--predict", "solve:cell=8").stdout, "1.05 of the predicted 8 B per cell")
    files["n01.json"]["regions"][0]["sockets"][0]["metrics"]["dram.read"] = {"absent": "no such event"}
    done = report(files, "--predict=cell=8", paths=["n01.json"])
    contains(done.stdout, "predicted 8 B per cell, absent: no such event")
    done = report(files, "--predict", "flop=8", "--predict", "output:cell=1")
    tap.equal(done.returncode, 1, "status of what fits nothing")
    contains(done.stderr, 'no region has the work that --predict "flop" is about')
    for text in ("cell", "cell=", "=8", "cell=many", "cell=0", "cell=-1", "cell=1e9"):
        contains(report(files, "--predict", text).stderr, f'--predict takes UNIT=BYTES or REGION:UNIT=BYTES, at most 64 times, and got "{text}"')
    contains(report(files, *(f"--predict=u{i}=1" for i in range(65))).stderr, 'at most 64 times, and got "u64=1"')


PAPI = 'region,rank,PAPI_DP_OPS,note\n"solve",0,1e9,\nsolve,1,3e9,2\noutput,0,5,\noutput,1,7,\n'


def merged():
    """Runs that measured different things are side by side, by region, in all forms"""
    files = {**two_nodes(), "papi.csv": PAPI.replace(",note", ",dram.read").replace("output,0", "output,2")
             .replace("output,1", "output,3")}
    paths = ["papi.csv", "n01.json", "n02.json"]
    done = report(files, "--merge", "--csv", paths=paths)
    tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    tap.equal(list(csv.DictReader(io.StringIO(done.stdout))), [
        {"region": "solve", "open_ns": "2000000000", "dram.read": "16000", "dram.write": "800", "PAPI_DP_OPS": "4000000000",
         "dram.read#2": "2"},
        {"region": "output", "open_ns": "2000000000", "dram.read": "10", "dram.write": "20", "PAPI_DP_OPS": "12",
         "dram.read#2": ""}], "rows")
    said = json.loads(report(files, "--merge", "--json", paths=paths).stdout)
    tap.equal(said["regions"][1], {"name": "output", "metrics": {"open_ns": 2e9, "dram.read": 10, "dram.write": 20,
                                                                 "PAPI_DP_OPS": 12}}, "a region")
    tap.equal(said["runs"], [{"from": "run 1", "command": "lbm", "ranks": 4},
                             {"from": "papi.csv", "command": None, "ranks": 4}], "runs")
    tap.equal((said["platform"], said["notes"]), ("icelake-sp", ""), "platform and notes")
    table = report(files, "--merge", paths=paths).stdout
    contains(table, "\n region  ", "      PAPI_DP_OPS", "       4000000000", "                -\n")
    for line in table.splitlines():
        tap.check(len(line) <= 120, f"{len(line)} columns: {line}")


def not_merged():
    """Runs that do not fit are named, and left out; so is what a run lacks"""
    later = {**two_nodes()["n01.json"], "begun_ns": 1795408300 * SECOND_NS, "ended_ns": 1795408360 * SECOND_NS}
    other = {**later, "command": "stream"}
    more = {**later, "regions": [*later["regions"], region("more", socket(0, 1, 1))]}
    two_ranks = "region,rank,ops\nsolve,0,1\nsolve,1,2\n"
    for extra, path, status, words in (
            (later, "x.json", 0, ""),
            (other, "x.json", 1, "run 2 is of the command stream, not of lbm; it is left out."),
            (more, "x.json", 1, "run 2 has the region more, which run 1 does not have; it is left out."),
            (two_ranks, "x.csv", 0, "x.csv has no figures of the region output."),
            (two_ranks + "solve,2,3\n", "x.csv", 1, "x.csv has 3 ranks, not 2; it is left out."),
            ("region,rank,ops\nsolve,0,1\n", "x.csv", 1, "x.csv has 1 rank, not 2; it is left out."),
            ("region,ops\nsetup,1\n", "x.csv", 1, "x.csv has the region setup, which run 1 does not have; it is left out."),
            ("region,ops\n", "x.csv", 1, "x.csv has no region; it is left out."),
            ("name,ops\n", "x.csv", 1, "x.csv cannot be merged: line 1 has no column region; it is left out."),
            ("region,ops\nsolve,1\nsolve,2\n", "x.csv", 1, "line 3 repeats the region and rank of another one: solve;"),
            ("region,ops\nsolve,1,2\n", "x.csv", 1, "line 2 has not as many fields as the first;"),
            ("region,ops\nsolve,many\n", "x.csv", 1, "line 2 has in place of a number: many;"),
            ("region,ops\nsolve,nan\n", "x.csv", 1, "line 2 has in place of a number: nan;"),
            ("region," + ",".join(f"m{i}" for i in range(65)) + "\n", "x.csv", 1, "line 1 has too many columns, from on m64;")):
        done = report({"n01.json": two_nodes()["n01.json"], path: extra}, "--merge", "--csv", paths=["n01.json", path])
        tap.equal(done.returncode, status, f"{words}: {done.stderr}status")
        contains(done.stderr, words)
        left_out = "left out" in done.stderr
        tap.check(("#2" in done.stdout or "ops" in done.stdout.splitlines()[0]) != left_out, f"{words}: {done.stdout}")
    contains(report(two_nodes(), "--merge", paths=[]).stderr, "--merge needs a FILE or DIR of records")
    contains(report({"x.csv": two_ranks}, "--merge", paths=["x.csv"]).stderr, "there is no record to show.")
    contains(report(two_nodes(), "--merge", paths=["n01.json", "x.csv"]).stdout, "x.csv cannot be read: No such file")


def read_again():
    """The JSON of one file is that file's, and can be read again"""
    once = report(two_nodes(), "--json", paths=["n01.json"]).stdout
    again = report({"again.json": once}, "--json", paths=["again.json"]).stdout
    tap.equal(once, again, "the JSON of the JSON")


def array():
    """An array of records, as uncore report writes it of several jobs, is read as a file for each"""
    files = two_nodes()
    apart = report(files, "--json").stdout
    for shown in (report({"all.json": list(files.values())}, "--json"),
                  report({"all.json": list(files.values())}, "--json", paths=["all.json"])):
        tap.equal((shown.returncode, shown.stdout, shown.stderr), (0, apart, ""), "status and output")
    one = report({"all.json": [files["n01.json"]]}, "--json").stdout
    tap.equal(one, report(files, "--json", paths=["n01.json"]).stdout, "an array of one")
    done = report({"all.json": [files["n01.json"], {}], "n02.json": files["n02.json"]})
    tap.equal(done.returncode, 1, "status with an element that is not a record")
    contains(done.stderr, "./all.json is an array whose element 1 is not a record of regions; it is left out.")
    done = report({"none.json": []}, paths=["none.json"])
    tap.equal(done.returncode, 1, "status of no record")
    contains(done.stderr, "none.json is an array without records.")


def rows():
    """CSV has a line for each node, region, socket and metric"""
    files = two_nodes()
    files["n01.json"]["regions"][0]["sockets"][0]["package"] = 8
    files["n01.json"]["regions"][0]["sockets"][0]["metrics"]["dram.read"] |= {"share": 900, "alone": 800}
    files["n01.json"]["label"] = "size 8"
    files["n01.json"]["regions"][1]["name"] = 'a "b", c'
    files["n01.json"]["regions"][1]["title"] = "a, b and c"
    files["n01.json"]["regions"][1]["sockets"][0]["metrics"]["dram.read"] = {"absent": "no such event"}
    done = report(files, "--csv")
    tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    tap.equal(len(lines), 3 * (2 * 2 + 1), "lines")
    tap.equal(lines[0], {"host": "n01", "job": "77", "team": "77.0", "run": "1", "region": "solve", "ranks": "2",
                         "passages": "10", "failed": "0", "time_ns": str(4 * SECOND_NS), "socket": "0",
                         "window_ns": str(2 * SECOND_NS), "metric": "dram.read", "value": "1000", "error": "10",
                         "unit": "bytes", "quality": "", "package": "8", "step": "77.0",
                         "begun_ns": str(1795408200 * SECOND_NS), "ended_ns": str(1795408260 * SECOND_NS), "sum": "1",
                         "absent": "", "share": "900", "alone": "800", "time": "2026-11-23T04:30:00Z", "command": "lbm", "platform": "icelake-sp",
                         "generation": "0" * 32, "title": "", "label": "size 8"},
              "first line")
    tap.equal((lines[1]["share"], lines[1]["alone"]), ("", ""), "a count that has no share")
    tap.equal(lines[2]["package"], "", "package, where the report does not say it")
    odd = [line for line in lines if line["region"] == 'a "b", c']
    tap.equal((odd[0]["value"], odd[0]["quality"], odd[0]["absent"]), ("", "absent", "no such event"), "an absent value")
    tap.equal((odd[-1]["metric"], odd[-1]["value"], odd[-1]["unit"]), ("work", "1000", "cell"), "work")
    tap.equal({line["title"] for line in odd}, {"a, b and c"}, "titles")


def missing_hosts():
    """Nodes that left no file are named, and the status is 1"""
    for hosts, missing in (("n[01-04]", "No record of: n03, n04."), ("n01,n02,login1", "No record of: login1."),
                           ("n[1,02]", "No record of: n1.")):
        done = report(two_nodes(), "--hosts", hosts)
        tap.equal(done.returncode, 1, "status")
        contains(done.stdout, missing)
    tap.equal(report(two_nodes(), "--hosts=n[01-02]").returncode, 0, "status if all are there")


def other_files():
    """Other JSON in a folder is named and left out; what is broken fails"""
    files = {**two_nodes(), "other.json": {"results": []}, "notes.txt": "no JSON"}
    done = report(files)
    tap.equal(done.returncode, 0, f"{done.stderr}status")
    contains(done.stderr, "uncore report: ./other.json is not a record of regions; it is left out.")
    tap.check("notes.txt" not in done.stderr, done.stderr)
    done = report({**files, "broken.json": '{"schema":1,'})
    tap.equal(done.returncode, 1, "status with a file that was cut")
    contains(done.stderr, "./broken.json is not JSON, or was cut; it is left out.")
    contains(done.stdout, " 16.0 KB ")
    done = report({**files, "newer.json": {**record("n03"), "schema": 2}})
    tap.equal(done.returncode, 1, "status with another schema")
    contains(done.stderr, "./newer.json has another schema than 1")
    done = report(files, paths=["other.json"])
    tap.equal((done.returncode, done.stdout), (1, ""), "status and output of no record")
    contains(done.stderr, "there is no record to show")


def bad_members():
    """A wrong member is named"""
    broken = two_nodes()["n01.json"]
    broken["regions"][0]["sockets"][1]["window_ns"] = -1
    done = report({"n01.json": broken})
    tap.equal(done.returncode, 1, "status")
    contains(done.stderr, "./n01.json is not a record that can be read: member regions[0].sockets[1].window_ns is not a "
             "whole number")


def twins():
    """A record that is there twice counts once; another one of the same host and time is in no sum"""
    files = two_nodes()
    files["copy.json"] = copy.deepcopy(files["n01.json"])
    done = report(files)
    contains(done.stdout, "n01 is there twice with the same run; one is left out.", " 16.0 KB ")
    files["copy.json"]["run"] = 2
    done = report(files)
    contains(done.stdout, "n01 is there 2 times at once: both count this host's bytes.", " 12.0 KB ",
             "(job 77, 2 nodes, 6 of 6 ranks)")
    tap.check(" 20.0 KB " not in done.stdout, done.stdout)


# --- several records of a host ---

MACHINE = "0123456789abcdef" * 2  # a generation


def moved(host, read, begun, ended, **more):
    """A record of a host that moved so many bytes between two times, in seconds."""
    return {**record(host, region("solve", socket(0, read, 1))), "begun_ns": int(begun * SECOND_NS),
            "ended_ns": int(ended * SECOND_NS), **more}


def sums(records):
    """Bytes read of each region of the total: {run or (host, place of the record): bytes}. Table, JSON and CSV agree."""
    files = {f"{number:02}.json": content for number, content in enumerate(records)}
    joined = json.loads(report(files, "--json").stdout)
    table = report(files).stdout
    have = {}
    for row in joined["total"]["regions"]:
        node = row.get("node")
        key = row.get("run", 1) if node is None else (joined["nodes"][node]["host"], node)
        tap.check(key not in have, f"{key} is there twice")
        have[key] = row["derived"]["metrics"]["dram.read"]["total"]["value"]
    for number, places in enumerate(joined["runs"], 1):
        tap.equal(sum(records[place]["regions"][0]["sockets"][0]["metrics"]["dram.read"]["bytes"] for place in places),
                  have[number], f"run {number}")
        hosts = [records[place]["host"] for place in places]
        tap.equal(len(hosts), len(set(hosts)), f"hosts of run {number}")
    tap.equal(joined["apart"], [key[1] for key in have if isinstance(key, tuple)], "records that are in no sum")
    by_csv = {}
    for line in csv.DictReader(io.StringIO(report(files, "--csv").stdout)):
        if line["metric"] == "dram.read" and line["sum"]:
            by_csv[int(line["sum"])] = by_csv.get(int(line["sum"]), 0) + int(line["value"])
    tap.equal(by_csv, {key: value for key, value in have.items() if isinstance(key, int)}, "sums of the CSV")
    return have, table


def successive():
    """Two runs one after the other on two hosts have a row each, and are not added"""
    runs = [moved("n1", 1000, 10, 20), moved("n1", 3000, 20.000000001, 30, run=2),
            moved("n2", 2000, 10, 21), moved("n2", 5000, 21.5, 30, run=2)]
    have, table = sums(runs)
    tap.equal(have, {1: 3000, 2: 8000}, "sums")
    contains(table, "(job 77, 2 nodes, 2 runs, 8 of 8 ranks), platform icelake-sp, all nodes of a run together:",
             "\n solve#1 ", "\n solve#2 ", "Region solve#2 on each node:",
             "\n #1: 2 nodes, 1970-01-01T00:00:10.000Z to 1970-01-01T00:00:21.000Z, step 77.0.\n")
    tap.check("11.0 KB" not in table, table)
    tap.equal(sums(runs[:2])[0], {1: 1000, 2: 3000}, "sums of one host")
    tap.equal(sums([{**content, "team": f"77.{content['run']}"} for content in runs])[0], {1: 3000, 2: 8000}, "two steps")


def at_once():
    """Where two records of a host overlap, both have a row, and that host is in no sum"""
    others = [moved(f"n{number}", 1000 * number, 10, 20) for number in (2, 3)]
    steps = [moved("n1", 70, 10, 20, team="77.0"), moved("n1", 700, 19.999999999, 40, team="77.1")]
    have, table = sums(others + steps)
    tap.equal(have, {1: 5000, ("n1", 2): 70, ("n1", 3): 700}, "sums")
    contains(table, "n1 is there 2 times at once: both count this host's bytes. Each has a row, and none is in the sum of "
             "nodes.", "\n solve  ", "\n solve@n1#1 ", "\n solve@n1#2 ", "@n1#2: team 77.1, 2 ranks, 1970-01-01T00:00:19.999Z to "
             "1970-01-01T00:00:40.000Z.")
    alone = [moved("n2", 30 * number, 11 + number / 8, 12, team=None, step="77.0", run=0) for number in (1, 2)]
    have, table = sums(others + alone)
    tap.equal(have, {1: 3000, ("n2", 0): 2000, ("n2", 2): 30, ("n2", 3): 60}, "ranks that are alone beside their team")
    contains(table, "n2 is there 3 times at once: all count", "@n2#2: a process of step 77.0 that is alone, ")
    tap.equal(sums(steps)[0], {("n1", 0): 70, ("n1", 1): 700}, "sums of one host")
    later = moved("n1", 9, 40, 50, team="77.2")
    tap.equal(sums(steps + [later])[0], {1: 9, ("n1", 0): 70, ("n1", 1): 700}, "a later step beside them")


def one_machine():
    """Records of one generation are of one machine, whatever their hosts are: they are never summed"""
    ranks = [moved(f"c{number}", 100 * number, 10, 19 + number, generation=MACHINE) for number in (1, 2)]
    have, table = sums(ranks)
    tap.equal(have, {("c1", 0): 100, ("c2", 1): 200}, "ranks that overlap")
    contains(table, "(job 77, 1 node, 4 of 4 ranks)", "c1 and c2 are one machine: its counters are taken once.",
             "\n solve@c1#1 ", "\n solve@c2#2 ")
    have, table = sums([*ranks, moved("n1", 7000, 10, 20), moved("n2", 6000, 10, 20, generation=MACHINE[::-1])])
    tap.equal(have, {1: 13000, ("c1", 0): 100, ("c2", 1): 200}, "beside other nodes")
    contains(table, "(job 77, 3 nodes, ")
    tap.equal(sums([ranks[0], {**ranks[1], "begun_ns": 20 * SECOND_NS}])[0], {1: 100, 2: 200}, "one after the other")
    tap.equal(sums([ranks[0], moved("c2", 200, 10, 20), moved("c2", 400, 11, 20, generation=MACHINE)])[0],
              {("c1", 0): 100, ("c2", 1): 200, ("c2", 2): 400}, "a host whose generation is not known once")
    many = [moved(f"c{number:02}", 5, 10, 20, generation=MACHINE) for number in range(12)]
    contains(sums(many)[1], "c00, c01 and 10 more are one machine")


def other_clocks():
    """Runs of hosts whose clocks differ are told apart by their order on each host"""
    def runs_of(host, ahead, names):
        return [moved(host, read, 100 * number + ahead, 100 * number + 90 + ahead, team=name)
                for number, (name, read) in enumerate(zip(names, (1, 10, 100)))]

    for ahead in (0, 50, 130, 10000):
        for names in (("77.0", "77.1", "77.2"), ("own/a", "own/a", "own/a")):
            have, _ = sums(runs_of("n1", 50, names) + runs_of("n2", 50 + ahead, names))
            tap.equal(have, {1: 2, 2: 20, 3: 200}, f"sums of {names}, {ahead} s ahead")
        have, _ = sums(runs_of("n1", 50, ("hydra/1", "hydra/2", "hydra/3")) +
                       runs_of("n2", 50 + ahead, ("hydra/7", "hydra/8", "hydra/9")))
        tap.equal(have, {1: 2, 2: 20, 3: 200}, f"sums of names that differ, {ahead} s ahead")
        have, _ = sums(runs_of("n1", 50, ("77.0", "77.1", "77.2")) +
                       runs_of("n2", 50 + ahead, ("77.0", "77.1", "77.2"))[2:])
        tap.equal(have, {1: 1, 2: 10, 3: 200}, f"sums where a host was there once, {ahead} s ahead")
        have, _ = sums([moved("n1", 1, 0, 10), moved("n2", 2, ahead, ahead + 5)])
        tap.equal(have, {1: 3}, "one record of each host")
    have, _ = sums(runs_of("n1", 50, ("own/a",) * 3) + runs_of("n2", 51, ("own/a",) * 3)[1:])
    tap.equal(have, {1: 1, 2: 20, 3: 200}, "sums where the time tells which runs a host was in")


def unknown_times():
    """Of runs that meet or overlap, and of times that are not known"""
    first, second = record("n1", region("solve", socket(0, 1, 1))), record("n1", region("solve", socket(0, 10, 1)))
    second.update(begun_ns=first["ended_ns"], ended_ns=first["ended_ns"] + 1, run=2)
    tap.equal(sums([first, second])[0], {1: 1, 2: 10}, "times that meet")
    second.update(begun_ns=first["ended_ns"] - 1)
    tap.equal(sums([first, second])[0], {("n1", 0): 1, ("n1", 1): 10}, "times that overlap")
    second.update(begun_ns=None, ended_ns=None)
    tap.equal(sums([first, second])[0], {("n1", 0): 1, ("n1", 1): 10}, "no times")


def differences():
    """Nodes of other platforms or jobs, without figures or with fewer ranks are told"""
    files = two_nodes()
    files["n02.json"].update(platform="zen3", job="78", expected=3)
    files["n03.json"] = {**record("n03", region("solve")), "platform": None, "failure": "uncored is not there."}
    done = report(files)
    contains(done.stdout, "The nodes have different platforms, as icelake-sp (n01) and zen3 (n02.site)",
             "The records are of different jobs, as 77 (n01) and 78 (n02.site).",
             "n02.site has 2 of the 3 ranks that its launcher announced.", "n03 has no figures: uncored is not there.",
             "Region solve has no figures on n03, so its sums are too low.", "platform several")


def many_nodes():
    """Of many nodes the table prints sums and imbalance, and each node if asked"""
    files = {f"n{i}.json": record(f"n{i}", region("solve", socket(0, i, i))) for i in range(100)}
    done = report(files)
    tap.check(len(done.stdout.splitlines()) < 30, done.stdout)
    contains(done.stdout, "`uncore report --nodes` prints each region of each node, 100 lines.", " 2.00 n99",
             "(job 77, 100 nodes, 200 of 200 ranks)")
    contains(report(files, "--nodes").stdout, "\n n42 ")


def usage():
    """Wrong options are refused"""
    for options, words in ((("--nodes",), "need a FILE or DIR"), (("--hosts", "n[1", "x"), "--hosts takes a list"),
                           (("--hosts=n[1-99999999]", "x"), "--hosts takes at most 65,536 hosts"), (("--sum", "x"), "uncore report --help")):
        done = report({}, *options, paths=[])
        tap.equal((done.returncode, done.stdout), (2, ""), f"status and output of {options}")
        contains(done.stderr, words)
    contains(report({}, "--help", paths=[]).stdout, "Usage: uncore report ", "--hosts LIST")


def plenty(n=40, runs=1):
    """Files of nodes with two regions, more than are kept as they are."""
    files = {}
    for i in range(n):
        one = record(f"n{i:02}", region("solve", socket(0, 10**9 + i, 100), socket(1, 3000 * i, i)),
                     region("output", *[socket(0, 10 * i, 20)] * (i % 3 > 0)))
        one["begun_ns"] += 1000 * SECOND_NS * (i % runs)
        one["ended_ns"] += 1000 * SECOND_NS * (i % runs)
        one["host"] = f"n{i // runs:02}"
        one["members"][0]["died"] = i == 5
        if i % 4 == 1:
            one["platform"] = "zen3"
            one["metrics"]["itom"] = "bytes"
            for each in (each for part in one["regions"] for each in part["sockets"]):
                each["metrics"]["itom"] = {"absent": "This node has none."} if i == 9 else value(i, "estimated")
        if i % 7 == 3:
            one["regions"][0]["sockets"][1]["metrics"]["dram.write"] = {"absent": "Its counter is dead."}
        files[f"{i:02}.json"] = one
    return files


def folded_nodes():
    """A sum of many nodes, of which little is kept, is that of the nodes as they are"""
    for files in (plenty(), plenty(80, 2), {**plenty(), "99.json": plenty()["03.json"]}):
        folded = report(files, "--hosts", "n[00-99]")
        kept = report(files, "--hosts", "n[00-99]", paths=[".", "/dev/null"])  # which cannot be read again
        tap.equal(folded.stdout, kept.stdout, "tables")
        tap.equal((folded.returncode, folded.stderr), (1, ""), "status and stderr")


def spread():
    """Ten nodes and more have percentiles, and the ten with the most are named"""
    files = {f"{i:02}.json": record(f"n{i:02}", region("solve", socket(0, 10**9 * (i + 1), 0))) for i in range(20)}
    contains(report(files).stdout, "Percentiles of the nodes", "1.00 GB     1.00 GB     10.0 GB     19.0 GB     20.0 GB",
             "n19 2.00 x the median, n18 1.90 x")
    said = json.loads(report(files, "--json").stdout)["imbalance"][0]["metrics"]["dram.read"]
    tap.equal(said["percentiles"], [10**9 * n for n in (1, 1, 10, 19, 20)], "percentiles")
    tap.equal([node["host"] for node in said["worst"]], [f"n{19 - i}" for i in range(10)], "worst nodes")
    tap.check("Percentiles" not in report(dict(list(files.items())[:9])).stdout, "nine nodes")


def origin_in_csv():
    """Each line of CSV has what tells its run from others"""
    line = next(csv.DictReader(io.StringIO(report(two_nodes(), "--csv").stdout)))
    tap.equal([line[key] for key in ("time", "command", "host", "platform", "generation", "socket")],
              ["2026-11-23T04:30:00Z", "lbm", "n01", "icelake-sp", "0" * 32, "0"], "origin")


if __name__ == "__main__":
    tap.run_functions([(case.__doc__, case) for case in (
        one_file, joined_table, singulars, joined_json, candidates, candidates_by_misses, predicted, merged, not_merged, read_again, array, rows, missing_hosts, other_files, bad_members,
        twins, successive, at_once, one_machine, other_clocks, unknown_times, differences, many_nodes, folded_nodes, spread,
        origin_in_csv, usage)])
