# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose memory traffic is simulated (tests/traffic): their CPUs, nodes and caches, and the boxes that count
each node's lines.

boots.py makes QEMU's machine from this, and tells the simulator; wiring.py, in the guest, connects the counters.
"""
import dataclasses

MIB = 1 << 20
COUNTERS_BYTES = 1 << 13  # of the file of the counts, struct traffic_counters of counters.h; a power of two
NEAR, FAR, MIDDLE = 10, 21, 12  # distances of nodes: to itself, to another socket, within a socket


@dataclasses.dataclass(frozen=True)
class Node:
    socket: int
    cpus: tuple          # none: this node has memory only
    boxes: tuple         # those that count its lines, by their places in the row of events.csv; all alike
    tier: str = "dram"   # its metrics begin with this word
    mib: int = 512


@dataclasses.dataclass(frozen=True)
class Machine:
    pmus: str            # a machine of tests/machines
    channels: int        # of each node
    nodes: tuple
    platform: str | None = None  # the platform file, if its name is not that of the machine
    ll_bytes: int = MIB  # of each socket

    @property
    def sockets(self):
        return 1 + max(node.socket for node in self.nodes)

    @property
    def cpus(self):
        return sum(len(node.cpus) for node in self.nodes)

    @property
    def mib(self):
        return sum(node.mib for node in self.nodes)


def numbers(first, count):
    return tuple(range(first, first + count))


def halves(boxes):
    """Four nodes, two of each of two sockets, with one CPU each; a node has half of its socket's boxes."""
    return tuple(Node(n // 2, (n,), numbers(n % 2 * boxes // 2, boxes // 2), mib=320) for n in range(4))


MACHINES = {
    # The third channel of each memory controller is not wired.
    "icelake-sp": Machine("icelake-sp", 8, tuple(
        Node(socket, (2 * socket, 2 * socket + 1), (0, 1, 3, 4, 6, 7, 9, 10)) for socket in (0, 1))),
    # With HBM as nodes of their own. Two boxes of 32 bytes a count share a channel of 64-byte lines.
    "sapphire-rapids": Machine("sapphire-rapids", 16, (
        *(Node(socket, (2 * socket, 2 * socket + 1), numbers(0, 8)) for socket in (0, 1)),
        *(Node(socket, (), numbers(0, 32), "hbm", 128) for socket in (0, 1)))),
    "sapphire-rapids-snc": Machine("sapphire-rapids-ddr", 8, halves(8), "sapphire-rapids"),
    # DDR in four of the six channels.
    "knl": Machine("knl", 8, (
        Node(0, (0, 1, 2, 3), (0, 1, 3, 4), mib=768), Node(0, (), numbers(0, 8), "hbm", 256))),
    "zen4": Machine("zen4", 12, tuple(
        Node(socket, (2 * socket, 2 * socket + 1), numbers(0, 12)) for socket in (0, 1))),
    "zen4-nps2": Machine("zen4", 6, halves(12), "zen4"),
}


# --- for QEMU ---

def distance(one, other):
    if one is other:
        return NEAR
    return MIDDLE if one.socket == other.socket else FAR


def topology(machine):
    """Arguments of QEMU: CPUs and memory. The memories come in the order of the nodes and before all others, as the
    simulator wants them (tests/traffic/plugin/memory.h)."""
    yield from ("-smp", f"{machine.cpus},sockets={machine.sockets},cores={machine.cpus // machine.sockets},threads=1",
                "-m", str(machine.mib))
    for n, node in enumerate(machine.nodes):
        yield from ("-object", f"memory-backend-ram,id=node{n},size={node.mib}M")
    for n, node in enumerate(machine.nodes):
        cpus = f",cpus={node.cpus[0]}-{node.cpus[-1]}" if node.cpus else ""
        yield from ("-numa", f"node,nodeid={n},memdev=node{n}{cpus}")
    for n, one in enumerate(machine.nodes):
        for m, other in enumerate(machine.nodes):
            yield from ("-numa", f"dist,src={n},dst={m},val={distance(one, other)}")


def simulator(machine, plugin, path, user_only):
    """Arguments of QEMU: the plugin that counts into the file, and the device that shows the file to the guest, where
    the test module is told when to begin."""
    nodes = "+".join(f"{node.mib}M" for node in machine.nodes)
    options = (f"counters={path},wait=1,sockets={machine.sockets},cpus={machine.cpus // machine.sockets},"
               f"nodes={nodes},channels={machine.channels},ll={machine.ll_bytes},user={int(user_only)}")
    return ["-plugin", f"{plugin},{options}",
            "-object", f"memory-backend-file,id=counters,size={COUNTERS_BYTES},mem-path={path},share=on",
            "-device", "ivshmem-plain,memdev=counters"]
