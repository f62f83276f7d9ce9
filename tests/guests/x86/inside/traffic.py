# SPDX-License-Identifier: BSD-3-Clause
"""What programs move between the simulated caches and memory is what a user sees through uncored: so many bytes as the
loops of the programs say, on the socket of the memory, and nothing elsewhere."""
import csv
import io
import json
import subprocess

from harness import (COMMAND_S, HERE, VISITOR, Case, identity, is_all_wanted, measure, metrics_of, run,
                     sysctl_paranoid)
from moves import ELEMENT, STREAMS, bind_memory, nodes, shown_by, undisturbed
from wiring import (KINDS, LINE, LINES_AT, calm_down, cpus_near, lines, machine, machine_name, say, simulate,
                    start_machine, validate, words)

PAGE = 4096
# Of what a kernel moves in all. No model has the lines of uncored, of the guest's kernel and of the measuring program
# itself, of page tables, and of the ends of the arrays.
TOLERANCE = 0.02
# The arrays of all threads together are so many times as large as the last cache. Between the passes others throw out
# of it what the kernel has written: of 4 caches that were 2 to 5 %, which the kernel's own passes do not show.
ARRAYS_CACHES = 32
TIME_S = 1  # for one measurement, or as long as three repetitions take
TURNS = 20
REMOTE_CACHES = 4
REMOTE_PASSES = 1, 9  # of two runs, whose difference is measured: what it takes to begin and to end is in both

# The machine with all kernels, and the kernels that each machine has: a CPU that reads, claims, bypasses, and copies.
WHOLE_ON = "icelake-sp"
ON_EACH = ("load", "store1", "storent1", "copy")

# What these move is not a number of arrays, and taken from the models of `uncore validate`.
GRIDS = {"halocopy": ("--halo", "5"), "stencil": ()}


def nodes_for(kernel):
    """Nodes take turns with the kernels, unless all is wanted."""
    turns = list(STREAMS) + list(GRIDS)
    return nodes() if is_all_wanted() else [nodes()[turns.index(kernel) % len(nodes())]]


class Simulated(Case):
    about = f"{machine_name()}: "


class Begin(Simulated):
    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        calm_down()
        start_machine()

    def test_waits(self):
        """until the guest asks for the simulation nothing is counted, and the guest runs at full speed"""
        self.assertEqual(sum(words()[LINES_AT // 8:]), 0)

    def test_begins(self):
        """the simulation begins when the guest asks for it"""
        simulate(True)
        self.assertGreater(sum(words()[LINES_AT // 8:]), 0)

    def test_again(self):
        """the simulation ends and begins again, as often as the guest asks for it"""
        for _ in range(TURNS):
            simulate(False)
            before = words()
            run("true")
            self.assertEqual(words(), before)
            simulate(True)
            run("true")
            self.assertGreater(sum(words()), sum(before))

    def test_every_count(self):
        """`uncore stat` shows every line that was counted while it measured, and no other"""
        def all_lines():
            return {(number, kind): lines(number, kind) for number, _ in nodes() for kind in KINDS}

        def act():
            inner.append(all_lines())
            run(HERE / "kernel", "copy", "passes=1")
            inner.append(all_lines())
        inner, outer = [], [all_lines()]
        found = metrics_of(measure(act))
        outer.append(all_lines())
        for socket, tier, kind in {(node.socket, node.tier, kind) for _, node in nodes() for kind in ("read", "write")}:
            least, most = (sum(LINE * (end[number, kind] - begin[number, kind]) for number, node in nodes()
                               if (node.socket, node.tier) == (socket, tier)) for begin, end in (inner, outer))
            shown = found[socket, f"{tier}.{kind}"]["bytes"]
            with self.subTest(socket=socket, metric=f"{tier}.{kind}", shown=shown, least=least, most=most):
                self.assertTrue(least <= shown <= most)


class Kernels(Simulated):
    """A kernel runs with all threads of a node."""

    def measure(self, kernel, number, *options):
        said = validate("--kernel", kernel, "--node", number, "--time", TIME_S, "--csv", *options).stdout
        return [{**row, "socket": int(row["socket"]), "bytes": int(row["bytes"])}
                for row in csv.DictReader(io.StringIO(said))]

    def compare(self, rows, expected, moved):
        """Each metric of each socket."""
        self.assertLessEqual(set(expected), {(row["socket"], row["metric"]) for row in rows})
        worst = 0
        for row in rows:
            wanted = expected.get((row["socket"], row["metric"]), 0)
            off = (row["bytes"] - wanted) / moved
            worst = max(worst, off, key=abs)
            with self.subTest(node=row["node"], socket=row["socket"], metric=row["metric"], shown=row["bytes"],
                              expected=wanted):
                self.assertLessEqual(abs(off), TOLERANCE)
        ratios = [f"{row['metric']} {row['bytes'] / wanted:.4f}" for row in rows
                  if (wanted := expected.get((row["socket"], row["metric"])))]
        say(f"node {rows[0]['node']} {rows[0]['kernel']:9} {' '.join(ratios)}; worst {100 * worst:+.2f} %")

    def check_streams(self, kernel):
        arrays, read, claimed, written = STREAMS[kernel]
        for number, node in nodes_for(kernel):
            threads = len(cpus_near(number))
            n = ARRAYS_CACHES * machine().ll_bytes // (threads * arrays * PAGE) * PAGE // ELEMENT
            rows = self.measure(kernel, number, "--size", n)
            metric, streams = (f"{node.tier}.write", written) if written else (f"{node.tier}.read", read)
            predicted, = (int(row["predicted"]) for row in rows
                          if (row["socket"], row["metric"]) == (node.socket, metric))
            passes, rest = divmod(predicted, streams * n * threads * ELEMENT)
            self.assertEqual(rest, 0, "uncore validate predicts whole passes")
            array = passes * n * threads * ELEMENT
            self.compare(rows, shown_by(node, read * array, claimed * array, written * array), (read + written) * array)

    def check_grid(self, kernel):
        for number, node in nodes_for(kernel):
            rows = self.measure(kernel, number, *GRIDS[kernel])
            predicted = {row["metric"]: int(row["predicted"]) for row in rows if row["predicted"]}
            read, written = (predicted[f"{node.tier}.{kind}"] for kind in ("read", "write"))
            self.compare(rows, shown_by(node, read, 0, written), read + written)


def add_case(kernel, check):
    def test(self):
        check(self, kernel)
    test.__doc__ = (f"{kernel} shows what its loop says, to {100 * TOLERANCE:.0f} %, where its memory is, and nothing "
                    "elsewhere")
    setattr(Kernels, f"test_{kernel}", test)


for name in [*STREAMS, *GRIDS]:
    if name in ON_EACH or machine_name() == WHOLE_ON or is_all_wanted():
        add_case(name, Kernels.check_grid if name in GRIDS else Kernels.check_streams)


class Remote(Simulated):
    def stat(self, cpu, number, passes):
        """{(socket, metric): bytes} of a program that runs here and whose memory lies there; no totals, which are sums."""
        done = subprocess.run(
            ["taskset", "-c", str(cpu), "uncore", "stat", "--json", "--", HERE / "kernel", "update",
             f"number={REMOTE_CACHES * machine().ll_bytes // ELEMENT}", f"passes={passes}"], cwd="/",
            capture_output=True, text=True, check=True, timeout=COMMAND_S, preexec_fn=lambda: bind_memory(number),
            **identity(VISITOR))
        return {key: value["bytes"] for key, value in metrics_of(json.loads(done.stderr)).items()
                if "bytes" in value and not key[1].endswith(".total")}

    def off_once(self, cpu, number):
        """{(socket, metric): how far it is off}, as a share of what the program moves."""
        fewer, more = (self.stat(cpu, number, passes) for passes in REMOTE_PASSES)
        each = (REMOTE_PASSES[1] - REMOTE_PASSES[0]) * REMOTE_CACHES * machine().ll_bytes
        wanted = shown_by(machine().nodes[number], each, 0, each, ("", "check."))
        self.assertLessEqual(set(wanted), set(more))
        return {key: (more[key] - fewer[key] - wanted.get(key, 0)) / (2 * each) for key in more}

    def check(self, cpu, number):
        found = undisturbed(lambda: self.off_once(cpu, number), TOLERANCE, f"CPU {cpu} memory of node {number}")
        for key, off in found.items():
            with self.subTest(cpu=cpu, memory_of=number, metric=key, off=off):
                self.assertLessEqual(abs(off), TOLERANCE)
        node = machine().nodes[number]
        shares = [f"{name} {1 + 2 * found[node.socket, name]:.4f}"
                  for name in (f"{node.tier}.read", f"{node.tier}.write")]
        say(f"CPU {cpu} memory of node {number}: {' '.join(shares)}; worst {100 * max(found.values(), key=abs):+.2f} %")

    def test_remote(self):
        """what a program moves to and from the memory of another node shows where that is, and not where it runs"""
        for number, node in nodes():
            for cpu in {other.cpus[0] for _, other in nodes() if other.cpus and other is not node}:
                self.check(cpu, number)


CASES = [Begin, Kernels, Remote]
