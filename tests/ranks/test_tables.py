# SPDX-License-Identifier: BSD-3-Clause
"""The table of a process that ends without a report, and without a team: a file beside the report. On the simulated
machine only the program moves the counts, so the truth is exact. Needs root."""
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys

import ranks
import tap
from ranks import Simulated, bytes_of, read_report, region_of, serving

LINE_BYTES, SETUP, SOLVE = 64, 156250, 312500
# A program whose arguments are the library, the counts, and what it does.
PROGRAM = """
import ctypes, glob, mmap, os, signal, sys
uncore = ctypes.CDLL(sys.argv[1])
uncore.uncore_error_text.restype = ctypes.c_char_p
with open(sys.argv[2], "r+b") as file:
    counts = memoryview(mmap.mmap(file.fileno(), 65536)).cast("Q")

def begin(name):
    if uncore.uncore_region_begin(name.encode()) < 0:
        print(uncore.uncore_error_text().decode())

def end(name):
    uncore.uncore_region_end(name.encode())

def emit(lines):
    counts[8] += lines

def say(word):
    print(word, flush=True)

def many(n):
    for i in range(n):
        begin(f"region {i}")
        end(f"region {i}")

def own_record():
    path, = glob.glob(os.environ["UNCORE_REPORT"] + ".table-*")
    return uncore.uncore_table_record(path.encode(), ctypes.byref(ctypes.c_char_p()))

def child(end_of_parent):
    "The rest happens in a child, for which the parent waits."
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        end_of_parent(0)

exec(sys.argv[3])
"""
MAIN = f"begin('setup'); emit({SETUP}); end('setup'); begin('solve'); emit({SOLVE}); "
ENDS = {
    "SIGSEGV": "ctypes.string_at(0)",
    "abort": "os.abort()",
    "_exit(0)": "os._exit(0)",
    "exec": "os.execv('/bin/true', ['true'])",
    "SIGKILL": "os.kill(os.getpid(), 9)",
}


class Program:
    def __init__(self, uncored, steps, before=(), report="report.json"):
        words = [sys.executable, "-c", PROGRAM, ranks.BUILD / "client/libuncore.so", uncored.counters, steps]
        self.process = subprocess.Popen(
            [*before, *words], env=uncored.environment(None, UNCORE_REPORT=str(uncored.folder / report)),
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd="/")

    def expect(self, word):
        tap.equal(self.process.stdout.readline().strip(), word, "what the program says")

    def end(self):
        said, _ = self.process.communicate(timeout=ranks.SECONDS)
        return said


def files(uncored):
    return sorted(uncored.folder.glob("report*"))


def the_table(uncored):
    found = files(uncored)
    tap.equal(len(found), 1, f"number of files: {found}")
    tap.check(found[0].name.startswith("report.json.table-"), f"{found}")
    return found[0]


def shown(uncored, path):
    """(record, the text of the table)"""
    record, text = (uncored.command("report", *words, path, user=0) for words in (["--json"], []))
    tap.equal((record.returncode, record.stderr, text.returncode, text.stderr), (0, "", 0, ""), "uncore report")
    return json.loads(record.stdout), text.stdout


def however_it_ends():
    """A process that ends without a report leaves its table, which uncore report shows, exact up to the last reading"""
    for name, end in ENDS.items():
        with serving(kind=Simulated) as uncored:
            Program(uncored, MAIN + end).end()
            path = the_table(uncored)
            status = path.stat()
            record, text = shown(uncored, path)
        tap.equal(stat.S_IMODE(status.st_mode), 0o600, name)
        tap.check(status.st_blocks * 512 < 2 << 20, f"{name}: {status.st_blocks} blocks")
        setup, solve = region_of(record, "setup"), region_of(record, "solve")
        tap.equal((setup["count"], bytes_of(setup)), (1, SETUP * LINE_BYTES), name)
        tap.equal((solve["count"], solve["died"], solve["open"]), (0, 1, 0), name)
        tap.equal((record["team"], [member["died"] for member in record["members"]]), (None, [True]), name)
        tap.check("ended without a report" in record["warning"] and "last reading at 20" in record["warning"], f"{record}")
        tap.check("killed" not in text and record["warning"].partition(": that is")[0] in text, text)
        tap.check(record["begun_ns"] <= record["ended_ns"] <= status.st_ctime_ns + 10**12, f"{record}")


def between_regions():
    """Nothing is missing if no region was open"""
    with serving(kind=Simulated) as uncored:
        Program(uncored, f"begin('a'); emit({SETUP}); end('a'); os._exit(0)").end()
        record, _ = shown(uncored, the_table(uncored))
    tap.equal(bytes_of(region_of(record, "a")), SETUP * LINE_BYTES, "bytes")
    tap.check("nothing is missing" in record["warning"], f"{record}")


def normal_end():
    """A process that reports leaves no table, even if it has closed all descriptors"""
    for last in ("", "; os.closerange(3, 1024); begin('last'); end('last')"):
        with serving(kind=Simulated) as uncored:
            tap.equal(Program(uncored, MAIN + "end('solve')" + last).end(), "", "output")
            tap.equal([path.name for path in files(uncored)], ["report.json"], "files")
            record = read_report(files(uncored)[0])
        tap.equal(bytes_of(region_of(record, "solve")), SOLVE * LINE_BYTES, "bytes")
        tap.check("warning" not in record, f"{record}")


def while_it_lives():
    """The table of a process that lives is told from that of one that has ended, even if it has read its own table"""
    with serving(kind=Simulated) as uncored:
        program = Program(uncored, MAIN + "say(own_record()); input(); os._exit(0)")
        program.expect("1")
        path = the_table(uncored)
        record, _ = shown(uncored, path)
        tap.check("1 process still runs" in record["warning"] and "ended" not in record["warning"], f"{record}")
        tap.equal((region_of(record, "solve")["open"], record["members"][0]["died"]), (1, False), "while it lives")
        program.process.send_signal(signal.SIGKILL)
        program.end()
        record, _ = shown(uncored, path)
    tap.equal((region_of(record, "solve")["open"], record["members"][0]["died"]), (0, True), "afterwards")


def with_children():
    """Children share the file: the last process that ends normally reports and removes it"""
    for parent, end, died in (("sys.exit", "end('solve')", [False, False]), ("os._exit", "end('solve')", [True, False]),
                              ("os._exit", "os.kill(os.getpid(), 9)", [True, True])):
        with serving(kind=Simulated) as uncored:
            Program(uncored, f"begin('setup'); emit({SETUP}); end('setup'); child({parent}); begin('solve'); "
                             f"emit({SOLVE}); {end}").end()
            record = shown(uncored, the_table(uncored))[0] if any(died) else read_report(uncored.folder / "report.json")
            tap.equal(len(files(uncored)), 1, f"files: {files(uncored)}")
        tap.equal([member["died"] for member in record["members"]], died, "members that died")
        tap.equal(bytes_of(region_of(record, "setup")), SETUP * LINE_BYTES, "setup")
        tap.equal(bytes_of(region_of(record, "solve")) if not died[1] else SOLVE * LINE_BYTES, SOLVE * LINE_BYTES, "solve")


def in_folder(uncored, kind, size):
    """Runs a program with a file system of its own as the report's folder."""
    folder = uncored.folder / "own"
    folder.mkdir()
    script = f'mount -t {kind} {size} none {folder} || exit 77; "$@"; echo "status $?"; ls {folder}'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]


def full_disk():
    """On a full disk a program goes on: its table is elsewhere, or has no room for more regions, but no signal ends it"""
    with serving(kind=Simulated) as uncored:
        said = Program(uncored, MAIN + "end('solve'); os._exit(0)", in_folder(uncored, "tmpfs", "-o size=128k"),
                       "own/report.json").end()
        tap.equal(said, "status 0\n", "without room from the begin on")
    with serving(kind=Simulated) as uncored:
        path = uncored.folder / "own/filler"
        fill = f"""
file = open({str(path)!r}, 'wb', buffering=0)
try:
    while file.write(bytes(4096)):
        pass
except OSError:
    pass
"""
        said = Program(uncored, f"many(1)\n{fill}\nmany(200)\nsay('alive')",
                       in_folder(uncored, "tmpfs", "-o size=2m"), "own/report.json").end().splitlines()
    tap.check("alive" in said and "status 0" in said, f"{said}")
    tap.check(any("the disk is full" in line for line in said[:said.index("alive")]), f"{said}")


def in_memory():
    """Where the report's folder may be on a network, the table is in /dev/shm"""
    with serving(kind=Simulated) as uncored:
        said = Program(uncored, MAIN + "os._exit(0)", in_folder(uncored, "ramfs", "-o mode=777"),
                       f"own/report-{os.getpid()}").end()
        tap.equal(said, "status 0\n", "files in the folder")
        found = list(pathlib.Path("/dev/shm").glob(f"report-{os.getpid()}.table-*"))
        try:
            tap.equal(len(found), 1, "tables")
            record, _ = shown(uncored, found[0])
        finally:
            for path in found:
                path.unlink()
    tap.equal(bytes_of(region_of(record, "setup")), SETUP * LINE_BYTES, "bytes")


def other_files():
    """A folder with such files is named, and a file that only looks like one is refused"""
    with serving(kind=Simulated) as uncored:
        Program(uncored, MAIN + "os._exit(0)").end()
        table = the_table(uncored)
        (uncored.folder / "report.json").write_text("{}")
        of_folder = uncored.command("report", uncored.folder, user=0)
        tap.check("*.table-*" in of_folder.stderr, of_folder.stderr)
        with open(table, "r+b") as file:
            file.seek(8)
            file.write(b"\0")
        refused = uncored.command("report", table, user=0)
    tap.equal(refused.returncode, 1, "status")
    tap.check("is not a table of this release" in refused.stderr, refused.stderr)


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (
    however_it_ends, between_regions, normal_end, while_it_lives, with_children, full_disk, in_memory, other_files)])
