# SPDX-License-Identifier: BSD-3-Clause
"""uncore job: what a batch system calls, without one. Needs root."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time

import machine as standin
import tap
from machine import (DAEMON, NOBODY, OPEN, PAGE_BYTES, SPOOL, complete, incomplete, machine, mount, others, region_of, touch,
                     used)
from ranks import bytes_of, conclusive, machine_faults

PAGES = 100000
LATER = 3600
JOBS = 20
PRELOAD = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


def truth():
    """A record has the bytes of the page faults that the kernel counted between begin and end"""
    def measure():
        before = machine_faults()
        here.begin("1")
        inside = machine_faults()
        touch(PAGES)
        least = machine_faults() - inside
        record = complete(here.end("1"))
        return record, least, machine_faults() - before
    with machine() as here:
        record, least, most = conclusive(measure)
    have = bytes_of(region_of(record)) / PAGE_BYTES
    tap.check(max(PAGES, least) <= have <= most, f"{have} faults, should be {least} to {most}")


def written():
    """The record is printed, and written to a file that its user may read, in a folder that nobody may list"""
    with machine() as here:
        here.begin("12", "--run", "s9N", uid=NOBODY)
        record = complete(here.end("12", "--to", here.records, "--exit", "0:0"))
        path, = here.files("12")
        begin, ms = record["begun"].translate(str.maketrans("", "", "-:Z")), record["begun_ns"] // 1000000 % 1000
        tap.equal(path.name, f"12@{begin}.{ms:03}Z.json", "name")
        status = path.stat()
        tap.equal((stat.S_IMODE(status.st_mode), status.st_uid), (0o440, 0), "mode and owner")
        tap.equal(stat.S_IMODE(here.records.stat().st_mode), 0o711, "mode of the folder")
        tap.equal(json.loads(path.read_text(encoding="utf-8")), record, "file")
        tap.equal((record["schema"], record["job"], record["step"], record["uid"], record["exit"]),
                  (1, "12", "s9N", NOBODY, "0:0"), "record")
        tap.equal((record["platform"], record["outside"]), ("standin", []), "record")
        tap.equal([(socket["package"], socket["quantum_bytes"]) for socket in region_of(record)["sockets"]],
                  [(0, 0), (1, 0)], "sockets")
        link, = (path for path in here.records.iterdir() if path.is_symlink())
        tap.equal(link.name, f"12@{record['host']}", "the name that users know")
        here.records.chmod(0o711)
        can = {user: subprocess.run(["cat", link], user=user, group=user, extra_groups=[], capture_output=True,
                                    check=False).returncode for user in (NOBODY, DAEMON)}
        listed = subprocess.run(["ls", here.records], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True,
                                check=False).returncode
    tap.equal((can, listed != 0), ({NOBODY: 0, DAEMON: 1}, True), "who may read, and list")


def latest():
    """Users find the record of the latest run, whenever it began"""
    with machine() as here:
        for key in ("first", "second"):
            here.begin("1", "--run", key)
            here.end("1", "--to", here.records)
        link, = (path for path in here.records.iterdir() if path.is_symlink())
        tap.equal((len(here.files("1")), json.loads(link.read_text(encoding="utf-8"))["step"]), (2, "second"), "runs")


def users():
    """Users may neither begin, end nor see jobs"""
    with machine() as here:
        here.begin("1")
        for words in (("begin", "2", "--uid", NOBODY), ("end", "1"), ("list",), ("show", "1")):
            said = here.job(*words, user=NOBODY, status=1).stderr
            tap.check("Only root" in said, said)
        tap.equal(here.open_jobs(), ["1"], "open jobs")


def names():
    """An ID that is not a plain name is refused, and nothing is written"""
    with machine() as here:
        for name in ("../evil", "a/b", "a\nb", ".hidden", ".", "..", "", "x" * 65, "x" * 10240, "1@2", "\x1b[2J",
                     "1 2"):
            for words in (("begin", name, "--uid", 0), ("end", name, "--to", here.records), ("show", name)):
                said = here.job(*words, status=2).stderr
                tap.check("64 letters" in said, said)
        tap.check(not OPEN.exists() and not here.records.exists(), "something was written")
        longest = "x" * 64
        here.begin(longest)
        complete(here.end(longest, "--to", here.records))
        tap.equal(len(here.files(longest)), 1, "files")


def options():
    """Options that are wrong, missing, or of another verb are told; the texts of a batch system do no harm"""
    with machine() as here:
        begin = ("begin", "1", "--uid", "1")
        for words in ((), ("start", "1"), ("begin", "1"), ("begin", "--uid", "1"), (*begin, "2"), (*begin, "--cpus", "x"), (*begin, "--run", "x" * 65),
                      (*begin, "--run", "a\nb"), (*begin, "--to", "/tmp"), ("end", "1", "--uid", "1"),
                      ("end", "1", "--nonsense"), ("list", "1"), ("report",),
                      ("report", "1", "--hosts", "n[", "-")):
            tap.check(here.job(*words, status=2).stderr, f"{words}")
        said = here.job("begin", "1", "--uid", "no such user", status=1).stderr
        tap.check("has no user no such user" in said, said)
        here.begin("1", "--run", "")
        record = complete(here.end("1", "--exit", "\x1b[2J" + "x" * 10240))
        tap.equal((record["step"], len(record["exit"]), record["exit"][:2]), (None, 63, "?["), "texts")
        tap.check("Usage" in here.job("--help").stdout and "Usage" in here.job("begin", "--help").stdout, "help")


def shown():
    """list and show say what is open, and change nothing"""
    with machine() as here:
        tap.equal((here.job("list").stdout, here.open_jobs()), ("", []), "no job")
        here.job("show", "1", status=1)
        here.begin("1", "--run", "key", uid=DAEMON)
        here.begin("2", "--socket", "/nonexistent", uid=NOBODY)
        listed = {entry["job"]: entry for entry in json.loads(here.job("list", "--json").stdout)}
        tap.equal([(entry["uid"], entry["step"]) for entry in listed.values()], [(DAEMON, "key"), (NOBODY, None)],
                  "list")
        tap.check("failure" not in listed["1"] and "/nonexistent" in listed["2"]["failure"], f"{listed}")
        table = here.job("list").stdout
        tap.check("run key" in table and "/nonexistent" in table, table)
        touch(PAGES)
        so_far = complete(json.loads(here.job("show", "1", "--json").stdout))
        tap.check(bytes_of(region_of(so_far)) >= PAGES * PAGE_BYTES and so_far["ended_ns"] is None, f"{so_far}")
        tap.equal(others(so_far), [1, 1], "others")
        text = here.job("show", "1").stdout
        tap.check(f"Job 1 of user {DAEMON}, run key, 1 host, " in text and "dram.read" in text, text)
        tap.equal(len(re.findall(r"/[01] .* 1  +(?:< )?[0-9.]+ %\n", text)), 2, f"others, of {text}")
        incomplete(json.loads(here.job("show", "2", "--json").stdout), "/nonexistent")
        here.job("show", "2", status=1)
        record = complete(here.end("1"))
        tap.check(bytes_of(region_of(record)) >= bytes_of(region_of(so_far)), f"{record}")


def shared():
    """Jobs are told of others on the sockets that they can use: --cpus LIST, --cpus self under taskset"""
    if (os.cpu_count() or 1) < 2:
        raise tap.Skip("needs two CPUs")
    with machine() as here:
        here.begin("even", "--cpus", "0")
        here.begin("odd", "--cpus", "self", before=("taskset", "--cpu-list", "1"))
        record = complete(here.end("even"))
        tap.equal((used(record), others(record)), ([0], [0]), "the even one")
        tap.equal([(socket["socket"], socket["others"]) for socket in record["outside"]], [(1, 1)], "what it could not use")
        here.begin("free", "--cpus", "self")
        record = complete(here.end("odd"))
        tap.equal((used(record), others(record)), ([1], [1]), "the odd one")
        record = complete(here.end("free"))
        tap.equal((used(record), others(record)), ([0, 1], [0, 1]), "the free one")


def cpuset_root():
    """Where cpuset cgroups can be made: a hierarchy of their own, or that of version 2."""
    for line in pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, path, kind, flags = line.split()[:4]
        root = pathlib.Path(path)
        if kind == "cgroup" and "cpuset" in flags.split(","):
            return root
        if kind == "cgroup2" and "cpuset" in (root / "cgroup.controllers").read_text(encoding="ascii").split():
            (root / "cgroup.subtree_control").write_text("+cpuset", encoding="ascii")
            return root
    raise tap.Skip("there is no hierarchy of cpuset cgroups")


@contextlib.contextmanager
def cpuset(cpus):
    """A cgroup of its own."""
    try:
        group = cpuset_root() / f"uncored-test-{os.getpid()}"
        group.mkdir()
    except OSError as error:
        raise tap.Skip(f"no cgroup can be made here: {error}") from error
    try:
        (group / "cpuset.mems").write_text("0", encoding="ascii")
        (group / "cpuset.cpus").write_text(cpus, encoding="ascii")
        yield group
    finally:
        group.rmdir()


def in_cpuset():
    """--cpus self has the sockets of a cpuset cgroup"""
    with cpuset("1") as group, machine() as here:
        here.begin("1", "--cpus", "self", before=("sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"))
        tap.equal(used(complete(here.end("1"))), [1], "sockets")


# --- the folder ---

def folder_is_made():
    """The folder of jobs is made on demand, for root alone; something else in its place is told"""
    with machine() as here:
        here.begin("1")
        tap.equal(stat.S_IMODE(OPEN.stat().st_mode), 0o700, "mode")
        complete(here.end("1"))
        shutil.rmtree(OPEN)
        incomplete(here.end("1"), "There is no begin of this job")
        shutil.rmtree(OPEN)
        OPEN.write_text("", encoding="ascii")
        for words in (("begin", "1", "--uid", "0"), ("end", "1"), ("list",), ("show", "1")):
            said = here.job(*words, status=1).stderr
            tap.check("/run/uncored-jobs" in said and "Not a directory" in said, said)
        OPEN.unlink()


def fill(folder):
    with open(folder / "..filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


@contextlib.contextmanager
def disk(folder, size):
    """A file system of its own in the folder for a while."""
    folder.mkdir(mode=0o700, exist_ok=True)
    mount("-t", "tmpfs", "-o", f"mode=711,size={size}", "tmpfs", folder)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def folder_is_full():
    """Where the folder of jobs is full, no job begins, with a sentence, and those that are open end as always"""
    with machine() as here:
        OPEN.mkdir(mode=0o700)
        mount("-t", "tmpfs", "-o", "mode=700,size=256k", "tmpfs", OPEN)
        try:
            for name in ("1", "2", "3"):
                here.begin(name)
            fill(OPEN)
            for _ in range(2):
                said = here.begin("4", status=1).stderr
                tap.check("No space left" in said, said)
            here.begin("3", status=1)  # ends the run before, and begins no other
            complete(here.end("1"))
            ended = [json.loads(line) for line in here.job("end", "3").stdout.splitlines()]
            incomplete(ended[0], "begun again")
            incomplete(ended[1], "no room")
            tap.equal(len(ended), 2, "what is printed of a job whose second begin failed")
            (OPEN / "..filler").unlink()
            here.begin("5")
            tap.equal(set(here.open_jobs()), {"2", "5"}, "open jobs")
            tap.check(min(others(complete(here.end("5")))) >= 1, "others")
            complete(here.end("2"))
            here.begin("6")
            tap.equal(others(complete(here.end("6"))), [0, 0], "others of a job alone")
        finally:
            subprocess.run(["umount", OPEN], check=True)


def folder_is_read_only():
    """Where the folder of jobs is read-only, nothing begins or ends, with a sentence, and later all is as it was"""
    with machine() as here:
        OPEN.mkdir(mode=0o700)
        mount("-t", "tmpfs", "-o", "mode=700", "tmpfs", OPEN)
        try:
            here.begin("1")
            mount("-o", "remount,ro", OPEN)
            for words in (("begin", "2", "--uid", "0"), ("end", "1", "--to", here.records)):
                said = here.job(*words, status=1).stderr
                tap.check("Read-only" in said, said)
            mount("-o", "remount,rw", OPEN)
            complete(here.end("1", "--to", here.records))
            tap.equal(len(here.files("1")), 1, "files")
        finally:
            subprocess.run(["umount", OPEN], check=True)


def not_written():
    """What cannot be written stays for the next end, which writes the same record"""
    with machine() as here:
        here.begin("1")
        here.records.mkdir(mode=0o711)
        mount("-t", "tmpfs", "-o", "mode=711,size=4k", "tmpfs", here.records)
        fill(here.records)
        said = here.job("end", "1", "--to", here.records, status=1).stderr
        tap.check("No space left" in said, said)
        tap.equal((here.open_jobs(), here.files("1")), ([], []), "after the first end")
        tap.check("waits until" in here.job("list").stdout, "list does not show what is not written")
        subprocess.run(["umount", here.records], check=True)
        with open("/dev/full", "w", encoding="ascii") as full:
            said = here.job("end", "1", "--to", here.records, status=1, stdout=full).stderr
        tap.check("No space left" in said, said)
        path, = here.files("1")
        first = json.loads(path.read_text(encoding="utf-8"))
        tap.equal(complete(here.end("1", "--to", here.records)), first, "the last record")
        tap.equal(here.files("1"), [path], "files")


def reboot():
    """Nothing is left of the folder of open jobs."""
    shutil.rmtree(OPEN)


def waiting(here):
    """IDs of the jobs whose record waits, in the order of the list."""
    return [entry["job"] for entry in json.loads(here.job("list", "--json").stdout) if not entry["open"]]


def end_all(here, names, words, **more):
    for name in names:
        said = here.job("end", name, "--to", here.records, status=1, **more).stderr
        tap.check(words in said, said)


def waits_over_a_boot():
    """Records that a full disk refused outlive a boot; the next begin writes all of them, the oldest first"""
    names = ["3", "1", "2"]
    with machine() as here:
        for name in (*names, "1b"):
            here.begin(name)
        with disk(here.records, "4k"):
            fill(here.records)
            end_all(here, names, f"waits in {SPOOL}")
            end_all(here, ["1b"], "No space left")
            tap.equal((waiting(here), here.open_jobs()), ([*names, "1b"], []), "what list shows")
            text = here.job("list").stdout
            tap.check("waits until" in text, text)
            reboot()
            here.begin("4", "--quiet")
            tap.equal(waiting(here), [*names, "1b"], "what waits after the boot")
        reboot()
        here.begin("5")
        tap.equal(waiting(here), [], "what waits after there was room")
        order = sorted((path.stat().st_mtime_ns, path.name.partition("@")[0]) for name in (*names, "1b")
                       for path in here.files(name))
        tap.equal([name for _, name in order], [*names, "1b"], "files, by time")
        for name in names:
            complete(json.loads(here.files(name)[0].read_text(encoding="utf-8")))


def whole_disk_is_full():
    """Where the whole disk is full, records wait in memory, which the end says, and are written when there is room"""
    names = ["1", "2", "3"]
    with machine() as here, disk(SPOOL.parent, "64k"):
        for name in names:
            here.begin(name)
        fill(SPOOL.parent)
        with disk(here.records, "4k"):
            fill(here.records)
            end_all(here, names, f"waits in {OPEN} until the next boot ({SPOOL}: No space left")
            end_all(here, names[:2], f"waits in {OPEN}")  # again; it waits once
            tap.equal(waiting(here), names, "what waits")
        here.job("end", "more", "--to", here.records)
        tap.equal([len(here.files(name)) for name in names], [1] * len(names), "files of each")
        tap.equal(waiting(here), [], "what waits")


def no_place_to_wait():
    """Where no disk takes a record, it waits until the next boot, which the end says; each end tries all others"""
    with machine() as here:
        SPOOL.write_text("", encoding="ascii")
        for name in ("1", "2"):
            here.begin(name)
        with disk(here.records, "4k"):
            fill(here.records)
            end_all(here, ["1", "2"], f"waits in {OPEN} until the next boot ({SPOOL}: Not a directory)")
            tap.equal(waiting(here), ["1", "2"], "what waits")
        incomplete(here.end("3", "--to", here.records), "no begin")
        tap.equal([len(here.files(name)) for name in ("1", "2", "3")], [1, 1, 1], "files of each")
        tap.equal(waiting(here), [], "what waits")
        SPOOL.unlink()


def folder_is_not_ours():
    """What somebody else has put into the folder of jobs tells root no folder to write to"""
    with machine() as here:
        here.begin("1")
        with disk(here.records, "4k"):
            fill(here.records)
            shutil.rmtree(SPOOL)
            SPOOL.write_text("", encoding="ascii")
            end_all(here, ["1"], "waits in")
            SPOOL.unlink()
        os.chown(next(OPEN.glob("1@*.ended")), DAEMON, DAEMON)
        here.begin("2")
        tap.equal((here.files("1"), waiting(here)), ([], ["1"]), "files, and what waits")
        complete(here.end("1", "--to", here.records))
        tap.equal(len(here.files("1")), 1, "files")


@contextlib.contextmanager
def journal():
    """A function that returns what syslog's socket was told since it was called last."""
    names = ("null", "zero", "full", "random", "urandom")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            subprocess.run(["cp", "--archive", f"/dev/{name}", folder], check=True)
        mount("-t", "tmpfs", "tmpfs", "/dev")
        try:
            for name in names:
                subprocess.run(["cp", "--archive", f"{folder}/{name}", "/dev/"], check=True)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
                log.bind("/dev/log")
                log.setblocking(False)
                yield lambda: told(log)
        finally:
            subprocess.run(["umount", "/dev"], check=True)


def told(log):
    lines = []
    with contextlib.suppress(BlockingIOError):
        while True:
            lines.append(log.recv(65536).decode())
    return lines


def journal_is_told():
    """The journal is told what a hook hides: no room for a job, whose record says so, and a record that waits"""
    with machine() as here, journal() as lines:
        with disk(OPEN, "16k"):
            fill(OPEN)
            here.begin("1", status=1)
            line, = lines()
            tap.check(re.match(r"<27>uncore\[\d+\]: uncore job begin 1: .*/run/uncored-jobs: No space left", line), line)
            said = here.job("end", "1", "--to", here.records)
            incomplete(json.loads(said.stdout), "/run/uncored-jobs has no room")
            line, = lines()
            tap.check("uncore job end 1: /run/uncored-jobs has no room" in line, line)
            path, = here.files("1")
            tap.equal(json.loads(path.read_text(encoding="utf-8")), json.loads(said.stdout), "file")
        here.begin("2")
        with disk(here.records, "4k"):
            fill(here.records)
            end_all(here, ["2"], "No space left")
            line, = lines()
            tap.check(f"uncore job end 2: The record of the job cannot be written into {here.records}" in line, line)
        complete(here.end("2", "--to", here.records))
        tap.equal(lines(), [], "what is told where all is well")


def full_journal_holds_nobody_up():
    """A journal that reads nothing holds no begin up"""
    with machine() as here, journal():
        with disk(OPEN, "16k"):
            fill(OPEN)
            for number in range(40):
                here.begin(number, status=1)


def closed():
    """With closed streams nothing is written into files that have their numbers"""
    with machine() as here:
        here.begin("1")
        for before, name in (("exec 1>&-", "1"), ("exec 0<&- 1>&- 2>&-", "1"), ("exec 0<&- 2>&-", "2")):
            here.job("end", name, status=0 if name == "2" else 1, before=("sh", "-c", f'{before}; exec "$@"', "sh"))
        here.begin("3", before=("sh", "-c", 'exec 0<&- 1>&- 2>&-; exec "$@"', "sh"))
        complete(here.end("1"))
        tap.equal(others(complete(here.end("3"))), [0, 0], "others")


def twice():
    """A second end gives the same record; a second begin with another key ends the first run as incomplete"""
    with machine() as here:
        here.begin("1", "--run", "a")
        first = here.end("1", "--to", here.records)
        touch(PAGES)
        tap.equal(here.end("1", "--to", here.records), first, "the second record")
        tap.equal(len(here.files("1")), 1, "files")
        here.begin("1", "--run", "a")
        here.begin("1", "--run", "a")
        said = here.begin("1", "--run", "a").stderr
        tap.check("open already" in said, said)
        here.begin("1", "--run", "b", "--quiet")
        lines = here.job("end", "1", "--to", here.records).stdout.splitlines()
        again, last = map(json.loads, lines)
        tap.equal((incomplete(again, "begun again")["step"], complete(last)["step"]), ("a", "b"), "runs")
        tap.equal(len(here.files("1")), 3, "files")


def late_end():
    """An end with the key of an earlier run leaves the run that is open alone"""
    with machine() as here:
        here.begin("1", "--run", "a")
        here.begin("1", "--run", "b")
        incomplete(here.end("1", "--run", "a"), "begun again")
        said = here.job("end", "1", "--run", "a")
        tap.check(said.stdout == "" and "another run" in said.stderr, f"{said}")
        tap.equal(here.open_jobs(), ["1"], "open jobs")
        tap.equal(complete(here.end("1", "--run", "b"))["step"], "b", "run")
        tap.equal(complete(here.end("1", "--run", "b"))["step"], "b", "run, again")
        record = incomplete(here.end("1", "--run", "c", "--exit", "0:0"), "There is no begin")
        tap.equal((record["step"], record["exit"]), ("c", "0:0"), "record of a run without a begin")


# --- time ---

def at(seconds, frozen=False):
    """The environment of a program whose clock shows another time; its CLOCK_MONOTONIC does not."""
    if not PRELOAD:
        raise tap.Skip("needs faketime")
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + seconds))
    return {"LD_PRELOAD": str(PRELOAD), "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC",
            "FAKETIME": now if frozen else f"{seconds:+d}"}


def clock_set_back():
    """A clock that is set back during a job changes no duration, and no file of another run"""
    with machine() as here:
        here.begin("1", **at(LATER))
        record = complete(here.end("1", "--to", here.records, **at(-LATER)))
        tap.check(record["ended_ns"] < record["begun_ns"], f"{record}")
        tap.check(0 < record["seconds"] < standin.SECONDS, f"{record['seconds']} s")
        for socket in region_of(record)["sockets"]:
            tap.check(0 < socket["window_ns"] < 1e9 * standin.SECONDS, f"{socket}")
        frozen = at(0, frozen=True)
        for _ in range(3):
            here.begin("2", **frozen)
            complete(here.end("2", "--to", here.records, **frozen))
        tap.equal(len(here.files("2")), 3, "files of three runs that began at one time")
        for _ in range(3):
            here.begin("3", **frozen)
        lines = here.job("end", "3", "--to", here.records, **frozen).stdout.splitlines()
        tap.equal((len(lines), len(here.files("3"))), (3, 3), "records of runs that are alike")


# --- owners ---

def owner():
    """Where only owners may read, begin and end set the owner: the user of all open jobs, or nobody"""
    with machine("[access]\nowner_only = yes\n") as here:
        said = []
        for verb, name, uid in (("begin", "1", NOBODY), ("begin", "2", NOBODY), ("begin", "3", DAEMON), ("end", "1", 0),
                                ("end", "2", 0), ("begin", "4", DAEMON), ("end", "3", 0), ("end", "4", 0)):
            if verb == "begin":
                here.begin(name, uid=uid)
            else:
                complete(here.end(name))
            said.append(here.owner())
        nobody, daemon = f"nobody ({NOBODY})", f"daemon ({DAEMON})"
        tap.equal(said, [nobody, nobody, "none", "none", daemon, daemon, daemon, "none"], "owners")


def owner_of_many():
    """Jobs that begin and end at once change the owner under each other's readings: all are complete"""
    with machine("[access]\nowner_only = yes\n") as here, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda i: here.begin(i, uid=(NOBODY, DAEMON)[i % 2]), range(JOBS)))
        tap.equal(here.owner(), "none", "owner of two users' jobs")
        for record in pool.map(here.end, range(0, JOBS, 2)):
            complete(record)
        tap.equal(here.owner(), f"daemon ({DAEMON})", "owner of one user's jobs")
        for record in pool.map(here.end, range(1, JOBS, 2)):
            complete(record)
        tap.equal(here.owner(), "none", "owner of no job")


def owner_stays():
    """The owner stays as it was while uncored is away; where everybody may read, it is left alone"""
    with machine("[access]\nowner_only = yes\n") as here:
        here.begin("1", uid=NOBODY)
        here.begin("2", "--socket", "/nonexistent", uid=DAEMON)
        tap.equal(here.owner(), f"nobody ({NOBODY})", "owner")
        here.begin("3", uid=NOBODY)
        tap.equal(here.owner(), "none", "owner after the next begin")
    with machine() as here:
        here.uncored.command("owner", str(DAEMON), user=0)
        here.begin("1", uid=NOBODY)
        tap.equal(here.owner(), f"daemon ({DAEMON})", "owner")


# --- uncored comes to grief ---

def uncored_is_away():
    """Where uncored is away at the begin or the end, that succeeds all the same, and the record says so"""
    with machine() as here:
        here.begin("1")
        here.uncored.stop()
        said = here.begin("2").stderr
        tap.check(str(here.uncored.socket) in said, said)
        tap.equal(here.begin("3", "--quiet").stderr, "", "what --quiet says")
        incomplete(here.end("1", "--quiet"), here.uncored.socket)
        here.uncored.start()
        for name in ("2", "3"):
            incomplete(here.end(name), here.uncored.socket)


def uncored_hangs():
    """Where uncored hangs at the begin or the end, that gives up soon, and the record says so"""
    with machine() as here:
        here.begin("1")
        here.uncored.process.send_signal(signal.SIGSTOP)
        here.begin("2")
        incomplete(here.end("1"), "uncored")
        here.uncored.process.send_signal(signal.SIGCONT)
        incomplete(here.end("2"), "uncored")
        here.begin("3")
        complete(here.end("3"))


def uncored_loses_counts():
    """A job during which uncored was killed, and came back without a descriptor store, has no figures"""
    with machine() as here:
        here.begin("1")
        here.uncored.stop(signal.SIGKILL)
        here.uncored.start()
        incomplete(here.end("1"), "began to count anew")


def readings_are_held_back():
    """Where the site holds readings back, a begin takes the last one, and an end that cannot has no figures"""
    with machine("[disclosure]\nmin_interval_ms = 60000\n") as here:
        here.begin("1")
        here.begin("2")
        so_far = complete(json.loads(here.job("show", "2", "--json").stdout))
        tap.check(all(socket["early_ns"] > 0 for socket in region_of(so_far)["sockets"]), f"{so_far}")
        incomplete(here.end("1"), "min_interval_ms")


def each_is_of_its_time():
    """A begin and a show take a reading no older than the site's interval, and say its age; an end takes none before it"""
    for interval_ms in (1000, 5000):
        with machine(f"[disclosure]\nmin_interval_ms = {interval_ms}\n") as here:
            here.begin("0")
            here.begin("1")
            so_far = complete(json.loads(here.job("show", "1", "--json").stdout))
            for socket in region_of(so_far)["sockets"]:
                tap.check(max(socket["early_ns"], socket["age_ns"]) <= interval_ms * 1000000, f"{socket}")
            record = here.end("1")
            if "failure" not in record:
                tap.check(all(socket["late_ns"] > 0 and "age_ns" not in socket
                              for socket in region_of(record)["sockets"]), f"{record}")
            else:
                incomplete(record, "min_interval_ms")


def age_is_shown():
    """Where a reading is held back, the table of a job says how old the last one is"""
    with machine("[disclosure]\nmin_interval_ms = 60000\n") as here:
        here.begin("1")
        tap.check("s ago: the site holds readings back" in here.job("show", "1").stdout, "no age")


standin.enter()
tap.run_functions([(body.__doc__, body) for body in (
    truth, written, latest, users, names, options, shown, shared, in_cpuset, folder_is_made, folder_is_full,
    folder_is_read_only, not_written, waits_over_a_boot, whole_disk_is_full, no_place_to_wait, folder_is_not_ours,
    journal_is_told, full_journal_holds_nobody_up, closed, twice, late_end, clock_set_back, owner, owner_of_many, owner_stays,
    uncored_is_away, uncored_hangs, uncored_loses_counts, readings_are_held_back, each_is_of_its_time, age_is_shown)])
