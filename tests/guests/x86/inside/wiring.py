# SPDX-License-Identifier: BSD-3-Clause
"""A guest whose memory is simulated (simulated.py): the simulator outside counts lines, and wires of the test module
make the events of PMUs count those."""
import dataclasses
import pathlib
import struct

import simulated
from harness import (PMUS, VISITOR, control, facts, load_machine, run, start_uncored, terms, wait_until,
                     word_of_command_line)

# struct traffic_counters of tests/traffic/counters.h
KINDS = ("read", "write", "itom", "specitom")
CHANNELS = 16
WANTED_AT, RUNNING_AT, LINES_AT = 8, 16, 64
LINE = 64

WORDS = PMUS / "words"
VALIDATE_S = 600
CALM = {
    # The kernel would move pages from node to node, or copy them into huge ones: that is traffic, too, but not of the
    # program that is measured. 8 MB were seen.
    "/proc/sys/kernel/numa_balancing": "0",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs": "4000000000",
    "/proc/sys/vm/compaction_proactiveness": "0",
}


@dataclasses.dataclass(frozen=True)
class Wire:
    """An event of a box, and the word that it counts."""
    metric: str
    pmu: str
    package: int
    config: int
    box: int            # its place among the boxes of this metric in this package
    node: int
    kind: str
    channel: int
    scale: tuple = (1, 1)

    def command(self):
        return "wire {} {} {:x} {} {} {}".format(
            self.pmu, self.package, self.config, byte_of(self.node, self.kind, self.channel), *self.scale)


def byte_of(node, kind, channel):
    return LINES_AT + 8 * ((node * len(KINDS) + KINDS.index(kind)) * CHANNELS + channel)


def machine_name():
    return word_of_command_line("machine")


def machine():
    return simulated.MACHINES[machine_name()]


# --- wires ---

def boxes_of(metric, socket):
    """[(pmu, config)] of the metric on a socket, from the sources; none, if the machine does not count it."""
    for row in facts(machine().pmus):
        if row["metric"] == metric and row["terms"] and row["socket"] in ("*", str(socket)):
            return [(pmu, config) for _, pmu, config in terms(row["terms"])]
    return []


def wire_of(metric, boxes, box, socket, place):
    """place: node, kind and channel"""
    pmu, config = boxes[box]
    return Wire(metric, pmu, socket, config, box, *place)


def wires_of_tier(number, node):
    """Each box of the node has its share of the channels, or each channel its share of the boxes. The check counters of
    a memory controller count what its boxes count."""
    channels = machine().channels
    for kind in ("read", "write"):
        metric = f"{node.tier}.{kind}"
        boxes, checks = boxes_of(metric, node.socket), boxes_of(f"check.{metric}", node.socket)
        for i in range(max(channels, len(node.boxes))):
            box = node.boxes[i % len(node.boxes)]
            place = number, kind, i % channels
            yield wire_of(metric, boxes, box, node.socket, place)
            if checks:
                yield wire_of(f"check.{metric}", checks, box * len(checks) // len(boxes), node.socket, place)


def wires_of_caches(number, node):
    """A box of the caches for each channel of each node of the socket."""
    before = sum(other.socket == node.socket for other in machine().nodes[:number]) * machine().channels
    for kind in ("itom", "specitom"):
        boxes = boxes_of(kind, node.socket)
        for channel in range(machine().channels) if boxes else ():
            yield wire_of(kind, boxes, (before + channel) % len(boxes), node.socket, (number, kind, channel))


def right_wires():
    """As they are on the machine."""
    return [wire for number, node in enumerate(machine().nodes)
            for wires in (wires_of_tier, wires_of_caches) for wire in wires(number, node)]


def connect(wires):
    """Makes the counters count by these wires and no others. Their counts go on from where they are."""
    control("unwire * *", *(wire.command() for wire in wires))


# --- the simulator ---

def words():
    return struct.unpack(f"{simulated.COUNTERS_BYTES // 8}Q", WORDS.read_bytes())


def lines(node, kind):
    """Lines of a node so far, as the simulator counts them."""
    begin = byte_of(node, kind, 0) // 8
    return sum(words()[begin:begin + CHANNELS])


def simulate(yes):
    """Begins or ends the simulation; without it the guest is several times as fast, and nothing is counted."""
    control(f"poke {WANTED_AT} {int(yes)}")
    wait_until(lambda: words()[RUNNING_AT // 8] == int(yes), "the simulator does what it was told")


def calm_down():
    """Stops what moves memory without a program's doing."""
    for path, text in CALM.items():
        if pathlib.Path(path).exists():
            pathlib.Path(path).write_text(text)


def start_machine(without=()):
    """Loads the PMUs of the machine but for some, wired as they should be, and starts uncored."""
    load_machine(machine().pmus, machine().platform, without)
    connect(wire for wire in right_wires() if wire.pmu not in without)
    start_uncored()


def say(text):
    """A comment of the report."""
    print("#", f"{machine_name()}: {text}", flush=True)


# --- what a user does there ---

def cpus_near(number):
    """CPUs from which the memory of a node is near."""
    node = machine().nodes[number]
    return node.cpus or next(other.cpus for other in machine().nodes if other.socket == node.socket)


def validate(*options, caches=1, check=True):
    """`uncore validate` of a user. The guest's CPU tells another cache than the simulated one, so the command is told
    the size of that, or so many times as much: arrays grow with it, and what the guest moves is less beside them."""
    return run("uncore", "validate", "--cache", caches * machine().ll_bytes, *options, user=VISITOR, check=check,
               seconds=VALIDATE_S)
