# SPDX-License-Identifier: BSD-3-Clause
"""The figures of uncore-numbers(7) are those that the simulated memory controller gives now."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

import run
import simulation
import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
PAGE = (pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"]) / "man/uncore-numbers.7.scd").read_text(encoding="utf-8")
BOUND = 0.02  # of N
LAST_CACHE = "256K"
CACHES = {"256K": 256 << 10, "1M": 1 << 20}
KERNEL_OPTIONS = {"--size": "number", "--halo": "halo"}
FUNCTION = re.compile(r"(memset|memcpy)\(3\)")
KERNEL = BUILD / "tests/traffic/kernel"


def rows():
    """(first cell, {metric: figure}) of each row of each table of figures."""
    for table in re.findall(r"^\[\[ \*kernel\*\n(.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL):
        head, *lines = table.split("\n|")
        metrics = re.findall(r"\*(.+?)\*", head)
        for line in lines:
            words, *figures = (cell.strip() for cell in line.split("\n:"))
            yield words, dict(zip(metrics, map(float, figures), strict=True))


# --- how a row is simulated: {metric: share of N} ---

def shares(counted, n_bytes):
    return {metric: counted[kind] / n_bytes for metric, kind in (
        ("dram.read", "read"), ("dram.write", "write"), ("itom", "itom"), ("specitom", "specitom"))}


def of_function(name):
    """A function of libc."""
    found = simulation.counted("", "libc-calls", name)
    return shares(found, found["bytes"])


def of_kernel(name, options, simulated):
    caches = dict(word.split("=") for word in simulated)
    last = caches.setdefault("ll", LAST_CACHE)
    numbers = [f"{KERNEL_OPTIONS[key]}={value}" for key, value in zip(options[::2], options[1::2], strict=True)]
    found = simulation.counted(" ".join(f"{key}={value}" for key, value in caches.items()), "kernel", name, *numbers,
                               f"cache={CACHES[last]}")
    return shares(found["counted"], found["predicted"]["written"] or found["predicted"]["read"])


def of_region(n_bytes, simulated):
    """A program that copies once, in a region."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        done = subprocess.run([sys.executable, "-B", run.__file__, BUILD, *simulated, "--",
                               BUILD / "tests/traffic/regions", str(n_bytes)], capture_output=True, text=True,
                              env={**os.environ, "UNCORE_REPORT": str(report)}, timeout=simulation.SECONDS, check=False)
        tap.equal(done.returncode, 0, f"{done.stderr}status")
        copy = json.loads(report.read_text(encoding="utf-8"))["regions"][0]
    tap.equal(copy["name"], "copy", "region")
    metrics = copy["sockets"][0]["metrics"]
    return {name: metrics[name]["bytes"] / n_bytes for name in ("dram.read", "dram.write")}


def read_meanwhile(socket, command, **options):
    """A process of `uncore stat` that runs the command."""
    return subprocess.Popen([BUILD / "client/uncore", "stat", "--json", "--", *command], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "UNCORE_SOCKET": str(socket)}, **options)


def bytes_read(process, **options):
    _, said = process.communicate(timeout=simulation.SECONDS, **options)
    return json.loads(said)["all_sockets"]["metrics"]["dram.read"]["bytes"]


def of_neighbour():
    """What a cat that waits is shown of a load beside it, as a share of what the load alone is shown."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(run.COUNTERS_BYTES))
        load = [run.write_launcher(BUILD, folder, [f"ll={LAST_CACHE}"]) / "simulated", KERNEL, "load"]
        with run.uncored(BUILD, folder) as socket:
            alone = bytes_read(read_meanwhile(socket, load))
            waits = read_meanwhile(socket, ["sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE)
            waits.stdout.readline()
            subprocess.run(load, stdout=subprocess.DEVNULL, check=True)
            return {"dram.read": bytes_read(waits, input="") / alone}


def simulated_shares(words):
    command, *simulated = words.split(", ")
    name, *options = command.split()
    if name == "cat":
        return of_neighbour()
    if name == "regions":
        return of_region(int(options[0]), simulated)
    match = FUNCTION.fullmatch(name)
    return of_function(match[1]) if match else of_kernel(name, options, simulated)


# --- the example of regions that overlap, by the words of the page ---

def example():
    """The example of regions that overlap follows from its picture, by the definitions of the page"""
    picture, said = re.search(r"^ rank 0.*?\n\n.*?```", PAGE, re.MULTILINE | re.DOTALL)[0].split("\n\n")
    *ranks, moved = ([cell.strip() for cell in line.split("|")[1:-1]] for line in picture.splitlines())
    found = {name: [Fraction(0)] * 3 for name in ("A", "B", "outside")}
    for *threads, amount in zip(*ranks, moved, strict=True):
        time, n_bytes = "".join(threads), int(amount.removesuffix("MB"))
        for name, sums in found.items():
            own, outside = (Fraction(time.count(one), len(time)) for one in (name if name in "AB" else ".", "."))
            is_alone = name != "outside" and own + outside == 1 and outside <= Fraction(1, 100)
            parts = (own * is_alone, own, own > 0)
            found[name] = [sum_ + part * n_bytes for sum_, part in zip(sums, parts)]
    told = {name: list(map(int, numbers)) for name, *numbers in
            re.findall(r"^ (\w+) +(\d+) MB +(\d+) MB +(\d+) MB$", said, re.MULTILINE)}
    tap.equal(sum(share for _, share, _ in found.values()), sum(int(amount.removesuffix("MB")) for amount in moved), "shares")
    tap.equal(told, found, "the three sums")


# --- cases ---

def case(words, figures):
    def body():
        found = simulated_shares(words)
        for metric, figure in figures.items():
            print(f"# {metric}: {found[metric]:.4f} N, and the page says {figure:.2f}")
            tap.check(abs(found[metric] - figure) <= BOUND, f"{metric}: {found[metric]:.4f} N, not {figure}")
    return f"{words}: as the page says", body


def says_what_it_is():
    """The page calls its figures simulated, and names the bound that this test allows"""
    tap.check("*All figures in these tables are simulated.*" in PAGE and f"right within {BOUND}." in PAGE, PAGE[:3000])


if __name__ == "__main__":
    simulation.need(simulation.QEMU)
    found = list(rows())
    tap.check(len(found) > 15, f"only {len(found)} rows")
    tap.run_functions([(one.__doc__, one) for one in (says_what_it_is, example)] + [case(*row) for row in found])
