# SPDX-License-Identifier: BSD-3-Clause
"""doc/slurm.md's section "Set it up", and the lines of uncored-jobs(7) that are not hooks of other batch systems, run as
they are written. The hosts share a folder, as the guide has it. Needs root and Slurm."""
import base64
import json
import pathlib
import re
import subprocess

import hosts
import slurm
import tap
from hosts import DAEMON, NOBODY, PREFIX, SHARED, SOURCE, TMP, TOUCH, Gate, wait_until
from slurm import PAGE_BYTES, bytes_of, sockets_of

SUDO = 'sudo() { "$@"; }\n'  # the test is root already
SSH = 'ssh() { nsenter --target="$(cat "%s/$1.pid")" --net --uts --mount sh -c "$2"; }\n' % TMP
FOLDER = SHARED / "uncored-jobs"
PAGES = 20000
TOTAL = ("dram.read", "dram.write")


def blocks(name, begin, end):
    """The literal blocks between two lines of a page, with the paths of this build."""
    text = (SOURCE / name).read_text(encoding="utf-8").partition(f"\n{begin}\n")[2].partition(f"\n{end}\n")[0]
    found = re.findall(r"^```[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block.replace("/usr/share/", f"{PREFIX}/share/").replace("/usr/bin/uncore", f"{PREFIX}/bin/uncore")
            .replace("/shared/", f"{SHARED}/").replace("\\\\", "\\").replace("\\*", "*") for block in found]


def guide():
    """The commands that make the shared folder, set up a node, and show a job."""
    return blocks("doc/slurm.md", "## Set it up", "## Without a shared folder")[:3]


def shell(text, status=0, **options):
    done = subprocess.run(["bash", "-euc", SUDO + SSH + text], check=False, text=True, capture_output=True, cwd="/tmp",
                          timeout=hosts.SECONDS, **{"env": hosts.ENVIRONMENT, **options})
    tap.equal(done.returncode, status, f"status, of {done}")
    return done.stdout


def records_of(job, count=1):
    """Of the job's folder in the folder that all hosts share."""
    paths = wait_until(lambda: len(found := sorted((FOLDER / job).glob("*.json"))) >= count and found, "the records")
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def set_up(cluster):
    """The guide's commands install the two files, and show the job of two hosts that follows to its user"""
    make, install, show = guide()
    shell(make)
    cluster.command("srun", "true")
    with cluster.read_again():
        shell(install)
    cluster.wait_idle()
    job = cluster.submit(f"srun -w n1 -N1 -n1 {TOUCH} {PAGES}; srun -w n2 -N1 -n1 {TOUCH} {PAGES}", "-N2", user=NOBODY)
    tap.equal(job, "2", "the number that the guide has")
    tap.check(min(map(bytes_of, records_of(job, 2))) >= 2 * PAGES * PAGE_BYTES, "bytes")
    shown = shell(show, user=NOBODY)
    print("\n".join("# " + line for line in shown.splitlines()))
    tap.check("2 hosts" in shown and "No record" not in shown, shown)
    shell(show, user=DAEMON, status=1)
    tap.equal([path.name for path in FOLDER.iterdir()], [job], "folders, and nothing beside them")


def busy(cluster):
    """The guide's way to read records makes no job, waits for none, and leaves the record of one that runs as it is"""
    *_, show = guide()
    gate = Gate()
    job = cluster.submit(f"srun true; {gate.script}", "-N2", "--exclusive", user=DAEMON)
    gate.wait()
    jobs = cluster.command("squeue", "-h", "-a", "-t", "all", "-o", "%A").stdout
    before = shell(show, user=NOBODY)
    tap.equal(shell(show), before, "what root is shown")
    tap.equal(cluster.command("squeue", "-h", "-a", "-t", "all", "-o", "%A").stdout, jobs, "jobs")
    gate.open()
    for record in records_of(job, 2):
        tap.equal({socket["others"] for socket in sockets_of(record)}, {0}, "others of the job that ran meanwhile")


def not_shared(cluster):
    """Where nodes share no folder, root collects records from each, as uncored-jobs(7) has it"""
    _, collect = blocks("man/uncored-jobs.7.scd", "# THE SUM OF A JOB", "# OWNERS")
    epilog = pathlib.Path("/etc/slurm/epilog.d/uncored")
    shared = epilog.read_text(encoding="utf-8")
    epilog.write_text((PREFIX / "share/uncored/slurm/epilog").read_text(encoding="utf-8"), encoding="utf-8")
    job = cluster.submit("srun true", "-N2", user=NOBODY)
    cluster.records(job, 2)
    for host in cluster.hosts:
        (TMP / f"{host.name}.pid").write_text(str(host.holder.pid), encoding="ascii")
    tap.check("2 hosts" in shell(f"job={job} nodes=n[1-2]\n{collect}"), "the report")
    epilog.write_text(shared, encoding="utf-8")


def accounting(cluster):
    """The lines of uncored-jobs(7) make of a record what accounting systems take, and of an incomplete one nothing"""
    cockpit, supremm, comment = blocks("man/uncored-jobs.7.scd", "# ACCOUNTING SYSTEMS", "# COURSE")
    record, = records_of(cluster.submit("true", "-w", "n1"))
    sockets = sockets_of(record)
    less = {**record, "regions": [{"sockets": [{**sockets[0], "metrics": {"dram.read": {"absent": "none"}}}]}]}
    none = {**record, "failure": "None.", "regions": [{"sockets": []}]}
    lines = "".join(f"{json.dumps(one)}\n" for one in (none, less, record))
    moved = [sum(socket["metrics"][name]["bytes"] for name in TOTAL) for socket in sockets]
    for line, socket, n_bytes in zip(shell(cockpit, input=lines).splitlines(), sockets, moved, strict=True):
        form = rf"mem_bw,hostname=n1,type=socket,type-id={socket['socket']} value=([0-9.e+-]+) \d+"
        rate = float(re.fullmatch(form, line)[1])
        tap.check(abs(rate * socket["window_ns"] / 1000 - n_bytes) <= 1e-6 * n_bytes, f"{line}, of {n_bytes} bytes")
    tap.equal(json.loads(shell(supremm, input=lines)), {"n1": sum(moved)}, "uncperf.membw")
    totals = {name: bytes_of(record, name) for name in (*TOTAL, "itom")}
    tap.equal(stored_comment(comment, record), totals, "AdminComment")


def stored_comment(line, record):
    """What would be stored, with a sacctmgr that prints its last argument."""
    path = TMP / "record.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    said = shell(f"sacctmgr() {{ echo \"${{!#}}\"; }}; job={record['job']} records={path}\n{line}")
    text = said.strip().removeprefix("AdminComment=")
    tap.check(len(text) < 1000, f"{len(text)} bytes")
    return json.loads(base64.b64decode(text))


if __name__ == "__main__":
    slurm.run_cases([set_up, busy, not_shared, accounting], n_hosts=2, site="")
