# SPDX-License-Identifier: BSD-3-Clause
"""The plugins for Score-P, loaded and called as Score-P 8.4 does, on the simulated machine: a driver writes traces, and
otf2-print finds the bytes again. Nothing here is memory traffic."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import languages
import run
import tap
from languages import BUILD, LINE, need, simulated

DRIVER = BUILD / "tests/scorep/scorep-driver"
STRICT, ASYNC = "uncore_plugin", "uncore_async_plugin"
LEAST_MARK = 1 << 53  # no count, nor a difference of counts, is as far from 0
LOCAL_RANK = "OMPI_COMM_WORLD_LOCAL_RANK"
EVENT = re.compile(r"^(ENTER|LEAVE|METRIC) +(\d+) +(\d+) +(.*)$")
VALUE = re.compile(r'\("([^"]+)" <\d+>; UINT64; (\d+)\)')


def run_driver(machine, plugin, tokens, *words, **more):
    variable = f"SCOREP_METRIC_{plugin.upper()}"
    return machine.run(DRIVER, plugin, machine.folder / "trace", *words, **with_plugins({variable: tokens, **more}))


def with_plugins(variables):
    return {"LD_LIBRARY_PATH": f"{BUILD}/client/scorep:{BUILD}/client", **variables}


def printed(machine, *options):
    """Debian's otf2-print uses memory of malloc() as it comes, and meson fills that with something."""
    need("otf2-print")
    return machine.run("otf2-print", *options, machine.folder / "trace/trace.otf2", MALLOC_PERTURB_="0").stdout


def events(machine):
    """(kind, location, the region's name or a dictionary of values), in the order of time"""
    for line in printed(machine).splitlines():
        match = EVENT.match(line)
        if match:
            kind, location, _time, rest = match.groups()
            values = {name: int(value) for name, value in VALUE.findall(rest)}
            yield kind, int(location), values if kind == "METRIC" else rest.split('"')[1]


def regions(machine, location=0):
    """name -> by how much each metric grew in its last passage, as a profile has it"""
    values, entered, grown = {}, [], {}
    for kind, where, what in events(machine):
        if where != location:
            continue
        if kind == "METRIC":
            values = what
        elif kind == "ENTER":
            entered.append(values)
        else:
            before = entered.pop()
            grown[what] = {name: (value - before[name]) % 2**64 for name, value in values.items()}
    return grown


def is_mark(value):
    return LEAST_MARK <= value <= 2**64 - LEAST_MARK


# --- strictly synchronous ---


def exact():
    """The trace has each region's bytes, to the byte: nested, of both sockets, read and written"""
    with simulated() as machine:
        run_driver(machine, STRICT, "dram.read,dram.write", "+main", "0:0:10", "+inner", "0:0:3", "1:1:5", "-inner",
                   "1:0:7", "-main")
        grown = regions(machine)
    tap.equal(grown["inner"], {"dram.read:socket0": 3 * LINE, "dram.read:socket1": 0, "dram.write:socket0": 0,
                               "dram.write:socket1": 5 * LINE}, "inner")
    tap.equal(grown["main"], {"dram.read:socket0": 13 * LINE, "dram.read:socket1": 7 * LINE, "dram.write:socket0": 0,
                              "dram.write:socket1": 5 * LINE}, "main")


def begins_at_zero():
    """A measurement begins at 0, whatever moved before"""
    with simulated() as machine:
        for _ in range(2):
            run_driver(machine, STRICT, "dram.read", "+main", "0:0:10", "-main")
            first = next(what for kind, _where, what in events(machine) if kind == "METRIC")
            tap.equal(set(first.values()), {0}, "first values")
            subprocess.run(["rm", "-r", machine.folder / "trace"], check=True)


def again():
    """A plugin can be initialised again, as Score-P does to measure other metrics"""
    with simulated() as machine:
        run_driver(machine, STRICT, "dram.read:socket1", "+main", "1:0:3", "-main", DRIVER_AGAIN="1")
        tap.equal(regions(machine)["main"], {"dram.read:socket1": 3 * LINE}, "main")


def chosen():
    """Names choose by patterns, of metric or socket; a metric is listed once; with units and what it is"""
    with simulated() as machine:
        run_driver(machine, STRICT, "dram.*:socket1,dram.write,*read", "+main", "-main")
        names = list(regions(machine)["main"])
        definitions = printed(machine, "-G")
    tap.equal(names, ["dram.read:socket1", "dram.write:socket1", "dram.write:socket0", "dram.read:socket0"], "names")
    for text in ('"B" ', "all that socket 1 did; platform simulated, standin", "ACCUMULATED_START"):
        tap.check(text in definitions, f"no {text} in {definitions}")


def absent():
    """'*' lists what has a value; an absent metric, and one that does not exist, are not there, with a sentence why"""
    with simulated() as machine:
        said = run_driver(machine, STRICT, "*,hbm.read,dram.rad", "+main", "0:0:1", "-main").stderr
        grown = regions(machine)["main"]
    tap.check({"dram.read:socket0", "itom:socket1"} <= set(grown) and not any("hbm" in name for name in grown), f"{grown}")
    tap.check("hbm.read is not recorded. The simulated machine has no such memory." in said, said)
    tap.check("dram.rad is not recorded. `uncore list` shows the metrics." in said, said)


def threads():
    """Only the first thread records: sums over threads are the sockets' bytes"""
    with simulated() as machine:
        run_driver(machine, STRICT, "dram.read:socket0", "+main", "0:0:10", "-main", "thread", "+worker", "0:0:3", "-worker")
        first, second = regions(machine), regions(machine, 1)
    tap.equal([first["main"], second["worker"]], [{"dram.read:socket0": 640}, {"dram.read:socket0": 0}], "threads")


def ranks():
    """Only the first rank of a node records: sums over ranks are the sockets' bytes"""
    with simulated() as machine:
        for rank, want in (("0", 640), ("1", 0)):
            run_driver(machine, STRICT, "dram.read:socket0", "+main", "0:0:10", "-main", **{LOCAL_RANK: rank})
            tap.equal(regions(machine)["main"], {"dram.read:socket0": want}, f"rank {rank}")
            subprocess.run(["rm", "-r", machine.folder / "trace"], check=True)


def children(plugin):
    """What a forked child moves is in the parent's counts, once; the child's own stand still"""
    with simulated() as machine:
        said = run_driver(machine, plugin, "dram.read:socket0", "+main", "0:0:10", "fork", "0:0:5").stdout
        tap.equal(said, "child 0\n", "child")
        tap.equal(values_of(machine)["dram.read:socket0"][-1], 15 * LINE, "the parent's last value")


# --- failures ---


@contextlib.contextmanager
def while_waiting(machine, plugin, *words):
    """Gives a function that lets the driver go on to its next "wait"."""
    variables = with_plugins({f"SCOREP_METRIC_{plugin.upper()}": "dram.read:socket0"})
    with subprocess.Popen([DRIVER, plugin, machine.folder / "trace", *words], cwd=machine.folder, text=True,
                          env=machine.environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as driver:
        tap.equal(driver.stdout.readline(), "waiting\n", "driver")

        def go_on(waits_again):
            driver.stdin.write("\n")
            driver.stdin.flush()
            if waits_again:
                tap.equal(driver.stdout.readline(), "waiting\n", "driver")
            else:
                tap.equal(driver.wait(timeout=60), 0, "status")
            return driver

        try:
            yield go_on
        finally:
            driver.kill()


@contextlib.contextmanager
def restartable():
    """A machine, and a stack with uncored on it. No service manager keeps its counts: a restart loses them."""
    with tempfile.TemporaryDirectory(prefix="uncored-scorep-") as name, contextlib.ExitStack() as daemon:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        daemon.enter_context(run.uncored(BUILD, folder))
        yield languages.Machine(folder, folder / "socket"), daemon


WORDS = ("+main", "+before", "0:0:1", "-before", "+lost", "0:0:2", "wait", "-lost", "+away", "0:0:4", "-away", "wait",
         "+back", "0:0:8", "-back", "+after", "0:0:16", "-after", "-main")


def restarted():
    """uncored was away: regions that begin or end then, or contain the loss, have a mark; others are exact"""
    with restartable() as (machine, daemon):
        with while_waiting(machine, STRICT, *WORDS) as go_on:
            daemon.close()
            go_on(True)
            daemon.enter_context(run.uncored(BUILD, machine.folder))
            said = go_on(False).stderr.read()
        grown = {name: values["dram.read:socket0"] for name, values in regions(machine).items()}
    tap.equal([grown["before"], grown["back"], grown["after"]], [LINE, 8 * LINE, 16 * LINE], "exact ones")
    tap.equal({name for name, value in grown.items() if is_mark(value)}, {"lost", "away", "main"}, f"marks of {grown}")
    tap.check("uncore_plugin: 4 failures in " in said, said)


def stop(pid):
    """A signal to stop reaches one thread, which stops the others in its turn."""
    os.kill(pid, signal.SIGSTOP)
    while any(") T " not in path.read_text(encoding="ascii") for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")):
        time.sleep(0.01)


def hung():
    """uncored hung: a region that ends then has a mark; no count was lost, so regions around it and later ones are exact"""
    with simulated() as machine:
        pid, = subprocess.run(["pgrep", "-P", str(os.getpid()), "-x", "uncored"], check=True, text=True,
                              capture_output=True).stdout.split()
        with while_waiting(machine, STRICT, "+main", "+hung", "0:0:1", "wait", "-hung", "wait", "+after", "0:0:2", "-after",
                           "-main") as go_on:
            stop(int(pid))
            go_on(True)
            os.kill(int(pid), signal.SIGCONT)
            go_on(False)
        grown = {name: values["dram.read:socket0"] for name, values in regions(machine).items()}
    tap.equal([is_mark(grown["hung"]), grown["after"], grown["main"]], [True, 2 * LINE, 3 * LINE], f"{grown}")


def in_vain():
    """While uncored stays away each region has a mark, however often it is visited"""
    with restartable() as (machine, daemon):
        visits = ["+main", "wait"] + ["+away", "0:0:1", "-away"] * 100
        with while_waiting(machine, STRICT, *visits, "-main") as go_on:
            daemon.close()
            go_on(False)
        values, visited, total = [], [], 0
        for kind, _location, what in events(machine):
            if kind == "METRIC":
                values.append(what["dram.read:socket0"])
            elif kind == "LEAVE" and what == "away":
                visited.append((values[-1] - values[-2]) % 2**64)
                total = (total + visited[-1]) % 2**64
                tap.check(is_mark(total), f"sum of {len(visited)} visits: {total}")
    tap.equal([len(visited), all(map(is_mark, visited))], [100, True], "visits")


def without():
    """Without uncored nothing is recorded, with a sentence why, and the program runs"""
    with simulated() as machine:
        for plugin in (STRICT, ASYNC):
            said = run_driver(machine, plugin, "*", "+main", "-main", UNCORE_SOCKET="/nonexistent/socket").stderr
            tap.check(f"{plugin}: nothing is recorded. " in said and "/nonexistent/socket" in said, said)
            subprocess.run(["rm", "-r", machine.folder / "trace"], check=True)


# --- asynchronous ---


def values_of(machine):
    """metric -> its values in the order of time"""
    values = {}
    for kind, _location, what in events(machine):
        if kind == "METRIC":
            for name, value in what.items():
                values.setdefault(name, []).append(value)
    return values


def sampled():
    """A thread takes readings from the begin to the end; the last one has all bytes of the run"""
    with simulated() as machine:
        run_driver(machine, ASYNC, "dram.read", "+main", "0:0:10", "sleep:300", "1:0:5", "sleep:300", "0:0:1", "-main",
                   UNCORE_SCOREP_INTERVAL="5")
        values = values_of(machine)
    tap.equal({name: series[-1] for name, series in values.items()},
              {"dram.read:socket0": 11 * LINE, "dram.read:socket1": 5 * LINE}, "last values")
    for name, series in values.items():
        tap.check(len(series) > 3 and series == sorted(series) and series[0] == 0, f"{name}: {series}")
    tap.check(10 * LINE in values["dram.read:socket0"], f"{values}")


def gap():
    """A reading that fails is left out. Counts that were lost are a mark from then on, because totals are recorded"""
    with restartable() as (machine, daemon):
        with while_waiting(machine, ASYNC, "+main", "0:0:1", "wait", "0:0:2", "sleep:300", "wait", "0:0:4",
                           "-main") as go_on:
            daemon.close()
            go_on(True)
            daemon.enter_context(run.uncored(BUILD, machine.folder))
            said = go_on(False).stderr.read()
        values = values_of(machine)["dram.read:socket0"]
    tap.equal({value for value in values if not is_mark(value)} <= {0, LINE}, True, f"{values}")
    tap.check(is_mark(values[-1]), f"{values}")
    tap.check(re.search(r"uncore_async_plugin: \d+ failures in \d+ readings: ", said), said)


def wrong_interval():
    """An interval that is not a number of milliseconds is refused with a sentence"""
    with simulated() as machine:
        said = run_driver(machine, ASYNC, "*", UNCORE_SCOREP_INTERVAL="0").stderr
    tap.check("UNCORE_SCOREP_INTERVAL=0 is not a number of milliseconds from 1 to 3600000" in said, said)


def both():
    """Both plugins work in one process: each has its own state"""
    names = [subprocess.run(["nm", "-D", "--defined-only", BUILD / f"client/scorep/lib{plugin}.so"], check=True,
                            capture_output=True, text=True).stdout.split()[2::3] for plugin in (STRICT, ASYNC)]
    tap.equal(names, [[f"SCOREP_MetricPlugin_{plugin}_get_info"] for plugin in (STRICT, ASYNC)], "exported")


CASES = (exact, begins_at_zero, again, chosen, absent, threads, ranks, restarted, hung, in_vain, without, sampled, gap,
         wrong_interval, both)
tap.run_functions([(case.__doc__, case) for case in CASES]
                  + [(f"{plugin}: {children.__doc__}", lambda plugin=plugin: children(plugin))
                     for plugin in (STRICT, ASYNC)])
