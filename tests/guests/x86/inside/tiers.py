# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2 and 3 of the SCIPHI paper on a simulated machine with two kinds of memory: how much of each a program uses
over time, and what the same program moves with its arrays in DDR and in MCDRAM."""
import json
import pathlib
import statistics
import tempfile

from harness import HERE, VISITOR, Case, run, sysctl_paranoid
from wiring import calm_down, machine, machine_name, say, simulate, start_machine

ARRAY_MIB, PASSES = 16, 8
MIB = 1 << 20
TIERS = ("dram", "hbm")
# Of what the copies write: the interpreter's own memory, and ends of the arrays in the caches.
TOLERANCE = 0.02
MEMORY_MIB = 1  # by which the program's memory may grow beside its arrays
TIERS_ARRAY_MIB = 32  # of which there are two
RUN_TOLERANCE = 0.05  # `uncore run` reads the counters meanwhile, and moves bytes of its own
RUNS = 3        # on each node: now and then the guest moves or keeps memory of its own in one, and a median has none


def bytes_on_node(shown, number):
    """The memory of the only process that `uncore tiers` shows."""
    process, = shown["processes"]
    return next(node["bytes"] for node in process["nodes"] if node["node"] == number)


def bytes_of(region):
    """{metric: bytes of all sockets} of a region of a report."""
    found = {}
    for socket in region["sockets"]:
        for name, value in socket["metrics"].items():
            found[name] = found.get(name, 0) + value.get("bytes", 0)
    return found


class Run:
    """The program with its arrays on one node."""

    def __init__(self, number):
        said = run("python3", HERE / "tiers_program.py", number, ARRAY_MIB, PASSES, user=VISITOR).stdout
        *phases, report = (json.loads(line) for line in said.splitlines())
        self.mib = {phase["phase"]: [phase["mib"].get(str(n), 0) for n in range(len(TIERS))] for phase in phases}
        self.moved = {region["name"]: bytes_of(region) for region in report["regions"]}
        self.say(TIERS[number])

    def say(self, tier):
        for phase, mib in self.mib.items():
            moved = self.moved[phase]
            say(f"arrays in {tier}: after {phase:8} " +
                ", ".join(f"{size:5.1f} MiB in {name}" for name, size in zip(TIERS, mib)) + "; in it " +
                ", ".join(f"{name}.{kind} {moved[f'{name}.{kind}'] / MIB:6.1f} MiB"
                          for name in TIERS for kind in ("read", "write")))


def median(runs, phase):
    """{metric: bytes} of a phase."""
    return {name: statistics.median(found.moved[phase][name] for found in runs) for name in runs[0].moved[phase]}


class Tiers(Case):
    about = f"{machine_name()}: "

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        calm_down()
        start_machine()
        assert [node.tier for node in machine().nodes] == list(TIERS)
        simulate(True)
        cls.runs = [[Run(number) for _ in range(RUNS)] for number in range(len(TIERS))]
        cls.copied = [median(runs, "copy") for runs in cls.runs]

    def test_memory_over_time(self):
        """figure 2: memory of a tier is used from its allocation to its release, and of the other tier none"""
        for number, runs in enumerate(self.runs):
            for n in range(len(TIERS)):
                free, allocated, copied = (statistics.median(found.mib[phase][n] for found in runs)
                                           for phase in ("free", "allocate", "copy"))
                with self.subTest(arrays_on=TIERS[number], tier=TIERS[n]):
                    self.assertAlmostEqual(allocated - free, 2 * ARRAY_MIB if n == number else 0, delta=MEMORY_MIB)
                    self.assertAlmostEqual(copied, allocated, delta=MEMORY_MIB)

    def test_bytes_move_over(self):
        """figure 3: with the arrays in MCDRAM the bytes are those of the run in DDR, in hbm.* in place of dram.*"""
        written = ARRAY_MIB * MIB * PASSES
        for number, moved in enumerate(self.copied):
            here, there = TIERS[number], TIERS[1 - number]
            with self.subTest(arrays_on=here, moved=moved):
                self.assertAlmostEqual(moved[f"{here}.write"] / written, 1, delta=TOLERANCE)
                self.assertGreaterEqual(moved[f"{here}.read"] / written, 1 - TOLERANCE)
                self.assertLessEqual(moved[f"{there}.read"] + moved[f"{there}.write"], 2 * TOLERANCE * written)
        ddr, mcdram = self.copied
        for kind in ("read", "write"):
            ratio = mcdram[f"hbm.{kind}"] / ddr[f"dram.{kind}"]
            say(f"copy, {kind}: hbm.{kind} of the one run / dram.{kind} of the other {ratio:.4f}")
            self.assertAlmostEqual(ratio, 1, delta=TOLERANCE)

    def test_uncore_tiers(self):
        """`uncore tiers`: 64 MB bound to the MCDRAM node appear as 64 MB there, and their traffic in hbm.*"""
        said = run("python3", HERE / "tiers_program.py", 1, TIERS_ARRAY_MIB, 1, "tiers", user=VISITOR).stdout
        before, copying = (json.loads(line) for line in said.splitlines())
        self.assertEqual([node["kind"] for node in copying["nodes"]], list(TIERS))
        self.assertEqual(copying["unknown"], [])
        ddr, mcdram = (bytes_on_node(copying, n) - bytes_on_node(before, n) for n in range(len(TIERS)))
        used = copying["nodes"][1]["used_bytes"] - before["nodes"][1]["used_bytes"]
        metrics = copying["traffic"]["all_sockets"]["metrics"]
        dram, hbm = (sum(metrics[f"{tier}.{kind}"]["bytes"] for kind in ("read", "write")) for tier in TIERS)
        say(f"uncore tiers: {ddr / MIB:.2f} MiB more in dram, {mcdram / MIB:.2f} in hbm, whose node used {used / MIB:.2f} "
            f"more; in a second {dram / MIB:.2f} MiB of traffic in dram, {hbm / MIB:.2f} in hbm")
        self.assertAlmostEqual(mcdram / (2 * TIERS_ARRAY_MIB * MIB), 1, delta=0.01)
        self.assertLess(ddr, 4 * MEMORY_MIB * MIB)
        # The node is everybody's: pages that CPUs keep ready count as used, and the arrays take some of them.
        self.assertGreaterEqual(used, (2 * TIERS_ARRAY_MIB - 4 * MEMORY_MIB) * MIB)
        self.assertGreater(hbm, MIB)
        self.assertLess(dram, 5 * TOLERANCE * hbm)

    def arrays_shown(self, folder):
        """What `uncore report --arrays` says of a run that moves its arrays from DDR to MCDRAM:
        {region: (figures, arrays)}"""
        record = folder / "run.json"
        run("uncore", "run", "--heap", "-o", record, "--", "python3", HERE / "tiers_program.py", 0, ARRAY_MIB, PASSES,
            "move", user=VISITOR, cwd=folder)
        shown = json.loads(run("uncore", "report", "--arrays", "--json", record, *folder.glob("run.heap.*"),
                               user=VISITOR).stdout)
        moved = {region["name"]: bytes_of(region) for region in json.loads(record.read_text())["regions"]}
        return {region["region"]: (moved[region["region"]], region) for region in shown["regions"]}

    def test_arrays_that_are_named_move(self):
        """`uncore report --arrays` names the arrays of a region; moved to MCDRAM by mbind, their bytes appear in hbm.*"""
        written = ARRAY_MIB * MIB * PASSES
        with tempfile.TemporaryDirectory() as name:
            pathlib.Path(name).chmod(0o777)  # the visitor writes there
            shown = self.arrays_shown(pathlib.Path(name))
        slow, region = shown["slow"]
        largest = region["arrays"][0]
        say(f"arrays of region slow: {largest['most_blocks']} of {largest['most_bytes'] / MIB:.1f} MiB by "
            f"{largest['kind']} at {largest['place']}; then {slow['dram.write'] / MIB:.1f} MiB written in DDR")
        self.assertEqual((largest["kind"], largest["most_bytes"], largest["most_blocks"]), ("mmap", 2 * ARRAY_MIB * MIB, 2))
        self.assertIsNone(region["hbm_at_least_ns"])
        self.assertIn("uncore validate --keep", region["why_no_bound"])
        self.assertAlmostEqual(slow["dram.write"] / written, 1, delta=RUN_TOLERANCE)
        self.assertLess(slow["hbm.write"], RUN_TOLERANCE * written)
        fast, region = shown["fast"]
        say(f"in region fast {fast['hbm.write'] / MIB:.1f} MiB written in MCDRAM, {fast['dram.write'] / MIB:.1f} in DDR")
        self.assertEqual(region["arrays"][0], largest)
        self.assertAlmostEqual(fast["hbm.write"] / written, 1, delta=RUN_TOLERANCE)
        self.assertLess(fast["dram.write"], RUN_TOLERANCE * written)


CASES = [Tiers]
