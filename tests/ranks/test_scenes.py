# SPDX-License-Identifier: BSD-3-Clause
"""What reports say of a region's own bytes, beside the truth, in scenes of many shapes (scenes.c). On the simulated
machine only the ranks move the counts, so the truth is exact. Needs root.

With UNCORE_TEST_SEEDS=N each scene runs with N seeds from UNCORE_TEST_SEED on."""
import os
import subprocess

import tap
from ranks import BUILD, NOBODY, SECONDS, Simulated, read_report, serving

SCENES, SHORT = BUILD / "tests/ranks/scenes", BUILD / "tests/ranks/short"
SEED, SEEDS = (int(os.environ.get(name, 1)) for name in ("UNCORE_TEST_SEED", "UNCORE_TEST_SEEDS"))
METRIC = "dram.read"


def run(*words, team=None, **more):
    """({region: bytes that it read}, report) of a program of known traffic, whose first argument is the counts."""
    with serving(kind=Simulated) as uncored:
        path = str(uncored.folder / "report.json")
        found = subprocess.run([words[0], uncored.counters, *words[1:]], capture_output=True, text=True, user=NOBODY,
                               env=uncored.environment(team, UNCORE_REPORT=path, **more), timeout=SECONDS, check=False)
        tap.equal(found.stderr, "", "stderr")
        truth = {name: int(count) for name, count in map(str.split, found.stdout.splitlines())}
        return truth, read_report(path)


def summed(sockets, key):
    return sum(socket["metrics"][METRIC][key] for socket in sockets)


class Figure:
    """What a report says of one region: sums over the sockets."""

    def __init__(self, region, truth):
        self.name, self.truth = region["name"], truth
        self.all, self.share, self.alone = (summed(region["sockets"], key) for key in ("bytes", "share", "alone"))

    def is_right(self):
        return self.alone <= self.truth <= self.all and self.alone <= self.share <= self.all

    def __str__(self):
        return (f"{self.name}: truth {self.truth / 1e6:.3f}, alone {self.alone / 1e6:.3f}, share {self.share / 1e6:.3f}, "
                f"all {self.all / 1e6:.3f} MB")


def played(scene, ranks, passages, seed):
    """{region: its figure}. The shares of all regions and of outside are what the sockets moved, to the byte."""
    truth, report = run(SCENES, scene, str(ranks), str(passages), str(seed), team=scene)
    found = {region["name"]: Figure(region, truth[region["name"]]) for region in report["regions"]}
    for figure in found.values():
        print(f"# {scene}, {ranks} ranks, seed {seed}: {figure}")
    print(f"# outside: {summed(report['outside'], 'share') / 1e6:.3f}, all {truth['all'] / 1e6:.3f} MB, "
          f"{report['cost']['reading_calls']} readings")
    shares = sum(figure.share for figure in found.values()) + summed(report["outside"], "share")
    moved = sum(figure.truth for figure in found.values())
    tap.check(moved <= shares <= truth["all"], f"{scene}: regions moved {moved} of {truth['all']}, shares {shares}")
    return found


def short(words, **more):
    """(figure of the only region, the region, cost)"""
    truth, report = run(SHORT, *words.split(), **more)
    return Figure(report["regions"][0], truth["short"]), report["regions"][0], report["cost"]


# --- cases ---

# ranks, passages
TEAMS = {
    "constant": (4, 60),
    "nested": (4, 60),
    "burst-at-begin": (4, 60),
    "burst-at-end": (8, 40),
    "saturating": (8, 40),
    "one-socket": (8, 40),
    "slowing-down": (32, 20),
    "synchronised": (16, 20),
    "lockstep": (4, 60),
    "outside": (8, 40),
    "spans": (1, 40),
    "other-memory": (8, 40),
    "varying": (8, 40),
    "brief": (4, 2000),
    "brief-barrier": (4, 600),
}
NEIGHBOURS = {"pauses": (4, 20), "neighbour": (8, 40), "bursty-neighbour": (4, 20), "brief-neighbour": (2, 2000)}


def teams():
    """What a region moved is at least alone, at most all, and shares add up, in scenes of many shapes"""
    for seed in range(SEED, SEED + SEEDS):
        for scene, (ranks, passages) in TEAMS.items():
            for figure in played(scene, ranks, passages, seed).values():
                tap.check(figure.is_right(), f"{scene}, seed {seed}: {figure}")


def neighbours():
    """What somebody else moves is in the sums, too: a region moved at most all"""
    for seed in range(SEED, SEED + SEEDS):
        for scene, (ranks, passages) in NEIGHBOURS.items():
            for figure in played(scene, ranks, passages, seed).values():
                tap.check(figure.truth <= figure.all, f"{scene}, seed {seed}: {figure}")


def nested():
    """In one thread, a region around others has its own bytes between them"""
    for figure in played("nested", 1, 60, SEED).values():
        tap.equal((figure.alone, figure.share), (figure.truth, figure.truth), str(figure))


# passages, time of a body and of a gap in us, lines of both, what follows
SHORT_SCENES = (
    "20000 1 0 4 0",
    "20000 8 0 10 0",
    "20000 8 1 10 4",
    "20000 8 8 10 10",
    "5000 8 72 10 10",
    "5000 21 10 10 1",
    "3000 100 100 50 50",
    "10000 8 8 10 10 idle",
    "10000 8 8 10 10 long",
)


def windows():
    """Few edges of short passages take a reading, and what they moved is at least alone, at most all"""
    for words in SHORT_SCENES:
        figure, region, cost = short(words)
        print(f"# {words}: {figure}, {cost['reading_calls']} readings")
        tap.check(figure.is_right(), f"{words}: {figure}")
        tap.equal(region["count"], int(words.split()[0]) * (1 + ("idle" in words) + ("long" in words))
                  + ("long" in words), "passages")
        tap.check(cost["reading_calls"] < region["count"] / 5, f"{words}: {cost}")


def each():
    """With UNCORE_OVERHEAD=0 each edge is read, and the figure is exact"""
    figure, _, _ = short("2000 8 8 10 10", UNCORE_OVERHEAD="0")
    tap.equal((figure.alone, figure.share, figure.all), (figure.truth,) * 3, "bytes")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(body.__doc__, body) for body in (teams, neighbours, nested, windows, each)])
