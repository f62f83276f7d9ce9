# SPDX-License-Identifier: BSD-3-Clause
"""Events, values and errors of PAPI's component uncored, against counts that the test moves.

UNCORE_TEST_SIGNALS=60000 lets that many signals of the timer read, at 1 kHz: for a minute where a CPU is free for them."""
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import time

import kernel
import tap
from component import (
    BUILD, ECLOST, ENOEVNT, ENOSUPP, ESYS, LINE, OK, PAPI, READ, SECONDS, SOURCE, WRITE, Simulated, Uncored, program, serving)

PAGE_BYTES, PAGES = 4096, 10000
AGE = "PAPI_UNCORED_MAX_AGE_MS"
SIGNALS, CALLS, THREADS = int(os.environ.get("UNCORE_TEST_SIGNALS", "100")), 100, 3
CHANNEL = "uncored:::dram.read:socket=0:channel"


def n_sockets():
    return min(2, os.cpu_count())


LAST = n_sockets() - 1  # the last socket


def native(uncored):
    """{event: units}, as papi_native_avail lists them."""
    text = uncored.tool("papi_native_avail", "-i", "uncored:::")
    return dict(re.findall(r"^\| (uncored:::\S+)[^\n]*\n(?:\|  [^\n]*\n)*?\|     Units: (\S+) ", text, re.M))


def lists():
    """Names as the library has them; what is absent is not among them."""
    wanted = {}
    for metric in ("dram.read", "dram.write", "itom", "specitom"):
        names = [f"{metric}:socket={s}" for s in range(n_sockets())] + [f"{metric}:all"]
        if metric.startswith("dram"):
            names += [f"{metric}:socket={s}:channel=simulated{i}" for s in range(n_sockets()) for i in range(4)]
        wanted.update({f"uncored:::{name}": "bytes" for name in names})
    with serving(Simulated) as uncored:
        tap.equal(native(uncored), wanted, "events")
        tap.check("standin" in uncored.tool("papi_native_avail", "-i", "uncored:::"), "no description says standin")
        said = uncored.tool("papi_component_avail").partition("Active components:")[2]
        tap.check(re.search(r"^Name:   uncored ", said, re.M), said)
        said = uncored.tool("papi_command_line", "uncored:::dram.read:socket=0")
        tap.check("Successfully added" in said and re.search(r"socket=0 : \t0 bytes", said), said)


def sums():
    """A sum of sockets is there only where it means something: times are not added up."""
    with serving(Uncored, "standin") as uncored:
        names = native(uncored)
        tap.equal((names["uncored:::clock:socket=0"], "uncored:::clock:all" in names), ("ns", False), "clock")


def tests_of_papi():
    with serving(Simulated) as uncored:
        for name in ("uncored_basic", "cmpinfo", "get_event_component"):
            tap.check("PASSED" in uncored.tool(name), f"{name} has not passed")
        tap.check("libuncore" not in uncored.run("ldd", PAPI / "lib/libpapi.so").stdout, "libpapi is linked with libuncore")


def nothing_before_first_use():
    """A program with events of other components neither loads libuncore nor connects; the first event does both."""
    with serving(Simulated) as uncored, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        path = uncored.folder / "listener"
        listener.bind(str(path))
        listener.listen()

        def has_connected():
            return bool(select.select([listener], [], [], 0)[0])

        def maps(talk):
            return pathlib.Path(f"/proc/{talk.process.pid}/maps").read_text(encoding="utf-8")

        uncored.tool("papi_avail", UNCORE_SOCKET=str(path))
        with program(uncored, UNCORE_SOCKET=str(path)) as talk:
            for name in ("io:::rchar", "perf::TASK-CLOCK", "nonsense"):
                talk.do(f"0 0 add {name}")
            talk.do("0 0 start")
            talk.do("0 0 stop")
            tap.equal((has_connected(), "libuncore" in maps(talk)), (False, False), "connected, loaded")
            talk.do("1 1 add uncored:::dram.read:socket=0")
            tap.equal((has_connected(), "libuncore" in maps(talk)), (True, True), "connected, loaded")


def traced():
    """The same of papi_avail, as strace sees it: no call names uncored or its library."""
    if not shutil.which("strace"):
        raise tap.Skip("strace is not installed: ./dev setup --tests")
    with serving(Simulated) as uncored:
        for name, expected in (("papi_avail", 0), ("papi_component_avail", 1)):
            said = uncored.run("strace", "-f", "-e", "trace=connect,open,openat", PAPI / "bin" / name).stderr
            tap.equal("exited with 0" in said, True, said)
            tap.equal(any("libuncore" in line or str(uncored.socket) in line for line in said.splitlines()),
                      bool(expected), f"{name} asks for uncored")


def exact():
    """A socket, a channel and the sum of all sockets, by one set; and again after a reset."""
    with serving(Simulated) as uncored, program(uncored) as talk:
        uncored.move(0, READ, 0, 1000)
        talk.begin("0 0", "dram.read:socket=0", "dram.read:all", f"dram.write:socket={LAST}:channel=simulated2")
        talk.expect("0 0 read", OK, 0, 0, 0)
        uncored.move(0, READ, 1, 10)
        uncored.move(LAST, READ, 3, 5)
        uncored.move(LAST, WRITE, 2, 7)
        uncored.move(LAST, WRITE, 1, 100)
        own = 10 if LAST else 15
        talk.expect("0 0 read", OK, own * LINE, 15 * LINE, 7 * LINE)
        talk.expect("0 0 reset", OK)
        talk.expect("0 0 read", OK, 0, 0, 0)
        uncored.move(0, READ, 0, 1)
        talk.expect("0 0 stop", OK, LINE, LINE, 0)
        uncored.move(0, READ, 0, 50)
        talk.expect("0 0 start", OK)
        talk.expect("0 0 read", OK, 0, 0, 0)


def absent():
    with serving(Simulated) as uncored, program(uncored) as talk:
        talk.expect("0 0 add uncored:::hbm.read:socket=0", ENOEVNT)
        talk.expect("0 0 add uncored:::hbm.read:all", ENOEVNT)
        talk.expect("0 0 add uncored:::dram.read:socket=7", ENOEVNT)


def several_sets():
    """Two sets of one thread in turn, and two threads at once: each has its own zero."""
    with serving(Simulated) as uncored, program(uncored) as talk:
        talk.begin("0 0", "dram.read:socket=0")
        uncored.move(0, READ, 0, 3)
        talk.expect("0 0 stop", OK, 3 * LINE)
        talk.begin("0 1", "dram.write:all")
        talk.begin("1 0", "dram.read:socket=0", "dram.write:socket=0")
        uncored.move(0, WRITE, 0, 4)
        talk.begin("2 0", "dram.write:socket=0:channel=simulated0")
        uncored.move(0, WRITE, 0, 5)
        uncored.move(0, READ, 0, 6)
        talk.expect("0 1 stop", OK, 9 * LINE)
        talk.expect("1 0 read", OK, 6 * LINE, 9 * LINE)
        talk.expect("2 0 read", OK, 5 * LINE)
        talk.expect("0 0 start", OK)
        talk.expect("0 0 stop", OK, 0)


def forked():
    """A child goes on with its parent's set."""
    with serving(Simulated) as uncored, program(uncored) as talk:
        talk.begin("0 0", "dram.read:socket=0")
        uncored.move(0, READ, 0, 3)
        talk.expect("0 0 fork", OK)
        uncored.move(0, READ, 0, 4)
        talk.expect("0 0 read", OK, 7 * LINE)


def away():
    """While uncored is away, reads are errors; PAPI says why there is nothing to begin with."""
    with serving(Simulated) as uncored, program(uncored) as talk, program(uncored) as late:
        talk.begin("0 0", "dram.read:socket=0")
        uncored.stop()
        for _ in range(3):
            talk.expect("0 0 read", ESYS)
        tap.check(late.do("0 0 add uncored:::dram.read:socket=0")[0] != OK, "an event without uncored")
        tap.check(late.ask("0 1 reason uncored").startswith("Cannot connect to uncored at "), "there is no reason")


def lost():
    """Killed without a descriptor store: the counts are lost, and reads say so until the set is reset."""
    with serving(Simulated, "--no-store") as uncored, program(uncored) as talk:
        talk.begin("0 0", "dram.read:socket=0", "dram.read:socket=0:channel=simulated0")
        uncored.move(0, READ, 0, 3)
        talk.expect("0 0 read", OK, 3 * LINE, 3 * LINE)
        uncored.kill()
        for _ in range(3):
            talk.expect("0 0 read", ECLOST)
        talk.expect("0 0 reset", OK)
        uncored.move(0, READ, 0, 5)
        talk.expect("0 0 stop", OK, 5 * LINE, 5 * LINE)


def kept():
    """Killed five times with a descriptor store: what moved meanwhile is counted, and no read fails."""
    if not kernel.can_count():
        raise tap.Skip("needs perf_event_open(2)")
    with serving(Uncored, "standin") as uncored, program(uncored) as talk:
        talk.begin("0 0", f"dram.read:socket={LAST}")
        before = 0
        for _ in range(5):
            uncored.kill()
            subprocess.run([BUILD / "tests/workload/touch-pages", str(PAGES), str(LAST)], check=True,
                           stdout=subprocess.DEVNULL)
            status, now = talk.do("0 0 read")
            tap.equal(status, OK, "status of a read")
            tap.check(now - before >= PAGES * PAGE_BYTES, f"{now - before} bytes while {PAGES} pages were touched")
            before = now


def cached():
    """With a greatest age, a read takes what others had swept; it makes a sweep when that is too old."""
    with serving(Simulated) as uncored, program(uncored) as fresh, program(uncored, **{AGE: "3600000"}) as old, \
            program(uncored, **{AGE: "1"}) as young:
        for talk in (fresh, old, young):
            talk.begin("0 0", "dram.read:socket=0", "dram.read:socket=0:channel=simulated0")
        uncored.move(0, READ, 0, 3)
        old.expect("0 0 read", OK, 0, 0)
        fresh.expect("0 0 read", OK, 3 * LINE, 3 * LINE)
        old.expect("0 0 read", OK, 3 * LINE, 3 * LINE)
        uncored.move(0, READ, 0, 4)
        select.select([], [], [], 0.05)
        young.expect("0 0 read", OK, 7 * LINE, 7 * LINE)
        uncored.stop()
        select.select([], [], [], 0.05)
        young.expect("0 0 read", ESYS)


def gone_back():
    """A counter that went back has lost a part: an error, also of the sum, and right again after a reset."""
    with serving(Simulated) as uncored, program(uncored) as talk:
        uncored.move(0, READ, 0, 100)
        talk.begin("0 0", "dram.read:socket=0")
        talk.begin("1 0", "dram.read:all")
        talk.begin("2 0", "dram.read:socket=0:channel=simulated0")
        uncored.move(0, READ, 0, -50)
        for where in ("0 0", "1 0", "2 0"):
            talk.expect(f"{where} read", ECLOST)
            talk.expect(f"{where} reset", OK)
        uncored.move(0, READ, 0, 7)
        for where in ("0 0", "1 0", "2 0"):
            talk.expect(f"{where} read", OK, 7 * LINE)


def no_overflow_of_channels():
    """They are refused by PAPI_start(), because a handler cannot read them."""
    with serving(Simulated) as uncored:
        done = uncored.run(PAPI / "bin/papi-overflow", uncored.path, 0, 1, 1, f"{CHANNEL}=simulated0")
        tap.equal((done.returncode, done.stderr), (1, f"papi-overflow: PAPI_start: Not supported ({ENOSUPP})\n"), "refusal")


def overflow():
    """The handler of PAPI's timer at 1 kHz, beside threads that read, allocates and locks nothing; no count is lost."""
    with serving(Simulated) as uncored:
        began = time.monotonic()
        done = uncored.run(PAPI / "bin/papi-overflow", uncored.path, THREADS, SIGNALS, CALLS,
                           "uncored:::dram.read:socket=0", seconds=SECONDS + SIGNALS / 20)
        tap.equal(done.returncode, 0, f"{done.stderr}status of papi-overflow")
        signals, calls, counted, moved, forbidden = map(int, done.stdout.split())
        print(f"# {signals} signals, {calls} calls, {moved} lines, {time.monotonic() - began:.1f} s by CLOCK_MONOTONIC")
        tap.check(signals >= SIGNALS and calls >= CALLS, f"{signals} signals came, {calls} times the handler was called")
        tap.equal((counted, forbidden), (moved, 0), "lines that were counted; what a handler must not call")


def series():
    """The patches in doc/upstream make the files of contrib/papi."""
    patches = sorted((SOURCE / "doc/upstream").glob("papi-uncored-*.patch"))
    with serving(Simulated) as uncored:
        root = uncored.folder / "papi"
        root.mkdir()
        for path in patches:
            subprocess.run(["git", "apply", path], cwd=root, check=True, env={**os.environ, "GIT_DIR": "/nonexistent"})
        made = root / "src/components/uncored"
        own = [path.relative_to(SOURCE / "contrib/papi") for path in (SOURCE / "contrib/papi").rglob("*") if path.is_file()]
        tap.equal(sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file()), sorted(own), "files")
        for path in own:
            tap.check((made / path).read_bytes() == (SOURCE / "contrib/papi" / path).read_bytes(), f"{path} differs")


CASES = [
    ("papi_native_avail and others list what uncored counts, with units", lists),
    ("times have no event for all sockets", sums),
    ("PAPI's own tests pass, and libpapi is not linked with libuncore", tests_of_papi),
    ("nothing connects before an event of the component is asked for", nothing_before_first_use),
    ("strace sees nothing of uncored in papi_avail", traced),
    ("values of sockets, channels and sums are exact, also after a reset", exact),
    ("what is absent is not an event", absent),
    ("event sets and threads do not disturb each other", several_sets),
    ("a forked child goes on", forked),
    ("reads while uncored is away are errors", away),
    ("reads after a loss of counts are errors until a reset", lost),
    ("reads after a kill without a loss go on, and nothing is missing", kept),
    ("a greatest age makes reads cached ones, and never hides that uncored is away", cached),
    ("a counter that went back is an error until a reset", gone_back),
    ("a read in a signal handler allocates and locks nothing", overflow),
    ("an event that a handler cannot read does not start", no_overflow_of_channels),
    ("the patch series is what is in contrib/papi", series),
]

if not (PAPI / "programs.stamp").exists():
    tap.skip_all("PAPI is not there: `./dev papi` makes it of Debian's source package")
tap.run_functions([case for case in CASES if not os.environ.get("UNCORE_TEST_SIGNALS") or case[1] is overflow])
