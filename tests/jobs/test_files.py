# SPDX-License-Identifier: BSD-3-Clause
"""The files of records: whose they are, who may read them, which folders they are put into, and which of them a report
believes. Needs root."""
import contextlib
import json
import os
import pathlib
import stat
import subprocess

import machine as standin
import tap
from machine import BUILD, DAEMON, NOBODY, SECONDS, SPOOL, UNCORE, complete, machine, mount, region_of

SQUASH = BUILD / "tests/jobs/squash.so"
FORGED = 999 * 10 ** 12


def as_user(user, *words):
    return subprocess.run([*map(str, words)], user=user, group=user, extra_groups=[], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=SECONDS)


def may(user, *words):
    return as_user(user, *words).returncode == 0


@contextlib.contextmanager
def mounted(folder, kind, mode=0o711):
    """Another file system as the folder."""
    folder.mkdir(exist_ok=True)
    mount("-t", kind, kind, folder)
    folder.chmod(mode)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@contextlib.contextmanager
def scratch(here, name, mode=0o755, owner=0):
    """A folder beside that of the records, which goes with all that is in it."""
    folder = here.folder / name
    folder.mkdir()
    os.chown(folder, owner, owner)
    folder.chmod(mode)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-r", folder], check=True)


def record_of(here, job="1", uid=NOBODY, **more):
    """A job that has ended; its record, and its file."""
    here.begin(job, uid=uid)
    record = complete(here.end(job, "--to", here.records, **more))
    return record, here.files(job)[-1]


def report(*words, user=0, status=0):
    done = as_user(user, UNCORE, "job", "report", *words)
    tap.equal(done.returncode, status, f"status, of {done}")
    return done


def contains(text, *words):
    for word in words:
        tap.check(str(word) in text, f"there is no '{word}' in: {text}")


# --- whose they are ---

def owned(here):
    here.begin("1", uid=NOBODY)
    done = here.job("end", "1", "--to", here.records)
    tap.equal(done.stderr, "", "what is said")
    path, = here.files("1")
    status = path.stat()
    tap.equal((stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid), (0o440, 0, 0), "mode and owner")
    tap.equal({user: may(user, "cat", path) for user in (NOBODY, DAEMON)}, {NOBODY: True, DAEMON: False}, "who reads")
    for words in (("chmod", "600", path), ("truncate", "-s", "0", path), ("rm", "-f", path), ("touch", path)):
        tap.check(not may(NOBODY, *words), f"the job's user may {words}")
    tap.check(not subprocess.run(["cat", path], user=DAEMON, group=0, extra_groups=[0], capture_output=True,
                                 check=False).returncode == 0, "root's group may read it")
    here.end("2", "--to", here.records)
    path, = here.files("2")
    tap.check(not any(may(user, "cat", path) for user in (NOBODY, DAEMON)), "users read a record that is nobody's")


def owners():
    """Root owns a record, and its user may read it and nothing else, in memory as on a disk"""
    with machine() as here:
        owned(here)
    with machine() as here, mounted(here.records, "tmpfs"):
        owned(here)


def without_lists():
    """Where a file system has no access control lists, root alone reads the record, which is said with the remedy"""
    with machine() as here, mounted(here.records, "ramfs"):
        here.begin("1", uid=NOBODY)
        done = here.job("end", "1", "--to", here.records)
        contains(done.stderr, f"no access control lists, so user {NOBODY} cannot read", "option acl", "another --to")
        status = here.files("1")[0].stat()
        tap.equal((stat.S_IMODE(status.st_mode), status.st_uid), (0o400, 0), "mode and owner")


def squashed():
    """Where root's files are given to nobody, the record is written all the same, which is said, and --trust reads it"""
    with machine() as here, scratch(here, "export", owner=NOBODY) as export:
        here.begin("1", uid=DAEMON)
        here.begin("2", uid=DAEMON)
        done = here.job("end", "1", "--to", export / "%j", LD_PRELOAD=str(SQUASH))
        contains(done.stderr, "root_squash", f"--trust {NOBODY}")
        folder = export / "1"
        path, = folder.glob("*.json")
        tap.equal((path.stat().st_uid, folder.stat().st_uid), (NOBODY, NOBODY), "owners")
        tap.check(may(DAEMON, "cat", path), "the job's user cannot read it")
        contains(report("1", folder, user=DAEMON, status=1).stderr, f"{path} is left out", f"user {NOBODY}")
        contains(report("1", "--trust", "nobody", folder, user=DAEMON).stdout, "Job 1 of user 1")
        again = here.job("end", "1", "--to", export / "%j", LD_PRELOAD=str(SQUASH))
        tap.equal((again.stdout, list(folder.glob("*.json"))), (done.stdout, [path]), "the record, written again")


# --- the folders ---

def refused(here, folder, *words):
    """Nothing is written; the next end writes it."""
    said = here.job("end", "1", "--to", folder, status=1).stderr
    contains(said, "only root may change", f"waits in {SPOOL}", *words)
    tap.equal([path for path in pathlib.Path(folder).glob("*")], [], "what was written")


def folders():
    """Root puts no record where another user may replace it: the sentence names the folder, and the record waits"""
    with machine() as here, scratch(here, "own", 0o755, NOBODY) as own, scratch(here, "all", 0o777) as all_users, \
            scratch(here, "group", 0o775) as group, scratch(here, "sticky", 0o1777) as sticky:
        for folder in (own, all_users, group, sticky):
            (folder / "below").mkdir()
        (sticky / "own").mkdir()
        os.chown(sticky / "own", NOBODY, NOBODY)
        (sticky / "link").symlink_to(here.folder)
        os.chown(sticky / "link", NOBODY, NOBODY, follow_symlinks=False)
        here.begin("1")
        for folder, words in ((own / "below", (own, f"belongs to user {NOBODY}")), (own / "new", (own,)),
                              (all_users / "below", (all_users, "others than root")),
                              (group / "below", (group, "others than root")), (sticky / "own", (sticky / "own",)),
                              (sticky / "link/records", (sticky / "link",))):
            refused(here, folder, *words)
        tap.check(not (own / "new").exists() and not here.records.exists(), "a folder was made")
        refused(here, own / "below/../../own/below", own)
        (here.folder / "records").symlink_to("sticky/below")
        record = complete(here.end("1", "--to", f"{here.folder}/records/"))
        tap.equal(len(list((sticky / "below").glob("1@*.json"))), 1, "files behind root's link")
        tap.equal(json.loads(here.job("list", "--json").stdout), [], "what waits for the folders that were refused")
        tap.equal(complete(here.end("1", "--to", sticky)), record, "the record in a sticky folder")
        (here.folder / "records").unlink()


def relative():
    """The folder may be named from where the command runs; a folder that is missing is made, and none above it"""
    with machine() as here, scratch(here, "far") as far:
        here.begin("1")
        contains(here.job("end", "1", "--to", far / "not/mounted", status=1).stderr, "No such file or directory")
        complete(here.end("1", "--to", "records", before=("env", "-C", far)))
        tap.equal(stat.S_IMODE((far / "records").stat().st_mode), 0o711, "mode")
        for wrong in ("", "a%", "%h", "%j/%x"):
            contains(here.job("end", "1", "--to", wrong, status=2).stderr, "%j is the job's ID")
        complete(here.end("1", "--to", "a%%b", before=("env", "-C", far)))
        tap.equal(len(list((far / "a%b").glob("1@*.json"))), 1, "files")


def of_one_job():
    """In a folder that nodes share each job has a folder, which its user may list and read, and no other user"""
    with machine() as here, scratch(here, "shared", 0o711) as shared:
        for job, uid in (("1", NOBODY), ("2", DAEMON)):
            here.begin(job, uid=uid)
        for node in ("n1", "n2"):
            here.end("1", "--to", shared / "%j", SLURMD_NODENAME=node)
        here.end("2", "--to", shared / "%j")
        tap.equal({path.name for path in shared.iterdir()}, {"1", "2"}, "folders")
        tap.equal(stat.S_IMODE((shared / "1").stat().st_mode) & 0o7707, 0o701, "mode, but for the mask")
        tap.check(not may(NOBODY, "ls", shared), "a user may list all jobs")
        for user, other in ((NOBODY, DAEMON), (DAEMON, NOBODY)):
            folder = shared / ("1" if user == NOBODY else "2")
            tap.equal((may(user, "ls", folder), may(other, "ls", folder)), (True, False), "who may list it")
            tap.check(not may(user, "touch", folder / "new"), "its user may make files there")
        contains(report("1", shared / "1", user=NOBODY).stdout, f"Job 1 of user {NOBODY}")


# --- ending again ---

def mended():
    """Ending again mends a record that was spoilt or replaced, and touches no record of another run"""
    with machine() as here:
        record, path = record_of(here)
        whole = path.read_bytes()
        other = json.dumps({**record, "host": "elsewhere"}).encode() + b"\n"

        def replace(text):
            path.unlink()
            path.write_bytes(text)

        def end_again():
            tap.equal(complete(here.end("1", "--to", here.records)), record, "record")
            status = path.lstat()
            tap.equal((path.read_bytes(), status.st_uid, stat.S_IMODE(status.st_mode)), (whole, 0, 0o440), "file")

        for text in (b"", whole[:100], b"[" * 2 ** 21, bytes(1000), b"{}\n", whole.replace(b"bytes", b"BYTES")):
            replace(text)
            end_again()
        os.chown(path, NOBODY, 0)  # as an older release leaves it
        end_again()
        for target in ("/etc/hostname", "nowhere"):
            path.unlink()
            path.symlink_to(target)
            end_again()
        tap.equal(here.files("1"), [path], "files")
        replace(other)
        here.end("1", "--to", here.records)
        second = path.with_name(path.name.replace(".json", ".2.json"))
        tap.equal((path.read_bytes(), second.read_bytes()), (other, whole), "records of two hosts")


def name_taken():
    """What another user puts where a job's name leads keeps no record from that name, with or without figures"""
    with machine() as here, scratch(here, "sticky", 0o1777) as sticky:
        record, path = record_of(here)
        link = sticky / f"1@{record['host']}"
        for job, text in (("1", path.read_text(encoding="utf-8")), ("1", "none"),
                          ("2", path.read_text(encoding="utf-8").replace('"job":"1"', '"job":"2"'))):
            taken = link.with_name(f"{job}@{record['host']}")
            subprocess.run(["rm", "-f", taken], check=True)
            tap.check(may(DAEMON, "sh", "-c", f"cat >{taken} <<'END'\n{text}\nEND"), "the forger fails")
            ended = here.end(job, "--to", sticky)
            tap.equal("failure" not in ended, job == "1", "whether job 2, which did not begin, has figures")
            tap.check(taken.is_symlink(), f"{taken} leads nowhere")
            tap.equal(json.loads(taken.read_text(encoding="utf-8")), ended, "where the name leads")


# --- what a report believes ---

def strangers():
    """Of files in a folder a report believes root's, the caller's, and those of users whom it is told to trust"""
    with machine() as here, scratch(here, "mixed", 0o1777) as mixed:
        record, path = record_of(here)
        (mixed / path.name).write_bytes(path.read_bytes())
        forged = json.dumps({**record, "host": "n2", "generation": "0" * 32, "uid": DAEMON, "regions": [{"name": "1", "sockets": [
            {**socket, "metrics": dict.fromkeys(record["metrics"], {"bytes": FORGED, "value": 1, "quality": []})}
            for socket in region_of(record)["sockets"]]}]})
        name = mixed / "1@n2.json"
        tap.check(may(DAEMON, "sh", "-c", f"cat >{name} <<'END'\n{forged}\nEND"), "the forger fails")
        done = report("1", mixed, status=1)
        contains(done.stderr, f"{name} is left out: it belongs to user {DAEMON}", f"--trust {DAEMON}")
        contains(done.stdout, f"Job 1 of user {NOBODY}, 1 host")
        for words, user in ((("--trust", "daemon"), 0), (("--trust", "2", "--trust", DAEMON), 0), ((), DAEMON)):
            contains(report("1", *words, mixed, user=user).stdout, "2 hosts", "999 TB")
        contains(report("1", name).stdout, "999 TB")
        contains(report("1", "--trust", "no such user", mixed, status=1).stderr, "no user no such user")
        with open(name, encoding="utf-8") as file:
            said = subprocess.run([UNCORE, "job", "report", "1", "-"], stdin=file, capture_output=True, text=True,
                                  check=True)
        contains(said.stdout, "999 TB")


def of_programs():
    """uncore report believes the same owners in a folder, and any file that the caller names"""
    with machine() as here, scratch(here, "regions", 0o1777) as folder:
        path = folder / "r.json"
        environment = here.uncored.environment(None, UNCORE_REPORT=str(path))
        program = standin.BUILD / "tests/ranks/mpi-steps"
        subprocess.run([program, "together", "1", "10"], user=DAEMON, group=DAEMON, extra_groups=[], env=environment,
                       check=False, capture_output=True, timeout=SECONDS)
        if not path.exists():
            raise tap.Skip("needs Open MPI")

        def shown(*words, user=0):
            done = as_user(user, UNCORE, "report", *words)
            return done.returncode, "solve" in done.stdout, "is left out" in done.stderr
        tap.equal([shown(folder), shown(path), shown("--trust", "daemon", folder), shown(folder, user=DAEMON),
                   shown("--trust", "daemon")],
                  [(1, False, True), (0, True, False), (0, True, False), (0, True, False), (2, False, False)], "reports")


def names():
    """The name of a file says which files are read, and the record inside of which job it is"""
    with machine() as here, scratch(here, "renamed") as folder:
        record, path = record_of(here)
        text, begin = path.read_text(encoding="utf-8"), path.name.partition("@")[2].removesuffix(".json")
        for name in (path.name, f"1@{begin}.2.json", f"1@{record['host']}.json", "anything.json", "1@elsewhere.json"):
            (folder / name).write_text(text, encoding="utf-8")
            contains(report("1", folder).stdout, "1 host,")
            (folder / name).unlink()
        for job, name in (("2", f"2@{begin}.json"), ("11", f"11@{begin}.json")):
            (folder / name).write_text(text, encoding="utf-8")
            contains(report(job, folder, status=1).stderr, f"there is no record of job {job}")
            contains(report("1", folder, status=1).stderr, "there is no record of job 1")
            contains(report("1", folder / name).stdout, "1 host,")
            (folder / name).unlink()
        unbegun = here.end("3", "--to", folder)
        tap.check(unbegun["begun_ns"] is None, f"{unbegun}")
        contains(report("3", folder, status=1).stdout, "There is no begin of this job")


def odd_files():
    """A report follows no link out of a folder, waits for no pipe, and reads at most 1 MiB of a file"""
    with machine() as here, scratch(here, "odd") as folder:
        record, path = record_of(here)
        good = folder / path.name
        good.write_text(json.dumps(record), encoding="utf-8")
        bad = folder / "bad.json"

        def left_out(*words):
            done = report("1", folder, status=1)
            contains(done.stderr, f"{bad} is left out: ", *words)
            contains(done.stdout, "1 host,")
            subprocess.run(["rm", "-rf", bad], check=True)
        for target in (path, "../" + path.name, "/etc/hostname", "/dev/zero", ".."):
            bad.symlink_to(target)
            left_out("link out of the folder" if "/" in str(target) else "not a regular file")
        (folder / "other").symlink_to(good.name)
        bad.symlink_to("other")
        left_out("a link to a link")
        bad.symlink_to("back.json")
        (folder / "back.json").symlink_to(bad.name)
        left_out("a link that leads to itself", f"{folder / 'back.json'} is left out: it is a link that leads to itself")
        (folder / "back.json").unlink()
        (folder / "latest.json").symlink_to(good.name)
        contains(report("1", folder).stdout, "1 host,")
        os.mkfifo(bad)
        left_out("not a regular file")
        bad.mkdir()
        left_out("not a regular file")
        for size in (2 ** 20 + 1, 100 * 2 ** 30):
            with open(bad, "wb") as file:
                file.truncate(size)
            left_out(f"more than {2 ** 20} bytes")
        bad.write_text(" " * (2 ** 20 - len(json.dumps(record))) + json.dumps(record), encoding="utf-8")
        contains(report("1", folder).stdout, "1 host,")


standin.enter()
tap.run_functions([(body.__doc__, body) for body in (
    owners, without_lists, squashed, folders, relative, of_one_job, mended, name_taken, strangers, of_programs, names, odd_files)])
