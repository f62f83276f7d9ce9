# SPDX-License-Identifier: BSD-3-Clause
"""`uncore validate` names what is wrong with counters that were wired wrongly on purpose, and nothing else. Of right
ones it says that they are right. Beside a busy program it may say that this is too noisy, but it names no wrong cause.

With uncored.repeat=N on the kernel's command line every case does this N times.
"""
import contextlib
import dataclasses
import json
import subprocess
import sys
import time

from harness import VISITOR, Case, identity, is_all_wanted, online, sysctl_paranoid, word_of_command_line
from wiring import (boxes_of, calm_down, connect, cpus_near, machine, machine_name, right_wires, say, simulate,
                    start_machine, validate)

REPEAT = int(word_of_command_line("repeat", 1))
STATUS_OF_OUTCOME = {"right": 0, "defect": 1, "inconclusive": 3}
OTHER_KIND = {"read": "write", "write": "read"}
SILENT, ABSENT, DOUBLE = 3, 1, 0  # boxes, which the first node of every machine has
CACHES = 2                        # see validate() of wiring.py
TRIES = 3
NEIGHBOUR_S = 3                   # for each kernel: beside a heavy one all time is spent, and in vain
WHOLE_ON = "icelake-sp"           # what is the same on every machine


# --- wires ---

def changed(change, tier="dram"):
    """Wires of which change() makes others, for the metrics of a tier."""
    return [new for wire in right_wires()
            for new in (change(wire) if wire.metric.startswith(f"{tier}.") else [wire])]


def other_kind(wire):
    return dataclasses.replace(wire, kind=OTHER_KIND[wire.kind])


def swapped(tier="dram"):
    return changed(lambda wire: [other_kind(wire)], tier)


def both_together():
    return changed(lambda wire: [wire, other_kind(wire)])


def scaled(numerator, denominator):
    return changed(lambda wire: [dataclasses.replace(wire, scale=(numerator, denominator))])


def without_box(box):
    return changed(lambda wire: [] if wire.box == box else [wire])


def box_twice():
    return changed(lambda wire: [wire, wire] if wire.box == DOUBLE else [wire])


def spare_boxes():
    """Boxes that no channel has."""
    first = machine().nodes[0]
    others = {box for node in machine().nodes if node.socket == 0 and node.tier == first.tier for box in node.boxes}
    return sorted(set(range(len(boxes_of(f"{first.tier}.read", 0)))) - others)


def spares_wired():
    """The first boxes and the spare ones count the same channels."""
    spare_of = dict(zip(machine().nodes[0].boxes, spare_boxes()))

    def change(wire):
        if wire.box not in spare_of:
            return [wire]
        spare = spare_of[wire.box]
        return [wire, dataclasses.replace(wire, box=spare, pmu=boxes_of(wire.metric, wire.package)[spare][0])]
    return changed(change)


def sockets_exchanged():
    n = len([node for node in machine().nodes if node.cpus])
    return changed(lambda wire: [dataclasses.replace(wire, node=(wire.node + n // 2) % n)])


def on_boxes_of_first():
    """Each second node of a socket counts at the boxes of the first one."""
    firsts = {(wire.metric, wire.kind, wire.node, wire.channel): wire for wire in right_wires() if wire.node % 2 == 0}

    def change(wire):
        first = firsts.get((wire.metric, wire.kind, wire.node - wire.node % 2, wire.channel))
        return [dataclasses.replace(wire, pmu=first.pmu, config=first.config, box=first.box)] if first else [wire]
    return changed(change)


def first_nodes_only():
    return changed(lambda wire: [wire] if wire.node % 2 == 0 else [])


# --- which machine has what ---

def number_of_first(condition):
    return next((number for number, node in enumerate(machine().nodes) if condition(node)), None)


HBM = number_of_first(lambda node: node.tier == "hbm")
SECOND_OF_SOCKET = number_of_first(lambda node: node.cpus and node is not machine().nodes[0] and node.socket == 0)
CHANNELS = len(machine().nodes[0].boxes)


@dataclasses.dataclass
class Defect:
    what: str
    wires: callable            # makes them
    words: tuple               # each is in the sentences about these nodes
    nodes: tuple = (0,)        # the others are wired like these
    right_nodes: tuple = ()    # about these no sentence is said
    absent: tuple = ()         # boxes that the machine does not have
    is_of_place: bool = False  # traffic shows in another place than where it is
    outcome: str = "defect"
    only_if_all: bool = False  # suite validate plants it, too, and it is found by the same way there

    @property
    def verdicts(self):
        """{node: words}"""
        return {**dict.fromkeys(self.nodes, self.words), **dict.fromkeys(self.right_nodes, ())}


RIGHT = Defect("right counters", right_wires, (), nodes=tuple(range(len(machine().nodes))))
HALF = Defect("a factor of one half", lambda: scaled(1, 2), ("a factor of 0.5",), only_if_all=True)
SILENT_CHANNEL = Defect("a silent channel", lambda: without_box(SILENT),
                        (f"1 of {CHANNELS} channels count nothing", f"mc{SILENT}"))
DEFECTS = [
    Defect("swapped reads and writes", swapped, ("Reads and writes are swapped",)),
    Defect("metrics that both count the total", both_together, ("dram.read shows", "dram.write shows"),
           only_if_all=True),
    HALF,
    Defect("a factor of two", lambda: scaled(2, 1), ("a factor of 2",), only_if_all=True),
    Defect("a factor of 1/64", lambda: scaled(1, 64), ("a factor of 0.015625",), only_if_all=True),
    SILENT_CHANNEL,
    Defect("a box counted twice", box_twice, ("not every channel shows the same",)),
]
if spare_boxes():
    DEFECTS.append(Defect("channels counted by two boxes each", spares_wired, ("a factor of ",),
                          only_if_all=True))
if machine().sockets > 1:
    DEFECTS.append(Defect("another socket's counters", sockets_exchanged, ("shows on other counters", "of socket "),
                          is_of_place=True))
if SECOND_OF_SOCKET:
    DEFECTS.append(Defect("half of a socket", first_nodes_only, ("no counter shows the traffic of node",),
                          nodes=(SECOND_OF_SOCKET,), right_nodes=(0,), is_of_place=True))
    DEFECTS.append(Defect("two nodes on the boxes of one", on_boxes_of_first,
                          ("Boxes that show the traffic of this node and of node 0",), nodes=(SECOND_OF_SOCKET,),
                          right_nodes=(0,), outcome="inconclusive", is_of_place=True))
if HBM:
    DEFECTS.append(Defect("swapped reads and writes of HBM", lambda: swapped("hbm"), ("Reads and writes are swapped",),
                          nodes=(HBM,), right_nodes=(0,), is_of_place=True))
DEFECTS.append(Defect(
    "a channel without a box", lambda: without_box(ABSENT),
    (f"1 of {CHANNELS} channels count nothing" if spare_boxes() or SECOND_OF_SOCKET else "a factor of 0.",),
    absent=(ABSENT,), only_if_all=True))


# --- neighbours ---

@dataclasses.dataclass
class Neighbour:
    """A program that copies memory of the first node, from piece to piece."""
    what: str
    piece: int           # bytes
    most: int            # pieces without a rest
    rest_s: tuple        # at least and at most
    beside: tuple        # defects, unless all are wanted; beside a heavy program it is too noisy to say for all of them

    @contextlib.contextmanager
    def run(self):
        program = f"""
import random, time
size, piece, at = 8 << 20, {self.piece}, 0
to, source = memoryview(bytearray(size)), memoryview(bytearray(size))
while True:
    for _ in range(random.randint(1, {self.most})):
        to[at:at + piece] = source[at:at + piece]
        at = (at + piece) % size
    time.sleep(random.uniform{self.rest_s})
"""
        with subprocess.Popen(["taskset", "-c", str(cpus_near(0)[-1]), sys.executable, "-c", program], cwd="/",
                              **identity(VISITOR)) as process:
            try:
                yield
            finally:
                process.kill()


NEIGHBOURS = [
    # A few percent of what the kernels move: the verdict may be sure.
    Neighbour("light", 64 << 10, 1, (0.06, 0.06), (SILENT_CHANNEL,)),
    Neighbour("steady", 4 << 20, 1, (0, 0), ()),
    Neighbour("bursting", 4 << 20, 4, (0, 0.2), (RIGHT,)),
]


# --- judging ---

def report(nodes, options=()):
    """(exit status, {node: what the report says of it})"""
    done = validate("--quick", "--json", "--node", ",".join(map(str, nodes)), *options, caches=CACHES,
                    check=False)
    if not done.stdout:
        raise AssertionError(f"uncore validate ended with {done.returncode}: {done.stderr}")
    return done.returncode, {node["node"]: node for node in json.loads(done.stdout)["nodes"]}


def judge(nodes, options):
    """(exit status, {node: (outcome, sentences but remarks)})"""
    status, found = report(nodes, options)
    return status, {
        number: (node["outcome"], [text for text in node["findings"] if not text.startswith("Remark:")])
        for number, node in found.items()}


def pmus_of(boxes):
    return {boxes_of("dram.read", socket)[box][0] for box in boxes for socket in range(machine().sockets)}


class Validate(Case):
    about = f"{machine_name()}: "
    absent = set()  # PMUs that the machine was loaded without

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        calm_down()
        start_machine()
        simulate(True)

    def judge(self, defect, neighbour):
        """As judge(). Without a neighbour only the computer below can be too busy for a verdict."""
        for _ in range(1 if neighbour else TRIES):
            began = time.monotonic()
            status, found = judge(defect.verdicts, ("--time", NEIGHBOUR_S) if neighbour else ())
            say(f"{defect.what}, {time.monotonic() - began:.0f} s: {found}")
            if defect.outcome == "inconclusive" or "inconclusive" not in (outcome for outcome, _ in found.values()):
                break
        return status, found

    def assert_named(self, defect, neighbour):
        status, found = self.judge(defect, neighbour)
        self.assertEqual(set(found), set(defect.verdicts))
        self.assertEqual(status, max((STATUS_OF_OUTCOME[outcome] for outcome, _ in found.values()),
                                     key=[0, 3, 1].index))
        for node, words in defect.verdicts.items():
            outcome, sentences = found[node]
            with self.subTest(node=node, outcome=outcome, sentences=sentences):
                if neighbour and outcome == "inconclusive":
                    self.assertIn("Too noisy to say", sentences[0])
                    continue
                self.assertEqual(outcome, defect.outcome if words else "right")
                # Of each metric of the memory at most one.
                self.assertLessEqual(len(sentences), 2 if words else 0)
                said = " ".join(sentences)
                self.assertTrue(all(word in said for word in words) or (neighbour and "a factor of 0." in said))

    def load(self, absent):
        """The machine without these PMUs, unless it is there."""
        if absent != Validate.absent:
            simulate(False)  # loading would take long
            start_machine(absent)
            simulate(True)
            Validate.absent = absent

    def check(self, defect, neighbour=None):
        absent = pmus_of(defect.absent)
        self.load(absent)
        connect(wire for wire in defect.wires() if wire.pmu not in absent)
        with neighbour.run() if neighbour else contextlib.nullcontext():
            for run in range(REPEAT):
                with self.subTest(run=run):
                    self.assert_named(defect, neighbour)


class Offline(Case):
    about = f"{machine_name()}: "

    def test_offline(self):
        """a CPU that is offline is left out, and the others of its node show that the counters are right"""
        *left, gone = cpus_near(0)
        connect(right_wires())
        online(gone, False)
        self.addCleanup(online, gone, True)
        status, found = report([0])
        self.assertEqual((status, found[0]["outcome"], found[0]["cores"]), (0, "right", len(left)))


def add_case(name, sentence, *arguments):
    def test(self):
        self.check(*arguments)
    test.__doc__ = sentence
    setattr(Validate, f"test_{name}", test)


def defects_here():
    """Where not all are wanted, other machines have those that depend on sockets and nodes, and only these."""
    if is_all_wanted():
        return DEFECTS
    is_other = machine_name() != WHOLE_ON
    return [defect for defect in DEFECTS if not defect.only_if_all and defect.is_of_place == is_other]


def add_cases():
    add_case("right", "right counters are right on every node", RIGHT)
    for number, defect in enumerate(defects_here()):
        add_case(f"defect_{number}", f"{defect.what}: named, and nothing else", defect)
    for neighbour in NEIGHBOURS if machine_name() == WHOLE_ON else ():
        for number, defect in enumerate((RIGHT, HALF, SILENT_CHANNEL) if is_all_wanted() else neighbour.beside):
            add_case(f"{neighbour.what}_{number}",
                     f"{defect.what} beside a {neighbour.what} program: no wrong cause is named",
                     dataclasses.replace(defect, nodes=(0,)), neighbour)


add_cases()
CASES = [Validate, Offline] if machine_name() == WHOLE_ON else [Validate]
