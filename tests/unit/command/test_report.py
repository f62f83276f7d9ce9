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
    return {"schema": 1, "version": "0.2.0", "platform": "icelake-sp", "generation": "0" * 31 + "1", "host": host,
            "team": "77.0", "run": 1, "job": "77", "command": "lbm", "begun_s": 1795408200, "ended_s": 1795408260,
            "expected": 2,
            "members": [{"rank": 0, "pid": 100, "cpus": "0-3", "died": False},
                        {"rank": 1, "pid": 101, "cpus": None, "died": False}],
            "metrics": {"dram.read": "bytes", "dram.write": "bytes"}, "regions": list(regions)}


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
    tap.equal(said["imbalance"][0]["metrics"]["dram.read"], {"largest_to_mean": 1.5, "largest_host": "n02.site"},
              "imbalance")
    tap.equal(said["nodes"][0]["members"], files["n01.json"]["members"], "members")


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
    tap.equal(done.returncode, 1, "status with an element that is no record")
    contains(done.stderr, "./all.json is an array whose element 1 is not a record of regions; it is left out.")
    done = report({"none.json": []}, paths=["none.json"])
    tap.equal(done.returncode, 1, "status of no record")
    contains(done.stderr, "none.json is an array without records.")


def rows():
    """CSV has a line for each node, region, socket and metric"""
    files = two_nodes()
    files["n01.json"]["regions"][0]["sockets"][0]["package"] = 8
    files["n01.json"]["regions"][1]["name"] = 'a "b", c'
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
                         "absent": ""},
              "first line")
    tap.equal(lines[2]["package"], "", "package, where the report does not say it")
    odd = [line for line in lines if line["region"] == 'a "b", c']
    tap.equal((odd[0]["value"], odd[0]["quality"], odd[0]["absent"]), ("", "absent", "no such event"), "an absent value")
    tap.equal((odd[-1]["metric"], odd[-1]["value"], odd[-1]["unit"]), ("work", "1000", "cell"), "work")


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


def old_times():
    """Of seconds alone, as older releases wrote them, and of times that are not known"""
    first, second = record("n1", region("solve", socket(0, 1, 1))), record("n1", region("solve", socket(0, 10, 1)))
    second.update(begun_s=first["ended_s"], ended_s=first["ended_s"] + 1, run=2)
    tap.equal(sums([first, second])[0], {1: 1, 2: 10}, "seconds that meet")
    second.update(begun_s=first["ended_s"] - 1)
    tap.equal(sums([first, second])[0], {("n1", 0): 1, ("n1", 1): 10}, "seconds that overlap")
    second.update(begun_s=None, ended_s=None)
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
    tap.check(len(done.stdout.splitlines()) < 20, done.stdout)
    contains(done.stdout, "`uncore report --nodes` prints each region of each node, 100 lines.", " 2.00 n99",
             "(job 77, 100 nodes, 200 of 200 ranks)")
    contains(report(files, "--nodes").stdout, "\n n42 ")


def usage():
    """Wrong options are refused"""
    for options, words in ((("--nodes",), "need a FILE or DIR"), (("--hosts", "n[1", "x"), "--hosts takes a list"),
                           (("--hosts=n[1-99999999]", "x"), "too many hosts"), (("--sum", "x"), "uncore report --help")):
        done = report({}, *options, paths=[])
        tap.equal((done.returncode, done.stdout), (2, ""), f"status and output of {options}")
        contains(done.stderr, words)
    contains(report({}, "--help", paths=[]).stdout, "Usage: uncore report ", "--hosts LIST")


if __name__ == "__main__":
    tap.run_functions([(case.__doc__, case) for case in (
        one_file, joined_table, joined_json, read_again, array, rows, missing_hosts, other_files, bad_members,
        twins, successive, at_once, other_clocks, old_times, differences, many_nodes, usage)])
