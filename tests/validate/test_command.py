# SPDX-License-Identifier: BSD-3-Clause
"""The command `uncore validate`: options, output, and what may go wrong around it. Prints TAP."""
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time

import machine
import tap
import table
from machine import NOT_MEASURED, RIGHT, Machine

USAGE = 2
ROWS = 2 * 4  # of one measurement: two sockets, four metrics
LIMIT_MB = 200  # of a cgroup; the emulator itself takes 50
# The files of a cgroup, by what they set.
V1 = {"limit": "memory.limit_in_bytes", "cpus": "cpuset.cpus", "mems": "cpuset.mems"}
V2 = {"limit": "memory.max", "cpus": "cpuset.cpus", "mems": "cpuset.mems"}
OTHER_MACHINE = pathlib.Path(__file__).with_name("other-machine.xml")  # of hwloc
SPREAD = 0.02  # of a kernel's bytes: the ends of its arrays, and the program around it


def validate(*words, served=None, **more):
    """Natively where there is no uncored to talk to."""
    if served:
        return served.validate(*words, **more)
    return subprocess.run([machine.BUILD / "client/uncore", "validate", *words], capture_output=True, text=True,
                          timeout=machine.SECONDS, check=False, **more)


def says(done, status, *words):
    tap.equal(done.returncode, status, f"{done.stderr}{done.stdout}status")
    for text in words:
        tap.check(text in done.stderr + done.stdout, f"'{text}' is not in: {done.stderr}{done.stdout}")


def options():
    """Wrong options are refused with a sentence and status 2"""
    for words, sentence in ((["--nodes"], "See `uncore validate --help`."), (["now"], "it takes no argument now. See"),
                            (["-e", "0"], '--error takes a number from 0.1 to 20, and got "0".'),
                            (["-e", "1e1"], 'got "1e1".'), (["-t", "0"], "--time takes a whole number from 1 to 3600"),
                            (["--cache", "8m"], '--cache takes a size from 64K to 64G, like 8M, and got "8m".'),
                            (["--node", "1-"], "--node takes a list of numbers"), (["--node", "5-2"], "--node takes a list"),
                            (["--threads", "2"], "--threads, --size, --halo and --csv need --kernel NAME"),
                            (["-k", "loads"], 'takes one of the names that `--kernel list` prints, and got "loads".'),
                            (["-k", "load", "--json"], "--kernel gives no verdict"),
                            (["-k", "gemm", "--size", "70000"], "--size takes at most 65536 for this kernel"),
                            (["--report", "x", "--node", "0"], "--report is of all nodes: it takes no --node"),
                            (["--report", "x", "--host-name"], "--report names no host: it takes no --host-name"),
                            (["--host-name"], "--host-name belongs to --json and --html"),
                            (["-k", "load", "--html", "x"], "--kernel gives no verdict")):
        says(validate(*words), USAGE, sentence)


def helps():
    """--help lists the options, and `--kernel list` the kernels"""
    says(validate("--help"), 0, "--quick", "--kernel NAME", "Exit status: 0 right; 1 a defect; 3 inconclusive")
    listed = validate("--kernel", "list")
    says(listed, 0, "load ", "storent1 ", "halocopy ", "gemm ", "s2cf ")
    tap.equal(len(listed.stdout.splitlines()), 20, "kernels")


def no_uncored():
    """Without uncored nothing is measured, the sentence says what to do, and a file of -o stays as it was"""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "result")
        output.write_text("before", encoding="ascii")
        says(validate("--socket", "/nowhere/socket", "--json", "-o", output), NOT_MEASURED, "/nowhere/socket")
        tap.equal(output.read_text(encoding="ascii"), "before", "output")


def another_machine():
    """Where hwloc shows another machine than this one, nothing is measured, and the variable is named"""
    with machine.serving(Machine()) as served:
        for name, value in (("HWLOC_SYNTHETIC", "node:2 pu:2"), ("HWLOC_XMLFILE", OTHER_MACHINE),
                            ("HWLOC_THISSYSTEM", "0")):
            served.environment[name] = str(value)
            for words in ((), ("-k", "load")):
                says(served.validate(*words), NOT_MEASURED, f"{name} in the environment shows hwloc another machine")
            del served.environment[name]
        served.environment.update(HWLOC_THISSYSTEM="1")
        says(served.validate("-k", "load"), 0)


def report():
    """The text has a table, what the metrics show, and that nothing is memory traffic of this machine"""
    with machine.serving(Machine()) as served:
        done = validate(served=served)
    says(done, RIGHT, "SIMULATED: bytes that a model of caches counted", "Node 0, socket 0: 1 core,",
         "Channels of dram.read, 4 with 0.250 each expected: imc0 0.2", "No bandwidth is known. A simulated machine has no time.", "RIGHT",
         "Nodes: 1 right.")
    for kernel in ("load", "update", "storent1", "fill", "store1", "copy"):
        tap.check(re.search(rf"^  {kernel} +1 ", done.stdout, re.M), f"{kernel} is not in: {done.stdout}")


def json_report():
    """The JSON describes the machine without its name, unless that is asked for"""
    with machine.serving(Machine()) as served:
        _, plain = served.judge("--quick")
        _, named = served.judge("--quick", "--host-name")
    tap.check("host" not in plain and socket.gethostname() not in json.dumps(plain), f"{plain}")
    tap.equal(named["host"], socket.gethostname(), "host")
    tap.equal((plain["platform"], plain["simulated"], plain["format"]), ("simulated", True, 1), "machine")
    node = plain["nodes"][0]
    tap.equal((node["outcome"], node["findings"]), ("right", []), "outcome")
    tap.equal(node["peak_absent"], "A simulated machine has no time.", "peak")
    read, write = node["metrics"]
    tap.check(abs(read["reads"] - 1) < SPREAD and abs(write["writes"] - 1) < SPREAD, f"{node['metrics']}")
    tap.equal((node["nodes_of_package"], node["own_channels"]), (1, "imc0 imc1 imc2 imc3"), "NUMA nodes")
    tap.check(all(abs(share - 0.25) < 0.02 for share in node["channels"].values()), f"{node['channels']}")


def sealed(text):
    """With the last line that it should have."""
    return text + f"fnv1a {table.fnv1a(text.encode()):016x}\n"


def sent_in():
    """--report writes one text to send in; the table of machines takes it whole, and of real machines only"""
    with machine.serving(Machine()) as served:
        path = served.folder / "report.txt"
        says(served.validate("--quick", "--report", path), RIGHT, "Nodes: 1 right.")
        text = path.read_text(encoding="utf-8")
    tap.check(socket.gethostname() not in text and str(served.folder) not in text, f"a name or a path is in {text}")
    for line in ("$ uncore validate --quick --error 1 --time 10 --cache 131072", '      "nodes_of_package":1,',
                 "Nodes: 1 right."):
        tap.check(f"{line}\n" in text, f"'{line}' is not in: {text}")
    body = text[:text.rindex("fnv1a")]
    real = sealed(body.replace('"simulated":true', '"simulated":false').replace('"platform":"simulated"', '"platform":"x"'))
    for changed, why in ((text, "its counts are not memory traffic"), (text.replace("1 right", "9 right"), "was changed"),
                         (body, "its end is missing"), (real[len(real) // 2:], "was changed"),
                         (sealed(real[:real.rindex("fnv1a")].replace("--quick", "--node 0")), "it leaves out nodes")):
        try:
            table.read_report(changed.encode())
            tap.check(False, f"not refused: {why}")
        except table.Refused as error:
            tap.check(why in str(error), f"{error}, should be: {why}")
    rows = list(table.rows_of(table.read_report(real.replace("\n", "\r\n").encode()), "a site"))
    tap.equal([row[4] for row in rows], ["dram.read", "dram.write"], "metrics")
    tap.check(all(re.match(r"(1\.0|0\.9)\d\d of the (reads|writes) \+- 0\.0", row[5]) and row[6] == "right" for row in rows),
              f"{rows}")


def page_of_machines():
    """doc/validated.md is what tests/machines/validated/table.py makes"""
    text, refused = table.page(machine.SOURCE / "tests/machines/validated")
    tap.equal(refused, [], "refused")
    tap.check((machine.SOURCE / "doc/validated.md").read_text(encoding="utf-8") == text, "make doc/validated.md again")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def one_kernel():
    """--kernel gives CSV rows of each size and halo, near what is predicted"""
    with machine.serving(Machine()) as served:
        copies = validate("-k", "copy", "--size", "100000,200000", "--csv", served=served)
        halos = validate("-k", "halocopy", "--size", "216", "--halo", "0-1", "--csv", served=served)
        text = validate("-k", "load", served=served)
    for done, n in ((copies, 2 * ROWS), (halos, 2 * ROWS)):
        tap.equal((done.returncode, len(rows_of(done.stdout))), (0, n), f"{done.stderr}{done.stdout}")
        tap.check("SIMULATED" in done.stderr, f"no word that the figures are simulated: {done.stderr}")
        for row in rows_of(done.stdout):
            if row["ratio"]:
                tap.check(abs(float(row["ratio"]) - 1) < SPREAD, f"{row}")
            is_predicted = row["socket"] == "0" and row["metric"].startswith("dram.")
            tap.equal(row["predicted"] != "", is_predicted, f"{row}: predicted")
    says(text, 0, "SIMULATED", "load", "socket 0 dram.read")


def too_much():
    """Arrays that do not fit, and more threads than cores, are refused with a sentence"""
    with machine.serving(Machine()) as served:
        says(validate("-k", "load", "--size", "17179869184", served=served), NOT_MEASURED,
             "the arrays of load, with 1 thread, need more than the")
        done = validate("-k", "load", "--threads", "1-2", "--csv", served=served)
        says(done, NOT_MEASURED, "node 0 has 1 cores for 2 threads.")
        tap.equal(done.stdout, "", "measured before the whole list was read")
        says(validate("--node", "7", served=served), NOT_MEASURED, "there is no such NUMA node")


@contextlib.contextmanager
def cgroup(controller, **settings):
    """Yields the words that run a command in a group of its own. Both versions of cgroups are known."""
    for root, names in ((pathlib.Path("/sys/fs/cgroup"), V2), (pathlib.Path("/sys/fs/cgroup", controller), V1)):
        if (root / "cgroup.procs").exists():
            break
    group = root / f"uncored-validate-{os.getpid()}"
    group.mkdir()
    try:
        for name, text in settings.items():
            (group / names[name]).write_text(text)
        yield ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"]
    finally:
        group.rmdir()


def memory_limit():
    """The memory limit of a cgroup is kept: larger arrays are refused with a sentence that names it"""
    with machine.serving(Machine()) as served, cgroup("memory", limit=str(LIMIT_MB * 1000000)) as inside:
        done = subprocess.run([*inside, *served.command("-k", "load", "--size", str(LIMIT_MB * 1000000 // 8))],
                              env=served.environment, capture_output=True, text=True, check=False,
                              timeout=machine.SECONDS)
    says(done, NOT_MEASURED, "or of what the limit of this cgroup leaves")
    most = int(re.search(r"need more than the (\d+) MB", done.stderr)[1])
    tap.check(0 < most <= LIMIT_MB // 2, f"{most} MB may be used of a limit of {LIMIT_MB} MB")


def cpuset():
    """Of the cores that a cpuset leaves, each is used, and no other"""
    with machine.serving(Machine()) as served, cgroup("cpuset", mems="0", cpus="0") as inside:
        done = subprocess.run([*inside, *served.command("-k", "load", "--size", "65536", "--csv", pinned=False)],
                              env=served.environment, capture_output=True, text=True, check=False,
                              timeout=machine.SECONDS)
    says(done, 0)
    tap.equal({row["threads"] for row in rows_of(done.stdout)}, {"1"}, "threads")
    with machine.serving(Machine()) as served:
        done = subprocess.run(served.command("-k", "load", "--size", "65536", "--csv", pinned=False),
                              env=served.environment, capture_output=True, text=True, check=False,
                              timeout=machine.SECONDS)
    tap.equal({row["threads"] for row in rows_of(done.stdout)}, {str(os.cpu_count())}, "threads without a cpuset")


def standin():
    """The stand-in machine is refused: its values are not memory traffic"""
    with machine.serving(Machine(name="standin")) as served:
        says(validate(served=served), NOT_MEASURED, "there is nothing to validate")


def absent():
    """Where a metric is absent nothing is measured in vain, and the report says why it is absent"""
    events = {**Machine().events, "write": ["nothing"]}
    with machine.serving(Machine(events=events)) as served:
        done = validate("--json", served=served)
    tap.equal(done.returncode, NOT_MEASURED, f"{done.stderr}{done.stdout}status")
    node = json.loads(done.stdout)["nodes"][0]
    tap.equal((node["outcome"], "kernels" in node), ("absent", False), f"{node}")
    tap.check("dram.write is absent: " in node["findings"][0], f"{node['findings']}")


def calibration():
    """For uncalibrated metrics it says the factor and the lines for uncored.conf, unless they are wrong otherwise"""
    halved = Machine(scales={"read": 32, "write": 32}, more="uncalibrated = yes\n")
    with machine.serving(halved) as served:
        text, (status, found) = validate("--quick", served=served), served.judge("--quick")
    says(text, machine.DEFECT, "a factor of 0.5.", "For uncored.conf:\n    [calibration]\n", "    dram.read = 64\n",
         "    dram.write = 64\n")
    factors = re.findall(r"dram\.(?:read|write) is uncalibrated; what it shows times (\S+) \(\+- (\S+)\)", text.stdout)
    tap.equal((status, len(factors)), (machine.DEFECT, 2), f"{text.stdout}")
    for factor, error in factors:
        tap.check(abs(float(factor) - 2) < 2 * SPREAD and float(error) < SPREAD, f"{factor} +- {error}")
    tap.equal([row["bytes"] for row in found["nodes"][0]["calibration"]], [64, 64], "calibration")
    swapped = Machine(events={**Machine().events, "read": ["write"], "write": ["read"]}, more="uncalibrated = yes\n")
    with machine.serving(swapped) as served:
        text = validate("--quick", served=served)
    says(text, machine.DEFECT, "Reads and writes are swapped.")
    tap.check("uncored.conf" not in text.stdout, text.stdout)


def only_one():
    """A second `uncore validate` is refused while one runs"""
    with machine.serving(Machine()) as served, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as first:
        first.bind("\0uncore-validate")
        says(validate(served=served), NOT_MEASURED, "another `uncore validate` runs on this machine")


@contextlib.contextmanager
def started(served, *words, begun="Platform"):
    """Runs until it has begun to measure."""
    with subprocess.Popen(served.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=served.environment, cwd="/") as process:
        while begun not in process.stdout.readline():
            tap.check(process.poll() is None, "it ended at once")
        time.sleep(1)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def interrupted():
    """Ctrl-C ends it with a sentence and status 130, and a file of -o stays as it was"""
    with machine.serving(Machine()) as served:
        output = served.folder / "result"
        output.write_text("before", encoding="ascii")
        for words, begun in (((), "Platform"), (("-k", "load", "--size", "65536-65599", "--csv", "-o", output), "SIMULATED")):
            with started(served, "--time", "600", "--error", "0.1", *words, begun=begun) as process:
                process.send_signal(signal.SIGINT)
                said = process.stdout.read()
                tap.equal(process.wait(machine.SECONDS), 128 + signal.SIGINT, f"{said}status")
            tap.check("interrupted" in said, said)
        tap.equal(output.read_text(encoding="ascii"), "before", "output")


def uncored_goes():
    """When uncored goes away, a sentence says so"""
    with machine.serving(Machine()) as served, started(served, "--time", "600", "--error", "0.1") as process:
        served.kill()
        said = process.stdout.read()
        tap.equal(process.wait(machine.SECONDS), NOT_MEASURED, f"{said}status")
    tap.check("uncore validate: " in said and "RIGHT" not in said, said)


def output():
    """A result that cannot be written is a failure"""
    with machine.serving(Machine()) as served:
        says(validate("-q", "-o", "/nowhere/report", served=served), NOT_MEASURED, "cannot write to /nowhere/report")
        says(validate("-q", "-o", "/dev/full", served=served), NOT_MEASURED, "cannot write to /dev/full")


def kept():
    """Root may keep the report: `uncore info` shows it; other users may not"""
    if os.geteuid():
        raise tap.Skip("only root can mount a folder in the place of /var/lib")
    with machine.serving(Machine()) as served:
        says(validate("-q", "--keep", served=served, user=65534, group=65534, extra_groups=[]), NOT_MEASURED,
             "cannot write /var/lib/uncored/validated.json")
        keep = " ".join(served.command("-q", "--keep"))
        info = f"{machine.BUILD / 'client/uncore'} info -v"
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none /var/lib && {keep} && {info} && "
             "stat -c 'mode %a' /var/lib/uncored/validated.json"],
            env=served.environment, capture_output=True, text=True, check=False, timeout=machine.SECONDS)
    says(done, 0, "Validated on ", "node 0: right; dram.read shows ", "mode 644")
    shown = float(re.search(r"node 0: right; dram\.read shows (\S+) of the reads", done.stdout)[1])
    tap.check(abs(shown - 1) < SPREAD, f"{shown} of the reads")


def kept_report(owners, n_nodes=2, boot="another"):
    """What `uncore validate --keep` may have left: which node each of the channels imc0.. is of."""
    nodes = [{"node": node, "socket": 0, "nodes_of_package": n_nodes, "outcome": "right",
              "own_channels": " ".join(f"imc{i}" for i, owner in enumerate(owners) if owner == node)}
             for node in range(2)]
    return json.dumps({"platform": "simulated", "outcome": "right", "date": "2026-01-02", "kernel": "6.1", "boot": boot,
                       "nodes": nodes})


def of_nodes(served, report, *words):
    """What a command says on a machine whose socket 0 has two NUMA nodes."""
    folder = served.folder / "kept"
    for node in range(2):
        (folder / f"nodes/node{node}").mkdir(parents=True, exist_ok=True)
        (folder / f"nodes/node{node}/cpulist").write_text("0\n", encoding="ascii")
    (folder / "nodes/online").write_text("0-1\n", encoding="ascii")
    (folder / "report").write_text(report, encoding="ascii")
    script = (f"mount -t tmpfs none /var/lib && mkdir /var/lib/uncored && cp {folder}/report "
              f"/var/lib/uncored/validated.json && mount --bind {folder}/nodes /sys/devices/system/node && exec \"$@\"")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", *map(str, words)], env=served.environment,
                          capture_output=True, text=True, check=False, timeout=machine.SECONDS)
    tap.equal(done.returncode, 0, f"{done.stderr}status")
    return done


def share():
    """`uncore stat` shows a socket's share of the peak that is kept for it, and for no other socket"""
    if os.geteuid():
        raise tap.Skip("only root can mount a folder in the place of /var/lib")
    report = json.loads(kept_report([0, 1, 1, 1]))
    for node in report["nodes"]:
        node.update(metrics=[{"metric": "dram.read"}], peak_bytes_per_ns=0.25)
    with machine.serving(Machine()) as served:
        said = of_nodes(served, json.dumps(report), machine.BUILD / "client/uncore", "stat", "--", *served.simulated(),
                        machine.BUILD / "tests/traffic/kernel", "load").stderr
    of_first = said.partition(" socket 1")[0]
    rate, = re.findall(r"dram\.total .* ([0-9.]+) GB/s", of_first)
    percent, = re.findall(r"(\d+) % of 0\.5 GB/s, the most that a kernel of `uncore validate` moved", said)
    tap.check(percent in of_first and abs(int(percent) - 100 * float(rate) / 0.5) <= 1, said)


def of_two_nodes(served, report):
    """(parts, bytes read by the socket) of a program that reads memory of socket 0."""
    program = [*served.simulated(), machine.BUILD / "tests/traffic/kernel", "load"]
    output = served.folder / "parts.json"
    of_nodes(served, report, machine.BUILD / "client/uncore", "stat", "--nodes", "--json", "-o", output, "--", *program)
    found = json.loads(output.read_text(encoding="utf-8"))
    parts = {part["part"]: part for part in found["parts"]}
    tap.equal((list(parts), [part["socket"] for part in parts.values()]), (["node0", "node1"], [0, 0]), "parts")
    return parts, found["sockets"][0]["metrics"]["dram.read"]["bytes"]


def nodes():
    """Bytes of NUMA nodes come from their channels, by a map of this machine; without a whole map there are none"""
    if os.geteuid():
        raise tap.Skip("only root can mount a folder in the place of /sys/devices/system/node")
    uncore = machine.BUILD / "client/uncore"
    with machine.serving(Machine(header="nodes = imc0 imc1 | imc2 imc3\n")) as served:
        parts, whole = of_two_nodes(served, kept_report([0, 1, 1, 1]))
        read = [part["metrics"]["dram.read"]["bytes"] for part in parts.values()]
        tap.check(sum(read) == whole and abs(read[0] / whole - 0.5) < 0.02, f"{read} of {whole}")
        said = of_nodes(served, "{}", uncore, "info").stdout
        of_node = r"node{}, socket 0: imc{} imc{}; so far dram\.read {}[0-9,]+ bytes standin, dram\.write [0-9,]+ bytes standin"
        known = f"NUMA nodes {of_node.format(0, 0, 1, '')} {of_node.format(1, 2, 3, '')} "
        tap.check(re.search(known, " ".join(said.split())), said)
    with machine.serving(Machine()) as served:
        parts, whole = of_two_nodes(served, kept_report([0, 1, 1, 1]))
        read = [part["metrics"]["dram.read"]["bytes"] for part in parts.values()]
        tap.check(sum(read) == whole and abs(read[0] / whole - 0.25) < 0.02, f"{read} of {whole}")
        said = of_nodes(served, kept_report([0, 1, 1, 1]), uncore, "info").stdout
        tap.check("right on 2026-01-02, under Linux 6.1, before this boot" in said, said)
        for why, report in (("no report", "{}"), ("a channel of no node", kept_report([0, 1, 1, None])),
                            ("other nodes", kept_report([0, 1, 1, 1], n_nodes=4)), ("a channel of two", kept_report([0, 1, 1, 1]).replace(
                                "imc1 imc2", "imc0 imc1 imc2"))):
            for part in of_two_nodes(served, report)[0].values():
                tap.equal((part["metrics"], part["absent"]), ({}, "Which channels it has is not known."), why)
        said = of_nodes(served, "{}", uncore, "info").stdout
        tap.check("node1, socket 0: absent, since it is not known" in said, said)
        said = of_nodes(served, "{}", uncore, "stat", "--nodes", "--csv", "true").stderr
        tap.check("uncore stat: node1 is absent: it is not known which channels it has.\n" in said, said)
        said = of_nodes(served, "{}", uncore, "stat", "--nodes", "-I", "50", "true").stderr
        tap.check("  0/node1        absent: it is not known which channels it has\n" in said, said)
    with machine.serving(Machine(header="nodes = imc0 imc1 | imc2\n")) as served:
        tap.equal([part["metrics"] for part in of_two_nodes(served, "{}")[0].values()], [{}, {}], "a partial map")


tap.run_functions([(body.__doc__, body) for body in (
    options, helps, no_uncored, another_machine, report, json_report, sent_in, page_of_machines, one_kernel, too_much, memory_limit, cpuset, standin, absent,
    calibration, only_one, interrupted, uncored_goes, output, kept, share, nodes)])
