# SPDX-License-Identifier: BSD-3-Clause
"""The report of a team shows what its ranks move in their regions: for each socket and metric so many bytes as the
loops of all ranks say, and nothing elsewhere. A rank runs on each CPU.

Ranks are slow where the computer below is busy, and what the guest itself moves meanwhile, by the second, was up to 8 %
of what they move. So they have memory of their own, and the simulator does not look at the guest's kernel."""
import contextlib
import json
import os
import pathlib
import random
import subprocess

from harness import COMMAND_S, HERE, VISITOR, Case, identity, metrics_of, sysctl_paranoid
from moves import ELEMENT, STREAMS, bind_memory, nodes, shown_by, undisturbed
from talk import Talk
from wiring import calm_down, machine, machine_name, say, simulate, start_machine

PAGE, MIB = 4096, 1 << 20
CACHES = 4            # the arrays of a rank are so many times as large as the last cache of a socket
LENGTHS = 2, 4, 6, 8  # of a passage, in passes, one for each rank: they come and go at different times
PASSES = 48           # of each rank; a multiple of each length
ALONE_PASSES = 16
# Of what the loops move. The lines that are still in the last cache when a region ends are written after it, and those
# of others that are there when it begins are written in it: at most one cache, 0.8 % of the 128 that the least of the
# regions writes. The rest is for libuncore's own lines, which were some 130 KiB for each passage (1.7 %), and, elsewhere,
# for those of other programs.
TOLERANCE = 0.03
PREFIXES = ("", "check.")
WALK = 12             # passages of a rank at random
WALK_PASSES = 4       # of a passage at random, at most
TRIES = 5
REPORT = pathlib.Path("/tmp/team.json")


class Starved(Exception):
    """uncored's reader got no CPU within the half second that libuncore waits: the computer below is too busy."""


def places():
    """[(CPU, node of its memory)] of the ranks: the node of their socket that has no CPUs. There is nothing else in it:
    all other programs, and the kernel, have their memory where CPUs are."""
    return [(cpu, next(other for other, there in nodes() if not there.cpus and there.socket == node.socket))
            for _, node in nodes() for cpu in node.cpus]


def lengths():
    return [LENGTHS[i % len(LENGTHS)] for i in range(len(places()))]


def elements(kernel):
    """Of each array."""
    return CACHES * machine().ll_bytes // (STREAMS[kernel][0] * PAGE) * PAGE // ELEMENT


def prepare(*kernels):
    """Steps of a rank before all others. They are a region, so that what libuncore does only when a team begins
    is over when a region is measured."""
    return " ".join(["begin prepare", *(f"kernel {kernel} {elements(kernel)}" for kernel in kernels), "end prepare"])


def moved(passes):
    """{(socket, metric): bytes} of ranks: passes is a list of (node, kernel, number of passes)."""
    total = {}
    for number, kernel, times in passes:
        array = times * elements(kernel) * ELEMENT
        shown = shown_by(machine().nodes[number], *(streams * array for streams in STREAMS[kernel][1:]), PREFIXES)
        for key, count in shown.items():
            total[key] = total.get(key, 0) + count
    return total


def bytes_of(region):
    return {key: value["bytes"] for key, value in metrics_of(region).items() if "bytes" in value}


def how_far(region, wanted):
    """{(region, socket, metric): how far it is off}, as a share of what it should show, or, where that is nothing, of
    the most that any shows."""
    shown = bytes_of(region)
    assert set(wanted) <= set(shown), f"{region['name']} lacks {set(wanted) - set(shown)}"
    most = max(wanted.values())
    return {(region["name"], *key): (count - wanted.get(key, 0)) / (wanted.get(key) or most)
            for key, count in shown.items()}


# --- ranks ---

class Rank(Talk):
    """A member of the team that does one step after the other (tests/ranks/member.c)."""

    def __init__(self, cpu, number, steps):
        def settle():
            os.sched_setaffinity(0, [cpu])
            bind_memory(number)
        super().__init__(subprocess.Popen(
            [HERE / "member", *steps.split()], cwd="/",
            # Each passage is read: what is compared here is exact.
            env={"UNCORE_TEAM": "guest", "UNCORE_REPORT": str(REPORT), "UNCORE_OVERHEAD": "0"},
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=settle,
            **identity(VISITOR)))

    def expect(self, word):
        said = self.hear()
        assert said == word, f"a rank said {said!r} instead of {word!r}"

    def end(self):
        """What it wrote to stderr."""
        _, said = self.process.communicate(timeout=COMMAND_S)
        assert self.process.returncode == 0, f"a rank ended with {self.process.returncode}: {said}"
        return said


@contextlib.contextmanager
def team(steps, where=None):
    """A rank in each place; steps has those of each."""
    ranks = [Rank(*place, its) for place, its in zip(where or places(), steps, strict=True)]
    try:
        yield ranks
    finally:
        for rank in ranks:
            rank.process.kill()
            rank.process.communicate()


def barrier(ranks, word):
    """All say so before any goes on."""
    for rank in ranks:
        rank.expect(word)
    for rank in ranks:
        rank.tell()


def end(ranks):
    """{name: region}"""
    said = "".join([rank.end() for rank in ranks])
    if "its reader got no CPU time" in said:
        raise Starved(said.splitlines()[0])
    assert not said, said
    report = json.loads(REPORT.read_text())
    REPORT.unlink()
    assert "failure" not in report and "warning" not in report, report
    assert len(report["members"]) == len(ranks), report["members"]
    return {region["name"]: region for region in report["regions"]}


def not_starved(once):
    """What once() returns."""
    for _ in range(TRIES):
        try:
            return once()
        except Starved as starved:
            say(f"once more: {starved}")
    raise AssertionError(f"the computer below was too busy {TRIES} times")


class Team(Case):
    about = f"{machine_name()}: "

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        calm_down()
        start_machine()
        simulate(True)

    def check(self, what, once):
        """once() returns {(region, socket, metric): how far it is off}"""
        found = undisturbed(lambda: not_starved(once), TOLERANCE, what)
        worst = max(found, key=lambda key: abs(found[key]))
        say(f"{what}: worst {100 * found[worst]:+.2f} % ({', '.join(map(str, worst))})")
        for key, off in found.items():
            with self.subTest(metric=key, off=off):
                self.assertLessEqual(abs(off), TOLERANCE)

    def check_passages(self, region, count):
        """So many, of all ranks, all measured."""
        self.assertEqual([region[key] for key in ("ranks", "count", "failed", "open", "lost_ns")],
                         [len(places()), count, 0, 0, 0])


class Together(Team):
    """All ranks in one region."""

    def once(self, kernel):
        with team([f"{prepare(kernel)} say ready wait "
                   f"begin solve say in wait pass {kernel} {length} end solve "
                   f"repeat {PASSES // length - 1} begin solve pass {kernel} {length} end solve again say done wait"
                   for length in lengths()]) as ranks:
            barrier(ranks, "ready")
            barrier(ranks, "in")
            barrier(ranks, "done")
            region = end(ranks)["solve"]
        self.check_passages(region, sum(PASSES // length for length in lengths()))
        say(f"{kernel}: {region['count']} passages, {region['window_ns'] / 1e9:.2f} s")
        return how_far(region, moved([(number, kernel, PASSES) for _, number in places()]))

    def check_kernel(self, kernel):
        self.check(f"{kernel} of {len(places())} ranks", lambda: self.once(kernel))

    def test_update(self):
        """a region shows, to 3 %, what all ranks read and write that come and go at different times"""
        self.check_kernel("update")

    def test_nontemporal(self):
        """a region shows, to 3 %, what non-temporal stores of all ranks write, and no reads"""
        self.check_kernel("storent3")

    def test_fill(self):
        """a region shows, to 3 %, whole lines that all ranks claim and write, and no reads"""
        self.check_kernel("fill")


class Phases(Team):
    """Two regions, between which the ranks wait for each other."""
    regions = {"sum": "load", "solve": "update"}

    def once(self):
        with team([" ".join([prepare(*self.regions.values()), *(
                f"say warm wait pass {kernel} 1 say {name} wait "
                f"repeat {PASSES // length} begin {name} pass {kernel} {length} end {name} again say done wait"
                for name, kernel in self.regions.items())]) for length in lengths()]) as ranks:
            for name in self.regions:
                for word in ("warm", name, "done"):
                    barrier(ranks, word)
            found = end(ranks)
        off = {}
        for name, kernel in self.regions.items():
            self.check_passages(found[name], sum(PASSES // length for length in lengths()))
            off |= how_far(found[name], moved([(number, kernel, PASSES) for _, number in places()]))
        return off

    def test_phases(self):
        """two regions, one after the other, each show to 3 % what all ranks move in it, and nothing of the other"""
        self.check("load, then update", self.once)


class Alone(Team):
    """One rank after the other."""

    def once(self):
        with team([f"{prepare('update')} say ready wait pass update 1 begin all begin rank{i} "
                   f"pass update {ALONE_PASSES} end rank{i} end all say done wait"
                   for i in range(len(places()))]) as ranks:
            for rank in ranks:
                rank.expect("ready")
            for rank in ranks:
                rank.tell()
                rank.expect("done")
            for rank in ranks:
                rank.tell()
            found = end(ranks)
        passes = {f"rank{i}": (number, "update", ALONE_PASSES) for i, (_, number) in enumerate(places())}
        off = how_far(found["all"], moved(passes.values()))
        for name, own in passes.items():
            off |= how_far(found[name], moved([own]))
        for key, count in bytes_of(found["all"]).items():
            self.assertLessEqual(sum(bytes_of(found[name])[key] for name in passes), count, key)
        return off

    def test_alone(self):
        """regions of ranks that run in turn each show to 3 % what that rank moves, and the one around them the sum"""
        self.check("one rank after the other", self.once)


class Overlapping(Team):
    """Ranks in two regions at the same time, on one socket's memory. The kernels leave no line to be written later."""
    regions = {"sum": "load", "stream": "copynt"}
    where = [(cpu, places()[0][1]) for cpu, _ in places()]

    def walk(self, rank):
        """[(region, passes)] of a rank at random."""
        chance = random.Random(rank)
        return [(chance.choice(list(self.regions)), chance.randint(1, WALK_PASSES)) for _ in range(WALK)]

    def run_once(self):
        """(walk of each rank, {region})"""
        walks = [self.walk(rank) for rank in range(len(self.where))]
        with team([" ".join([prepare(*self.regions.values()), "say ready wait", *(
                f"begin {name} pass {self.regions[name]} {times} end {name}" for name, times in walk), "say done wait"])
                for walk in walks], self.where) as ranks:
            barrier(ranks, "ready")
            barrier(ranks, "done")
            return walks, end(ranks)

    def figures(self):
        """[(region, metric, bytes by the loops, bytes that do not matter, what the report says)] of what the memory's
        node moves. The kernels do not say what else the system reads and writes meanwhile."""
        walks, found = not_starved(self.run_once)
        number = self.where[0][1]
        socket, tier = machine().nodes[number].socket, machine().nodes[number].tier
        rows = []
        for name, kernel in self.regions.items():
            passes = sum(times for walk in walks for region, times in walk if region == name)
            truth = moved([(number, kernel, passes)])
            values = next(each for each in found[name]["sockets"] if each["socket"] == socket)["metrics"]
            metrics = [f"{tier}.read", f"{tier}.write"]
            room = TOLERANCE * max(truth[socket, metric] for metric in metrics)
            rows += [(name, metric, truth[socket, metric], room, values[metric]) for metric in metrics]
        return rows

    def test_brackets(self):
        """what the loops of two regions that overlap move is between what moved alone and in all, to 3 % of what each moves"""
        for name, metric, truth, room, value in self.figures():
            alone, share, everything = (value[key] for key in ("alone", "share", "bytes"))
            say(f"{name} {metric}: loops {truth / MIB:.1f} MiB, share {share / MIB:.1f}, {alone / MIB:.1f} to {everything / MIB:.1f}")
            with self.subTest(region=name, metric=metric):
                self.assertTrue(alone <= share <= everything)
                self.assertLessEqual(alone, truth + room)
                self.assertGreaterEqual(everything, truth - room)
                self.assertGreater(everything, alone, "the regions overlapped")


CASES = [Together, Phases, Alone, Overlapping]
