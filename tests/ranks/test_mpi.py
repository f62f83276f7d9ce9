# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of Open MPI: one report for all, whose bytes are those that the kernel counted. Needs root."""
import os
import shutil
import signal
import subprocess

import ranks
import tap
from ranks import PAGE_BYTES, bytes_of, read_report, region_of, serving

STEPS = ranks.BUILD / "tests/ranks/mpi-steps"
COUNTS = ("count", "ranks", "failed", "open", "died")
PAGES = {4: 2000, 16: 500}  # per passage


def mpirun(size, *steps):
    return ["mpirun", "--oversubscribe", "-n", str(size), str(STEPS), *map(str, steps)]


def environment(uncored, **more):
    """mpirun wants a place for its own files, which the user can write to, and killed ranks leave theirs in /dev/shm."""
    folder = str(uncored.folder)
    return uncored.environment(None, HOME=folder, TMPDIR=folder, OMPI_MCA_btl_vader_backing_directory=folder, **more)


def run(uncored, *command, **more):
    return subprocess.run(command, env=environment(uncored, **more), user=ranks.NOBODY, cwd=uncored.folder,
                          capture_output=True, text=True, check=False, timeout=ranks.SECONDS)


def measured(size, *steps):
    """The report, and the least and the most faults of region solve."""
    with serving() as uncored:
        done = run(uncored, *mpirun(size, *steps), UNCORE_REPORT="report-%h.json", UNCORE_OVERHEAD="0")
        tap.equal(done.returncode, 0, f"status of {done}")
        path, = uncored.folder.glob("report-*")
        return read_report(path), *map(int, done.stdout.split())


def names_ranks(report, size):
    """Both the ranks that there are and the number that the launcher announced."""
    tap.equal(sorted(member["rank"] for member in report["members"]), list(range(size)), "ranks")
    tap.equal((report["expected"], report["team"].split("/")[0], report["command"]), (size, "pmix", "mpi-steps"),
              "team")


def counts_of(report, name):
    return [region_of(report, name)[key] for key in COUNTS]


def together(size):
    report, least, most = ranks.conclusive(lambda: measured(size, "together", 5, PAGES[size]))
    names_ranks(report, size)
    tap.equal(counts_of(report, "solve"), [5 * size, size, 0, 0, 0], "solve")
    ranks.between(region_of(report, "solve"), least, most)


def apart(size):
    report, least, most = ranks.conclusive(lambda: measured(size, "apart", 5, PAGES[size]))
    names_ranks(report, size)
    tap.equal(counts_of(report, "solve"), [size, size, 0, 0, 0], "solve")
    ranks.between(region_of(report, "solve"), least, most)
    for name in ("left", "right"):
        tap.equal(counts_of(report, name), [5 * size, size, 0, 0, 0], name)
        have = bytes_of(region_of(report, name)) / PAGE_BYTES
        tap.check(5 * size * (PAGES[size] // 4) <= have <= most / ranks.TOLERANCE, f"{name}: {have} faults of {most}")


def together_4():
    """4 ranks between barriers: their bytes are within 1 % of the kernel's count of the same time"""
    together(4)


def together_16():
    """16 ranks between barriers: their bytes are within 1 % of the kernel's count of the same time"""
    together(16)


def apart_4():
    """4 ranks that do not wait for each other: no passage is lost, and what holds all is within 1 %"""
    apart(4)


def apart_16():
    """16 ranks that do not wait for each other: no passage is lost, and what holds all is within 1 %"""
    apart(16)


def one_table():
    """Without a file, one rank prints one table for all"""
    with serving() as uncored:
        done = run(uncored, *mpirun(4, "together", 1, 100))
    tap.equal((done.returncode, done.stderr.count("Regions of")), (0, 1), f"status and tables of {done}")
    tap.check("host " in done.stderr and ", 4 of 4 ranks" in done.stderr, done.stderr)


def killed():
    """If all ranks are killed, uncore run reports in their place"""
    with serving() as uncored:
        done = run(uncored, str(ranks.BUILD / "client/uncore"), "run", "-o", "report.json", "--",
                   *mpirun(4, "die", 1000))
        report = read_report(uncored.folder / "report.json")
    tap.equal(done.returncode, 128 + signal.SIGKILL, f"status of {done}")
    check_killed(report)


def check_killed(report):
    tap.check("Ranks that were killed: 4 of 4" in report["warning"], report["warning"])
    tap.equal(counts_of(report, "solve"), [4, 4, 0, 0, 0], "solve")
    tap.equal(counts_of(report, "last"), [0, 4, 0, 0, 4], "last")
    have = bytes_of(region_of(report, "solve"))
    tap.check(have >= 4 * 1000 * PAGE_BYTES, f"{have} bytes")


def launcher_killed():
    """If mpirun is killed, its ranks end, and uncore run or uncore report shows them"""
    with serving() as uncored:
        command = [ranks.BUILD / "client/uncore", "run", "-o", "report.json", "--", *mpirun(4, "hang", 1000)]
        done = subprocess.Popen(command, env=environment(uncored), user=ranks.NOBODY, cwd=uncored.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        launcher = int(done.stdout.readline().split()[1])
        os.kill(launcher, signal.SIGKILL)
        _, said = done.communicate(timeout=ranks.SECONDS)  # the ranks have the other ends of the pipes
        path = uncored.folder / "report.json"
        if "still run" in said:
            path.write_text(uncored.command("report", "--json").stdout.strip()[1:-1], encoding="utf-8")
        report = read_report(path)
    tap.equal(done.returncode, 128 + signal.SIGKILL, said)
    check_killed(report)


if os.geteuid() != 0:
    tap.skip_all("needs root")
if not (STEPS.exists() and shutil.which("mpirun")):
    tap.skip_all("Open MPI is not installed: ./dev setup --tests")
tap.run_functions([(body.__doc__, body) for body in tap.of_suite(
    (together_4, apart_4, one_table, killed, launcher_killed), long=(together_16, apart_16))])
