# SPDX-License-Identifier: BSD-3-Clause
"""Python's uncore: programs that know what they moved."""
import json
import pathlib
import subprocess
import sys
import tempfile

import languages
import pages
import run
import tap
from languages import BUILD, PROGRAMS, bytes_of, counts_of, python_with, simulated

KIB = 1024


# --- measurements ---

def measured():
    """A measurement has the bytes that moved, by socket; what is absent raises the reason; a table, HTML and rows say it"""
    with simulated() as machine:
        said = json.loads(machine.run(sys.executable, PROGRAMS / "measured.py").stdout)
    tap.equal(said["bytes"], [[1 << 20, 0], [0, 2 << 20]], "bytes")
    tap.equal((round(said["rate"]), said["broken"], said["platform"]), (1 << 20, 640, "simulated"), "figures")
    tap.equal(said["absent"], "hbm.read is absent: The simulated machine has no such memory.", "reason")
    tap.check("not measured" in said["early"], said["early"])
    tap.check(abs(said["error"] - said["bound"]) < 1e-9, f"error {said['error']}, bound {said['bound']}")
    tap.equal((said["quality"], said["rows"][0]["count"], said["rows"][2]["count"]), (["standin"], 1 << 20, None), "rows")
    for text in (said["table"], said["html"]):
        tap.check("1,048,576" in text and "absent: hbm.read" in text and "not memory traffic" in text.replace(
            "nothing here is", "not"), text)
    tap.check(said["html"].startswith("<table>"), said["html"])


def without_uncored():
    """Without uncored a measurement raises the sentence, and regions disturb nothing"""
    program = ("import uncore\nwith uncore.region('solve'): print('solved')\ntry:\n with uncore.measure(): pass\n"
               "except uncore.Error as error: print(error.errno, error.strerror)")
    with simulated() as machine:
        done = machine.run(sys.executable, "-W", "error", "-c", program, UNCORE_SOCKET=str(machine.folder / "nothing"))
        region, = machine.report()["regions"]
    solved, sentence = done.stdout.splitlines()
    tap.check(solved == "solved" and sentence.startswith("2 ") and "nothing" in sentence, done.stdout)
    tap.equal((region["name"], region["failed"]), ("solve", 1), "region")


def mistakes():
    """A mistake of the program is a warning at once, and an Error of the functions"""
    program = ("import uncore\na, b = uncore.region('a'), uncore.region('b')\na.__enter__(); b.__enter__(); a.__exit__()\n"
               "b.__exit__(); a.__exit__()\nwith uncore.region(''): pass\n"
               "try: uncore.region_end('never')\nexcept uncore.Error as error: print(error.errno)\n"
               "async def several(): yield\ntry: uncore.region('x')(several)\nexcept TypeError as error: print(error)")
    with simulated() as machine:
        done = machine.run(sys.executable, "-W", "always", "-c", program)
        regions = machine.regions()
    tap.equal(done.stdout.splitlines(), ["22", "An asynchronous generator cannot be a region: decorate what iterates over "
                                         "it."], "errors")
    tap.check(done.stderr.count("RuntimeWarning: ") == 3 and "1 to 63 bytes" in done.stderr, done.stderr)
    tap.equal({name: region["count"] for name, region in regions.items()}, {"a": 1, "b": 1}, "passages")


def too_many():
    """A phase that finds no room for its region leaves the one before it open"""
    program = ("import uncore\nwith uncore.phases('first') as phase:\n"
               " for i in range(999):\n  with uncore.region(f'r{i}'): pass\n"
               " phase.next('one too many')\nprint('done')")
    with simulated() as machine:
        machine.run(sys.executable, "-W", "error", "-c", program)
        regions = machine.regions()
    tap.equal((len(regions), counts_of(regions["first"])), (1000, [1, 0, 0, 0]), "regions")


def restarts():
    """After a restart in which counts may be lost, a measurement fails"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            machine = languages.Machine(folder, socket)
            process = subprocess.Popen([sys.executable, PROGRAMS / "restarted.py"], env=machine.environment(), text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            tap.equal(process.stdout.readline(), "measuring\n", "line")
        (folder / "socket").unlink(missing_ok=True)
        with run.uncored(BUILD, folder):
            said, _ = process.communicate("\n", timeout=languages.SECONDS)
    tap.equal(said, "ESTALE\n", "what the measurement says")


def frames():
    """pandas takes the rows"""
    python = python_with("pandas")
    program = ("import mover, pandas, uncore\nwith uncore.measure() as traffic: mover.move(64000)\n"
               "frame = pandas.DataFrame(traffic.rows())\nreads = frame[frame.metric == 'dram.read']\n"
               "print(int(reads['count'].sum()), frame[frame.absent != '']['count'].isna().all())")
    with simulated() as machine:
        tap.equal(machine.run(python, "-c", program).stdout, "64000 True\n", "frame")


def notebook():
    """%%uncore measures a cell, and the result shows itself"""
    program = ("import uncore\nclass IPython:\n def register_magic_function(self, *words): self.words = words\n"
               " def run_cell(self, cell): exec(cell)\n"
               "ipython = IPython()\nuncore.load_ipython_extension(ipython)\nmagic, kind, name = ipython.words\n"
               "traffic = magic('', 'import mover; mover.move(64000)')\n"
               "print(kind, name, traffic[0]['dram.read'].bytes, '64,000' in traffic._repr_html_())")
    with simulated() as machine:
        tap.equal(machine.run(sys.executable, "-c", program).stdout, "cell uncore 64000 True\n", "magic")


IN_IPYTHON = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell('%load_ext uncore')
traffic = shell.run_cell_magic('uncore', '', 'import mover; mover.move(64000)')
print(traffic[0]['dram.read'].bytes, '64,000' in traffic._repr_html_())
"""


def ipython():
    """So it is in IPython itself"""
    python = python_with("IPython")
    with simulated() as machine:
        said = machine.run(python, "-c", IN_IPYTHON, IPYTHONDIR=str(machine.folder)).stdout
    tap.equal(said.splitlines()[-1], "64000 True", "magic")


# --- regions ---

MARKED = {  # passages, bytes
    "decorated": (1, KIB), "generator": (1, KIB), "inside": (1, KIB), "outside": (1, 0), "raised": (1, 2 * KIB),
    "threads": (400, 50 * 64), "first": (1, 3 * KIB), "second": (1, 4 * KIB), "span": (1, 5 * KIB), "read": (1, 6 * KIB),
    "solve": (1, 7 * KIB), "waiting/any": (1, 8 * KIB), "waiting/none": (0, 0), "waiting/some": (0, 0),
    "waiting/all": (0, 8 * KIB)}


def marked():
    """Regions by `with`, decorators, threads, phases and functions have their passages and bytes"""
    with simulated() as machine:
        done = machine.run(sys.executable, "-W", "error", PROGRAMS / "marked.py", UNCORE_OVERHEAD="0")
        regions = machine.regions()
    tap.equal({name: (region["count"], sum(bytes_of(region))) for name, region in regions.items()}, MARKED, "regions")
    tap.equal([region for region in regions.values() if region["failed"] or region["open"]], [], "failures")
    tap.check(done.stdout.startswith("22 This span is not open"), done.stdout)
    tap.equal(regions["first"]["work"], {"cells": 3}, "work")
    tap.equal(regions["first"]["title"], "the first of all", "title")


def tasks():
    """100 tasks of asyncio that interleave: each span has the bytes that moved while any task was inside"""
    with simulated() as machine:
        truth = json.loads(machine.run(sys.executable, "-W", "error", PROGRAMS / "tasks.py", UNCORE_OVERHEAD="0").stdout)
        regions = machine.regions()
    print(f"# {truth}")
    for name in ("request", "reply"):
        tap.equal((counts_of(regions[name]), bytes_of(regions[name])), ([100, 0, 0, 0], [truth[name], 0]), name)
    tap.equal(counts_of(regions["task"]), [100, 0, 0, 0], "task")


def children(method, when="first"):
    """One report for the program and its three children; those that are forked end without leaving, and lose nothing."""
    with simulated() as machine:
        machine.run(sys.executable, "-W", "error", PROGRAMS / "children.py", method, when)
        report, regions = machine.report(), machine.regions()
    tap.equal(len(report["members"]), 4, "members")
    tap.equal([(region["count"], sum(bytes_of(region))) for region in (regions["parent"], regions["child"])],
              [(1, 6400), (3, 3 * 6400)], "regions")
    tap.equal(counts_of(regions["child"], "failed", "open", "died"), [0, 0, 0], "regions of children")


def forked():
    """Children that multiprocessing forks are in their parent's report, whenever it was imported"""
    children("fork")
    children("fork", "late")


def spawned():
    """Children that multiprocessing spawns are in their parent's report"""
    children("spawn")


def served():
    """Children of its server are in their parent's report"""
    children("forkserver")


def reports_of(when):
    with simulated() as machine:
        done = machine.run(sys.executable, PROGRAMS / "children.py", "spawn", when)
        reports = [json.loads(path.read_text(encoding="utf-8")) for path in machine.folder.glob("report.json*")]
        own = machine.report()
    tap.equal(done.stderr.count("has a report of its own"), 3, done.stderr)
    tap.equal(sum("report.json" in line for line in done.stderr.splitlines()), 0, done.stderr)
    return [region["name"] for region in own["regions"]], sorted(
        region["name"] for report in reports for region in report["regions"])


def too_late():
    """Children that are spawned when their parent has a report already say so, and have one each"""
    tap.equal(reports_of("late"), (["parent"], ["child"] * 3 + ["parent"]), "regions")


def marked_at_top():
    """So do those that have a region as soon as they import their parent's program, and none takes the parent's file"""
    tap.equal(reports_of("marked"), (["top", "parent"], ["child"] * 3 + ["parent"] + ["top"] * 4), "regions")


def of_mpi():
    """A program that a launcher started stays in the launcher's team"""
    with simulated() as machine:
        machine.run(sys.executable, PROGRAMS / "children.py", "fork", "first", PMI_JOBID="7")
        tap.equal((machine.report()["team"], len(machine.report()["members"])), ("pmi/7", 4), "team")


# --- python -m uncore ---

def script():
    """python -m uncore measures a script as it is, with functions of it, its children and its exit status"""
    with simulated() as machine:
        machine.run(sys.executable, "-W", "error", "-m", "uncore", "-r", "Solver.step", "-r", "later", "-o", "here.json",
                    PROGRAMS / "script.py", "7", status=7)
        machine.report_path = machine.folder / "here.json"
        regions = machine.regions()
    tap.equal({name: (region["count"], sum(bytes_of(region))) for name, region in regions.items()},
              {"script.py": (1, 3 * 6400 + 128 + 640), "Solver.step": (3, 3 * 6400), "later": (1, 128)}, "regions")


def module():
    """python -m uncore -m measures a module"""
    with simulated() as machine:
        machine.run(sys.executable, "-m", "uncore", "-m", "script", "0")
        tap.equal(sum(bytes_of(machine.regions()["script"])), 3 * 6400 + 128 + 640, "bytes")


def no_such_function():
    """A function that the script does not have is an error, before anything runs"""
    with simulated() as machine:
        done = machine.run(sys.executable, "-m", "uncore", "-r", "nothing", PROGRAMS / "script.py", "0", status=1)
    tap.check("script.py has no function nothing." in done.stderr, done.stderr)


def subinterpreters():
    """A subinterpreter has regions of the same process"""
    python = python_with("_xxsubinterpreters")
    program = ("import _xxsubinterpreters as inner, uncore\nwith uncore.region('solve'): pass\nsub = inner.create()\n"
               "inner.run_string(sub, \"import uncore\\nwith uncore.region('solve'): pass\")\ninner.destroy(sub)")
    with simulated() as machine:
        machine.run(python, "-c", program)
        tap.equal(counts_of(machine.regions()["solve"]), [2, 0, 0, 0], "solve")


tap.run_functions([(case.__doc__, case) for case in (
    measured, without_uncored, mistakes, too_many, restarts, frames, notebook, ipython, marked, tasks,
    forked, spawned, served, too_late, marked_at_top, of_mpi, script, module, no_such_function, subinterpreters)]
    + pages.cases("python"))
