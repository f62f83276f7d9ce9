# SPDX-License-Identifier: BSD-3-Clause
"""uncore job report: records of several hosts, runs and jobs, some of which are wrong."""
import copy
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile

import tap

UNCORE = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"]) / "client/uncore"
SECONDS = 180
WIDE = 120  # characters of a line of a table
HUGE = 2 ** 53 + 1  # no double has it


def at(seconds):
    """In nanoseconds, of so many seconds after 22:00."""
    return (1795298400 + seconds) * 10 ** 9


def socket(number, count, others=0):
    return {"socket": number, "package": number, "others": others, "window_ns": 10 ** 10, "early_ns": 3, "late_ns": 4,
            "skew_ns": 10 ** 6, "quantum_bytes": 0, "new member": 1,
            "metrics": {"dram.read": {"bytes": count, "quality": []},
                        "dram.write": {"bytes": 7, "quality": ["partial"]},
                        "hbm.read": {"absent": "there is none"}, "clock": {"value": 5, "unit": "ns", "quality": []}}}


def record(host, *sockets, job="123", begin=10, end=20, unused=(), **more):
    units = {name: value.get("unit", "bytes") for one in sockets for name, value in one["metrics"].items()}
    return {"schema": 1, "version": "0", "platform": "icelake-sp", "generation": "0" * 32, "host": host, "job": job, "step": None,
            "begun_ns": at(begin), "ended_ns": at(end), "uid": 1000, "seconds": float(end - begin), "exit": "0:0", "monotonic_ns": 5,
            "metrics": units, "regions": [{"name": job, "sockets": list(sockets)}], "outside": list(unused), "later": {"a": []}, **more}


def incomplete(host, why="because of it", **more):
    return {**record(host, **more), "platform": None, "generation": None, "failure": why}


def report(records, *words, status=0, job="123", text=None):
    """Of records in a log, which it reads from stdin."""
    lines = "".join(json.dumps(one) + "\n" for one in records) if text is None else text
    done = subprocess.run([UNCORE, "job", "report", job, *words, "-"], input=lines, capture_output=True, text=True,
                          check=False, timeout=SECONDS)
    tap.equal(done.returncode, status, f"status, of {done}")
    return done


def said_of(records, *words, **more):
    return json.loads(report(records, "--json", *words, **more).stdout)


def sums_of(said, metric="dram.read"):
    """What each row of the sum has of a metric, exactly."""
    return [sum(one["metrics"][metric].get("bytes", one["metrics"][metric].get("value", 0)) for one in region["sockets"])
            for region in said["total"]["regions"]]


def hosts_of(said):
    return [[said["nodes"][place]["host"] for place in places] for places in said["runs"]]


def contains(text, *words):
    for word in words:
        tap.check(word in text, f"there is no '{word}' in:\n{text}")


def sums():
    """Sums are exact, and say how far the hosts differ"""
    records = [record("n1", socket(0, 1000), socket(1, HUGE)), record("n2", socket(0, 3000), socket(1, HUGE))]
    said = said_of(records)
    tap.equal(sums_of(said), [2 * HUGE + 4000], "bytes")
    first = said["total"]["regions"][0]["sockets"][0]["metrics"]
    tap.equal(first["dram.write"], {"bytes": 14, "quality": ["partial"]}, "flags")
    tap.equal(first["hbm.read"], {"absent": "there is none"}, "absent")
    tap.equal(sums_of(said, "clock"), [20], "ns")
    tap.equal(said["imbalance"][0]["metrics"]["dram.read"]["largest_host"], "n2", "largest host")
    tap.equal([(one["host"], one["uid"], one["seconds"], one["exit"], one["regions"][0]["sockets"][0]["others"])
               for one in [*said["nodes"], {**said["total"], "host": "all"}]],
              [(host, 1000, 10, "0:0", 0) for host in ("n1", "n2", "all")], "records")
    text = report([record("n1", socket(0, 10 ** 9)), record("n2", socket(0, 3 * 10 ** 9))]).stdout
    contains(text, "Job 123 of user 1000, 2 hosts", "n1/0", "n2/0", "1.00 GB", "3.00 GB", "4.00 GB", "1.50 n2",
             "exit 0:0")


def same_back():
    """What is read of a record is in the report as it was, also of sockets that the job could not use, and of none"""
    records = [record("n1", socket(0, HUGE, others=2), unused=[socket(1, 7, others=None)], step="k"),
               record("n2", {**socket(0, 5), "early_ns": None, "age_ns": 6}, begin=11), incomplete("n3", uid=None)]
    for one, given in zip(said_of(records, "--all", status=1)["nodes"], records, strict=True):
        for key in given.keys() - {"later", "regions", "outside"}:
            tap.equal(one.get(key), given[key], key)
        for mine, theirs in ((one["regions"][0]["sockets"], given["regions"][0]["sockets"]), (one["outside"], given["outside"])):
            tap.equal(mine, [{key: value for key, value in socket_of.items() if key != "new member"} for socket_of in theirs], "sockets")


def any_metric():
    """Metrics with the longest names have room, in their units, also where a socket or a host has none"""
    names = [f"dram.of.a.long.name.in.bytes.{letter}{letter}" for letter in "abcdefgh"]

    def has(number, count, **energy):
        return {**socket(number, count), "metrics": {
            **{name: {"bytes": count, "quality": []} for name in names},
            "energy.of.a.long.name.in.joules": {"unit": "nJ", **energy}}}
    joules = {"value": 5 * 10 ** 9, "quality": []}
    none = {"absent": "it has none"}
    text = report([record("n1", has(0, 10 ** 9, **none), has(1, 10 ** 9, **joules)),
                   record("n2", has(0, 3 * 10 ** 9, **none), has(1, 10 ** 9, **none))]).stdout
    contains(text, "absent: energy.of.a.long.name.in.joules (it has none)")
    said = said_of([record("n1", has(0, 10 ** 9, **joules)), record("n2", has(0, 3 * 10 ** 9, **joules))])
    tap.equal(said["total"]["regions"][0]["sockets"][0]["metrics"]["energy.of.a.long.name.in.joules"],
              {"value": 10 ** 10, "unit": "nJ", "quality": []}, "energy")
    table, imbalance = text.split("Imbalance:")
    for part in (table, imbalance):
        tap.equal({len(re.findall(rf" {name}(?=\s)", part)) for name in names}, {1}, f"titles in {part}")
        tap.check(all(len(line) <= WIDE for line in part.splitlines() if " Job " not in line), part)
    rows = [line for line in imbalance.splitlines() if line.startswith((" job", " 123"))]
    for titles, row in zip(rows[::2], rows[1::2]):
        tap.equal(len(titles), len(row), f"lengths of {titles} and {row}")
    tap.equal(imbalance.count("1.33 n2"), len(names), f"nodes compared in {imbalance}")


def hosts():
    """Hosts without a record are named, and so are those whose record is incomplete"""
    records = [record("n1", socket(0, 5)), incomplete("n3")]
    text = report(records, "--hosts", "n[1-4]", status=1).stdout
    contains(text, "No record of: n2, n4", "n3 has no figures: because of it", "Job 123 has no figures on n3")
    said = said_of(records, "--hosts", "n1,n2.site", status=1)
    tap.equal((said["missing"], sums_of(said)), (["n2.site"], [5]), "sum of the others")
    report(records[:1], "--hosts", "n1.site")
    contains(report(records[1:], status=1).stdout, "n3 has no figures")
    contains(report(records, "--hosts", "n[1", status=2).stderr, '--hosts takes a list like n[01-03,7],login1, and got "n[1"')
    contains(report(records, "--hosts", "n[1-65537]", status=2).stderr, "--hosts takes at most 65,536 hosts, and got")


def shares():
    """Shared sockets are marked, those that the job cannot use are left out, and other jobs of the time are listed"""
    records = [record("n1", socket(0, 5, others=2), unused=[socket(1, 7)]), record("n2", socket(0, 5, others=None)),
               record("n1", socket(0, 9), job="124", begin=15, end=40, uid=1001),
               record("n3", socket(0, 9), job="125"), record("n1", socket(0, 9), job="126", begin=30, end=40)]
    text = report(records).stdout
    contains(text, "others", "Sockets that the job could not use are left out", "job 124 of user 1001 on n1")
    tap.check("n1/1" not in text and "125" not in text and "126" not in text, text)
    tap.equal([line.split()[-3] for line in text.splitlines() if line.startswith((" n1/0", " n2/0", " all"))],
              ["2", "?", "?"], "others")
    said = said_of(records)
    tap.equal(sums_of(said), [10], "bytes of used sockets")
    tap.equal([one["regions"][0]["sockets"][0]["others"] for one in [*said["nodes"], said["total"]]], [2, None, None], "others")
    tap.equal([(met["job"], met["uid"], met["host"]) for met in said["other_jobs"]], [("124", 1001, "n1")], "other jobs")


def runs():
    """Of several runs the last is shown, or one by its key, or all; a key, or else the time, tells them apart"""
    timed = [record(host, socket(0, count), begin=begin, end=begin + 10)
             for begin, count in ((10, 1), (30, 2)) for host in ("n1", "n2")]
    keyed = [record("n1", socket(0, 4), step="a"), record("n2", socket(0, 4), step="a", begin=50, end=60),
             record("n1", socket(0, 8), step="b", begin=70, end=80)]
    for records, totals in ((timed, [2, 4]), (keyed, [8, 8])):
        tap.equal(sums_of(said_of(records, "--all")), totals, "all")
        tap.equal(sums_of(said_of(records)), totals[-1:], "the last")
    tap.equal([one["step"] for one in said_of(keyed, "--run", "a")["nodes"]], ["a", "a"], "by its key")
    contains(report(keyed).stdout, "Not shown is run #1: 2 nodes, 2026-11-21T22:00:10.000Z to 2026-11-21T22:01:00.000Z, run a.")
    contains(report(keyed, "--all").stdout, "Jobs (job 123, 2 nodes, 2 runs)", " 123#1 ", " 123#2 ", "#2: 1 node, ")
    contains(report(keyed, "--run", "c", status=1).stderr, "no record of job 123 with run c")
    contains(report(keyed, status=1, job="124").stderr, "no record of job 124")


def moments():
    """A record without a begin or an end belongs to the run of that time, if its host has no other"""
    unbegun = incomplete("n2", begin=0, end=21)
    unbegun["begun_ns"] = unbegun["seconds"] = None
    again = incomplete("n1", begin=9, end=0)
    again["ended_ns"] = again["seconds"] = None
    tap.equal(hosts_of(said_of([record("n1", socket(0, 5)), unbegun], status=1)), [["n1", "n2"]], "records")
    tap.equal(hosts_of(said_of([record("n1", socket(0, 5)), again], "--all", status=1)), [["n1"], ["n1"]],
              "a host has one record of a run")


def twins():
    """A record that is there twice counts once, in logs and files"""
    one, other = record("n1", socket(0, 5)), record("n2", socket(0, 5))
    tap.equal(sums_of(said_of([one, other, copy.deepcopy(one)])), [10], "bytes")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "1.json").write_text(json.dumps(one), encoding="utf-8")
        (folder / "2.json").write_text(json.dumps(one), encoding="utf-8")
        (folder / "other.json").write_text('{"a": 1}', encoding="utf-8")
        (folder / "text").write_text("none of these", encoding="utf-8")
        done = subprocess.run([UNCORE, "job", "report", "--json", "123", folder, folder / "1.json"], text=True,
                              capture_output=True, check=False, timeout=SECONDS)
        tap.equal(done.returncode, 0, f"status, of {done}")
        tap.equal(sums_of(json.loads(done.stdout)), [5], "bytes")
        contains(done.stderr, "other.json is not a record of a job; it is left out")
        missing = subprocess.run([UNCORE, "job", "report", "123", folder / "none"], capture_output=True, text=True,
                                 check=False, timeout=SECONDS)
        tap.equal(missing.returncode, 1, f"status, of {missing}")
        contains(missing.stderr, "No such file")


def one_host():
    """Two records of one host are never added, also where their key says that they are of one run"""
    records = [record("n1", socket(0, 5), step="k"), record("n2", socket(0, 7), step="k"),
               record("n1", socket(0, 11), step="k", begin=12, end=30), record("n2", socket(0, 13), step="k", begin=40, end=50)]
    said = said_of(records, "--all")
    tap.equal((sums_of(said), hosts_of(said)), ([12, 24], [["n1", "n2"], ["n1", "n2"]]), "sums")


def one_machine():
    """Records of one generation are of one machine, whatever their hosts are: the longest is taken"""
    machine, other = "0123456789abcdef" * 2, "f" * 32
    ranks = [record("c1", socket(0, 5), generation=machine), record("c2", socket(0, 70), end=21, generation=machine)]
    said = said_of([*ranks, record("n1", socket(0, 900), generation=other)], "--hosts", "c1,c2,n1")
    tap.equal((sums_of(said), said["missing"]), ([970], []), "sum, and hosts without a record")
    tap.equal(said["notes"][0], "c1 and c2 are one machine: its counters are taken once.", "note")
    keyed = [{**one, "step": "k"} for one in ranks]
    contains(report(keyed).stdout, "run k, 1 host, ", "are one machine")
    tap.equal(hosts_of(said_of([ranks[0], record("c2", socket(0, 70), begin=30, end=40, generation=machine)], "--all")),
              [["c1"], ["c2"]], "one after the other")
    beside = record("c1", socket(0, 9), job="8", begin=12, generation=machine)
    both = json.loads(in_folder({"1.json": ranks[0], "2.json": ranks[1], "3.json": beside}, "--json", verb=("report",)).stdout)
    tap.equal((both["runs"], both["apart"]), ([], [1, 2]), "two jobs at once on a machine")
    said = said_of([record(f"n{number}", socket(0, 5)) for number in range(3)])
    tap.equal((sums_of(said), said["notes"]), ([15], []), "generations that are not known")


def wrong():
    """A line that is not a record, or a wrong one, is told with its number, and the others are shown"""
    good = json.dumps(record("n1", socket(0, 5)))
    def with_regions(*regions):
        return [{"name": "123", "sockets": [socket(0, 5)], **more} for more in regions]
    changes = [("schema", 2, "another schema"), ("job", "a/b", "not the ID"), ("job", "1\0", "a NUL"), ("uid", -1, "uid"),
               ("host", 5, "not a text"), ("begun_ns", "yesterday", "not a whole number"),
               ("ended_ns", 2 ** 63 - 1, "not a whole number"), ("failure", "it failed", "beside figures"),
               ("regions", {}, "not a list"), ("regions", [], "not one with the name"),
               ("regions", with_regions({}, {"name": "124"}), "not one with the name"),
               ("regions", with_regions({"name": "124"}), "not one with the name"),
               ("regions", with_regions({"sockets": []}), "failure is missing"),
               ("regions", with_regions({"sockets": [socket(1, 5), socket(0, 5)]}), "not above the one before"),
               ("outside", {}, "not a list"), ("metrics", {"x" * 40: "bytes"}, "no metric has"),
               ("seconds", "x", "not a number"), ("step", "x" * 65, "not the key of a run")]
    for key, value, words in changes:
        bad = {**record("n2", socket(0, 5)), key: value}
        done = report([], status=1, text=f"{good}\n\n{json.dumps(bad)}\n")
        contains(done.stderr, "stdin, line 3: it ", words)
        contains(done.stdout, "n1/0")
    for key, value in (("window_ns", -1), ("metrics", []), ("others", "many"), ("quantum_bytes", None), ("early_ns", "long"),
                       ("metrics", {"dram.read": {}})):
        bad = {**record("n2", socket(0, 5)), "regions": [{"name": "123", "sockets": [{**socket(0, 5), key: value}]}]}
        said = report([], status=1, text=f"{good}\n{json.dumps(bad)}").stderr
        contains(said, "line 2: it is not a record that can be read")
    for text in ("{", good[:50], "[1,2]", "\x00", "5", good + good, good + " x"):
        contains(report([], status=1, text=f"{good}\n{text}\n").stderr, "line 2: it is not ")
    contains(report([], status=1, text="").stderr, "no record of job 123")


def hostile():
    """Nothing in a record reaches a terminal as it is"""
    done = report([record("n\x1b[2J1", socket(0, 5), exit="\x1b]0;x\x07", step="\x1b[1m"),
                   incomplete("n2", "\x1b[2J because", step="\x1b[1m")], "--hosts", "n2", status=1)
    tap.check("\x1b" not in done.stdout + done.stderr, f"{done}")


def in_folder(files, *words, job="123", verb=None):
    """Of records in files of a folder."""
    with tempfile.TemporaryDirectory() as name:
        for file, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            pathlib.Path(name, file).write_text(text, encoding="utf-8")
        return subprocess.run([UNCORE, *(verb or ("job", "report", job)), *words, name], capture_output=True, text=True,
                              check=False, timeout=SECONDS)


def files_of_others():
    """Files of other jobs are read only where they are of the job's hosts"""
    one = record("n1.site", socket(0, 5))
    met = record("n1.site", socket(0, 9), job="124", begin=15, end=40)
    files = {"123@n1.site.json": one, "124@n1.site.json": met, "125@n2.json": "{", "126@n1.json": "{",
             "127@n1.site.json": " " * 2**21,
             "123.json": record("n3", socket(0, 7), begin=12)}
    done = in_folder(files, "--json")
    tap.equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    said = json.loads(done.stdout)
    tap.equal(sums_of(said), [12], "bytes")
    tap.equal([other["job"] for other in said["other_jobs"]], ["124"], "other jobs")
    done = in_folder({**files, "123@n4.json": "{"})
    tap.equal(done.returncode, 1, "status with a broken file of the job")
    contains(done.stderr, "123@n4.json is not JSON, or was cut; it is left out")
    contains(in_folder({"124@n1.site.json": met}).stderr, "there is no record of job 123")


def files_that_others_may_write():
    """A file in a folder is believed only if nobody but its owner may write it"""
    nobody, own = 65534, os.getuid()
    for mode, owner, group, is_read in ((0o644, own, -1, True), (0o664, own, 0, True), (0o646, own, -1, False),
                                        (0o666, own, -1, False), (0o664, 0, nobody, False), (0o644, 0, nobody, True)):
        if own and group != -1:
            continue
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "123@n1.json")
            file.write_text(json.dumps(record("n1", socket(0, 5))), encoding="utf-8")
            os.chown(file, owner, group)
            file.chmod(mode)
            done = subprocess.run([UNCORE, "job", "report", "123", name], capture_output=True, text=True, check=False,
                                  timeout=SECONDS)
        tap.equal(done.returncode, 0 if is_read else 1, f"{oct(mode)}: {done}")
        tap.equal(f"may write it (its mode is 0{mode:o})" in done.stderr, not is_read, f"{oct(mode)}: {done.stderr}")


def many_hosts():
    """Of many hosts, the ten with the most bytes are named, and all are printed with --nodes"""
    records = [record(f"n{i:03}", socket(0, 10**9 * (i + 1)), socket(1, 0)) for i in range(100)]
    text, whole = report(records).stdout, report(records, "--nodes").stdout
    tap.equal(re.findall(r"n\d\d\d(?= [0-9.]+ x)", text), [f"n{i:03}" for i in range(99, 89, -1)], "hosts")
    contains(text, "Percentiles of the nodes", "--nodes prints all 200 sockets", "5.05 TB")
    tap.equal(sum(line.startswith(" n0") for line in whole.splitlines()), 200, "rows with --nodes")
    tap.equal(report(records[::-1]).stdout, text, "records in another order")
    worst = said_of(records)["imbalance"][0]["metrics"]["dram.read"]["worst"]
    tap.equal((len(worst), worst[0]), (10, {"host": "n099", "count": 1e11}), "worst hosts")


def as_regions():
    """uncore report shows such records beside those of programs, a row for each job, and one job alone"""
    records = {f"{job}@{host}.json": record(host, socket(0, count), job=job, begin=begin, end=begin + 10)
               for job, host, begin, count in (("123", "n1", 10, 1), ("123", "n2", 10, 2), ("124", "n1", 30, 4))}
    failed = incomplete("n2", job="124", begin=30, end=40)

    def shown(*words, **more):
        done = in_folder({**records, **more}, *words, verb=("report",))
        tap.equal((done.returncode, "left out" in done.stderr), (0, False), "status, and whether files are left out")
        return done.stdout

    said = json.loads(shown("--json"))
    tap.equal(([(region["name"], region["run"]) for region in said["total"]["regions"]], sums_of(said)),
              ([("123", 1), ("124", 2)], [3, 4]), "sums")
    tap.equal((said["total"]["uid"], said["total"]["seconds"], said["total"]["exit"]), (None, None, None), "of several jobs")
    tap.equal(sums_of(json.loads(shown("--json", "--job", "123"))), [3], "one")
    lines = list(csv.DictReader(io.StringIO(shown("--csv"))))
    tap.equal([(line["job"], line["host"], line["sum"], line["value"]) for line in lines[::4]],
              [("123", "n1", "1", "1"), ("123", "n2", "1", "2"), ("124", "n1", "2", "4")], "rows of a database")
    contains(shown(**{"124@n2.json": failed}), "n2 has no figures: because of it", "Job 124 has no figures on n2")
    contains(shown("--job", "123", **{"125@n1.json": "{"}), "Job 123 of user 1000, 2 hosts, ", "n1/0", "n2/0", "all")
    contains(shown("--job", "124"), "Job 124 of user 1000, 1 host, ")
    log = "".join(json.dumps(one) + "\n\n" for one in records.values())
    done = subprocess.run([UNCORE, "report", "--csv", "-"], input=log, capture_output=True, text=True, check=True, timeout=SECONDS)
    tap.equal([(line["job"], line["host"]) for line in list(csv.DictReader(io.StringIO(done.stdout)))[::4]],
              [("123", "n1"), ("123", "n2"), ("124", "n1")], "a log on stdin")
    done = subprocess.run([UNCORE, "report", "-"], input=log + "{}", capture_output=True, text=True, check=False, timeout=SECONDS)
    contains(done.stderr, "stdin, line 7: it is not a record of regions.")


def jobs_of_disjoint_hosts():
    """Jobs, and runs of a job, on different hosts are never one sum, also in uncore report"""
    files = {f"{job}@{host}.json": record(host, socket(0, 1), job=job, step=run, begin=begin, end=begin + 10)
             for job, host, run, begin in (("123", "n1", "a", 10), ("123", "n2", "b", 10), ("124", "n3", None, 10),
                                           ("124", "n4", None, 30))}
    total = json.loads(in_folder(files, "--json", verb=("report",)).stdout)["total"]
    tap.equal([(region["name"], len(region["sockets"])) for region in total["regions"]], [("123", 1)] * 2 + [("124", 1)] * 2,
              "rows")
    for job, whole in (("123", [["n1"], ["n2"]]), ("124", [["n3"], ["n4"]])):
        tap.equal(hosts_of(json.loads(in_folder(files, "--json", "--all", job=job).stdout)), whole, "hosts of runs")


def as_csv():
    """CSV has the columns of regions, and lines of all runs fit into one table"""
    records = [record("n1", socket(0, 5), step="a"), record("n1", socket(0, 9), step="b", begin=30, end=40)]
    lines = list(csv.DictReader(io.StringIO(report(records, "--csv", "--all").stdout)))
    tap.equal(len(lines), 8, "lines")
    tap.equal([(line["step"], line["value"], line["time"], line["platform"]) for line in lines[::4]],
              [("a", "5", "2026-11-21T22:00:10Z", "icelake-sp"), ("b", "9", "2026-11-21T22:00:30Z", "icelake-sp")], "runs")
    tap.equal([(line["quality"], line["absent"]) for line in lines[1:3]],
              [("partial", ""), ("absent", "there is none")], "flags and reasons")
    report(records, "--csv", "--json", status=2)


tap.run_functions([(body.__doc__, body) for body in (
    sums, same_back, any_metric, hosts, shares, runs, moments, twins, one_host, one_machine, wrong, hostile,
    files_of_others, files_that_others_may_write, many_hosts, as_regions, jobs_of_disjoint_hosts,
    as_csv)])
