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
    contains(done.stderr, "./all.json is an array whose element 1 is no record of regions; it is left out.")
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
                         "unit": "bytes", "quality": "", "package": "8"}, "first line")
    tap.equal(lines[2]["package"], "", "package, where the report does not say it")
    odd = [line for line in lines if line["region"] == 'a "b", c']
    tap.equal((odd[0]["value"], odd[0]["quality"]), ("", "absent"), "an absent value")
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
    contains(done.stderr, "uncore report: ./other.json is no record of regions; it is left out.")
    tap.check("notes.txt" not in done.stderr, done.stderr)
    done = report({**files, "broken.json": '{"schema":1,'})
    tap.equal(done.returncode, 1, "status with a file that was cut")
    contains(done.stderr, "./broken.json is no JSON, or was cut; it is left out.")
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
    contains(done.stderr, "./n01.json is no record that can be read: member regions[0].sockets[1].window_ns is no "
             "whole number")


def twins():
    """A record that is there twice counts once, another run of the host counts and is told"""
    files = two_nodes()
    files["copy.json"] = copy.deepcopy(files["n01.json"])
    done = report(files)
    contains(done.stdout, "n01 is there twice with the same run; one is left out.", " 16.0 KB ")
    files["copy.json"]["run"] = 2
    done = report(files)
    contains(done.stdout, "n01 is there 2 times.", " 20.0 KB ", "(job 77, 2 nodes, 6 of 6 ranks)")


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
    for options, words in ((("--nodes",), "need a FILE or DIR"), (("--hosts", "n[1", "x"), "--hosts needs a list"),
                           (("--hosts=n[1-99999999]", "x"), "too many hosts"), (("--sum", "x"), "uncore report --help")):
        done = report({}, *options, paths=[])
        tap.equal((done.returncode, done.stdout), (2, ""), f"status and output of {options}")
        contains(done.stderr, words)
    contains(report({}, "--help", paths=[]).stdout, "Usage: uncore report ", "--hosts LIST")


if __name__ == "__main__":
    tap.run_functions([(case.__doc__, case) for case in (
        one_file, joined_table, joined_json, read_again, array, rows, missing_hosts, other_files, bad_members,
        twins, differences, many_nodes, usage)])
