# SPDX-License-Identifier: BSD-3-Clause
"""`uncore stat --trace`, and `uncore trace` of regions, on the simulated machine, whose counts only the program moves:
bytes and times in the trace."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import perfetto
import run
import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
UNCORE, SCATTER = BUILD / "client/uncore", BUILD / "tests/traffic/scatter"
BYTES = 64 * 1000000
EVENT_MOST = 40
SECONDS = 120
COMMAND = f"{SCATTER} {BYTES} 0; sleep 0.3; {SCATTER} {3 * BYTES} 0"


@contextlib.contextmanager
def traced(*words):
    """The tracks of two runs, and what stat itself prints of them."""
    with tempfile.TemporaryDirectory(prefix="uncored-trace-") as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            done = subprocess.run(
                [UNCORE, "stat", "-r", "2", "--json", "-o", "out.json", "--trace", "out.%p", *words, "--", "sh", "-c", COMMAND],
                cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS,
                env={**os.environ, "UNCORE_SOCKET": str(socket), "TRAFFIC_COUNTERS": str(folder / "counters")})
            tap.equal(done.returncode, 0, f"{done.stderr}status")
            trace, = (path for path in folder.glob("out.*") if path.suffix != ".json")
            said = (folder / "out.json").read_text(encoding="utf-8")
            yield *perfetto.read(trace), json.loads(said.splitlines()[-1] if words else said)


def find(tracks, row, metric):
    return next(track for track in tracks.values()
                if track.name.split(" ")[0] == metric and tracks[track.parent].name == row)


def moved(track, runs):
    """The integral over the runs: a value holds until the next one, or the end of its run."""
    total = 0
    for begun, ended, _ in runs:
        values = [(when, value) for when, value in track.values if begun <= when < ended] + [(ended, 0)]
        total += sum(value * (after[0] - when) for (when, value), after in zip(values, values[1:]))
    return total


def bytes_of_runs():
    """The integral of each counter over the runs is what stat counted"""
    with traced() as (tracks, _, _, said):
        runs = tracks[1].slices
        tap.equal([name for _, _, name in runs], ["sh", "sh"], "runs")
        for row, metric, want in (("socket 0", "dram.read", 8), ("socket 0", "dram.write", 8), ("socket 1", "dram.read", 0),
                                  ("all sockets", "dram.total", 16)):
            track = find(tracks, row, metric)
            tap.equal(track.unit, "GB/s", "unit")
            tap.check(abs(moved(track, runs) - want * BYTES) <= 0.001 * want * BYTES, f"{row} {metric}: {moved(track, runs)}")
        tap.equal(said["all_sockets"]["metrics"]["dram.read"]["bytes"], 4 * BYTES, "the mean of both runs")


def names():
    """Tracks have names, units and the caveat; what the machine does not count has none"""
    with traced("-I", "50") as (tracks, _, _, _):
        rows = [track.name for track in tracks.values() if not track.parent]
        tap.equal(rows[1:], ["socket 0", "socket 1", "all sockets"], "rows")
        tap.check("SIMULATED" in rows[0] and "sh -c" in rows[0], rows[0])
        metrics = {track.name.split(" ")[0] for track in tracks.values() if track.parent}
        tap.equal(metrics, {"dram.read", "dram.write", "dram.total", "itom", "specitom"}, "metrics")
        tap.check(all("standin" in track.name for track in tracks.values() if track.parent), "words of quality")


def sizes():
    """An event of a counter has 40 bytes at most; times are those of the kernel's CLOCK_BOOTTIME"""
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    with traced("-I", "20") as (tracks, largest, last, _):
        begun = min(begun for begun, _, _ in tracks[1].slices)
        tap.check(0 < largest <= EVENT_MOST, f"{largest} bytes")
        tap.check(before <= begun < last <= time.clock_gettime_ns(time.CLOCK_BOOTTIME), f"{before}, {begun} to {last}")


@contextlib.contextmanager
def rings(passes, lines, name="ring.%h.%p", under=()):
    """A program has run with UNCORE_TRACE, perhaps under another. Yields its folder, and a function that runs `uncore trace`."""
    with tempfile.TemporaryDirectory(prefix="uncored-trace-") as place:
        folder = pathlib.Path(place)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            done = subprocess.run(
                [*under, BUILD / "tests/traffic/traced", str(passes), str(lines)], cwd=folder, capture_output=True, text=True,
                check=False, timeout=SECONDS,
                env={**os.environ, "UNCORE_SOCKET": str(socket), "TRAFFIC_COUNTERS": str(folder / "counters"),
                     **({"UNCORE_TRACE": str(folder / name)} if name else {}), "UNCORE_REPORT": str(folder / "report.%p"),
                     "UNCORE_OVERHEAD": "0.1" if under else "50"})
        tap.equal(done.returncode, 0, f"{done.stderr}status")

        def join(*words, status=0):
            files = sorted(folder.glob("ring.*"))
            joined = subprocess.run([UNCORE, "trace", "-o", folder / "trace", *files, *words], capture_output=True, text=True,
                                    check=False, timeout=SECONDS)
            tap.equal(joined.returncode, status, f"{joined.stderr}status of trace")
            return joined.stderr
        yield folder, join


def regions():
    """Each thread has its regions, nested; sockets have the rates whose integral is what was read; a child is a process"""
    with rings(20, 10000) as (folder, join):
        tap.equal(join(), "", "what was said")
        tracks, largest, _ = perfetto.read(folder / "trace")
        tap.check(largest <= EVENT_MOST, f"{largest} bytes")
        threads = [sorted(track.slices) for track in tracks.values() if track.name.startswith("thread ")]
        names = sorted([[name for _, _, name in slices] for slices in threads], key=lambda slices: (len(slices), slices))
        tap.equal(names, [["child", "outer"], ["first", "second"], ["outer"] + 20 * ["read"]], "slices")
        outer, *reads = next(slices for slices in threads if len(slices) > 2)
        tap.check(all(outer[0] <= begun < ended <= outer[1] for begun, ended, _ in reads), "reads are inside of outer")
        tap.check(all(ended - begun >= 3000000 for begun, ended, _ in reads), "a read rests for 3 ms")
        socket = next(uuid for uuid, track in tracks.items() if track.name.startswith("socket 0 of "))
        counter = next(track for track in tracks.values() if track.parent == socket and track.name == "dram.read")
        times = [when for when, _ in counter.values]
        total = sum(value * (after - when) for (when, value), after in zip(counter.values, times[1:]))
        tap.check(0 < total <= 20 * 10000 * 64 * 1.001, f"{total} bytes of {20 * 10000 * 64}")
        tap.check(total >= 15 * 10000 * 64, f"{total} bytes: the last rate holds to the end")


def beside():
    """Spans and a state are beside a process's threads; the team has the stretches of each region, and the rates of all sockets"""
    with rings(20, 10000) as (folder, join):
        tap.equal(join(), "", "what was said")
        tracks, largest, _ = perfetto.read(folder / "trace")
        tap.check(largest <= EVENT_MOST, f"{largest} bytes")
        spans = sorted((begun, ended, name, tracks[track.parent].name) for track in tracks.values()
                       if track.name.startswith(("span ", "state")) for begun, ended, name in track.slices)
        tap.equal([name for _, _, name, _ in spans], ["early", "wait/any", "late"], "spans and the state")
        (early, _, _, process), wait, late = spans
        tap.check(early <= wait[0] and wait[0] + 3000000 <= late[0] <= wait[1] < late[1], f"{spans}")
        tap.check("process " in process, process)
        team = next(uuid for uuid, track in tracks.items() if track.name.startswith("team on "))
        tap.equal(tracks[team].slices, [], "slices of the team itself")
        own = {track.name: track for track in tracks.values() if track.parent == team}
        passages = [(begun, ended, name) for track in tracks.values() if track.name.startswith(("thread ", "span ", "state"))
                    for begun, ended, name in track.slices]
        for name in ("outer", "read", "first", "second", "early", "late", "child", "wait/any"):
            tap.equal(sorted(own[name].slices), sorted(one for one in passages if one[2] == name), f"stretches of {name}")
        sockets = [uuid for uuid, track in tracks.items() if track.name.startswith("socket ")]
        tap.equal(len(sockets), 2, "sockets")

        def integral(counter):
            return sum(value * (after[0] - when) for (when, value), after in zip(counter.values, counter.values[1:]))
        parts = [integral(track) for track in tracks.values() if track.parent in sockets and track.name == "dram.read"]
        tap.check(sum(parts) > 15 * 10000 * 64 and abs(integral(own["dram.read"]) - sum(parts)) <= 0.001 * sum(parts),
                  f"{integral(own['dram.read'])} of the team, {parts} of sockets")


def together():
    """Passages of two processes that overlap are one stretch of the team"""
    with rings(20, 10000) as (folder, join):
        one, other = sorted(folder.glob("ring.*"))
        join()
        before, _, _ = perfetto.read(folder / "trace")
        (folder / "ring.copy").write_bytes(one.read_bytes())
        (folder / "ring.copy2").write_bytes(other.read_bytes())
        join()
        after, _, _ = perfetto.read(folder / "trace")
        def stretches(tracks):
            return sorted((track.name, sorted(track.slices)) for track in tracks.values()
                          if track.parent and tracks[track.parent].name.startswith("team on ") and not track.unit)
        tap.equal(stretches(after), stretches(before), "stretches of all processes twice")


def lost():
    """A file that is full has the latest passages, and says how many were lost; what is not such a file is refused"""
    with rings(70000, 0, "ring.only") as (folder, join):
        said = join()
        tap.check("records were lost" in said, said)
        tracks, _, _ = perfetto.read(folder / "trace")
        tap.check(60000 < sum(len(track.slices) for track in tracks.values() if track.name.startswith("thread ")) <= 65536, "slices")
        tap.check("is not a file that a process wrote" in join(folder / "counters", status=1), "another file")
        (folder / "ring.only").write_bytes((folder / "ring.only").read_bytes()[:-1])
        join(status=1)


def silent():
    """Of 70,000 passages in a trace none makes a system call"""
    if not shutil.which("strace"):
        raise tap.Skip("needs strace: ./dev setup --tests installs it")
    calls = []
    for name in ("", "ring.only"):
        with rings(70000, 0, name, under=("strace", "-f", "-c", "-o", "calls")) as (folder, _):
            calls.append(int((folder / "calls").read_text(encoding="ascii").splitlines()[-1].split()[3]))
    print(f"# {calls[0]} calls without a trace, {calls[1]} with one")
    tap.check(max(calls) < 7000, f"{calls}")


def refused():
    """Where the trace cannot be written, nothing runs, and a sentence says why"""
    with tempfile.TemporaryDirectory(prefix="uncored-trace-") as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        with run.uncored(BUILD, folder) as socket:
            done = subprocess.run([UNCORE, "stat", "--trace", "none/out", "--", "touch", "ran"], cwd=folder, capture_output=True,
                                  text=True, check=False, timeout=SECONDS, env={**os.environ, "UNCORE_SOCKET": str(socket)})
        tap.equal((done.returncode, (folder / "ran").exists()), (125, False), done.stderr)
        tap.check("cannot write to none/out: No such file or directory." in done.stderr, done.stderr)


if __name__ == "__main__":
    tap.run_functions([(case.__doc__, case) for case in (bytes_of_runs, names, sizes, regions, beside, together, lost, silent, refused)])
