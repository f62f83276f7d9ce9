# SPDX-License-Identifier: BSD-3-Clause
"""In a guest, lines are counted on the node that their physical address lies in: nodes.S, under QEMU."""
import struct
import subprocess

import simulation
import tap

SYSTEM = "qemu-system-x86_64"
ENDED = 1  # nodes.S writes 0 to isa-debug-exit, which QEMU doubles and adds 1 to
NODES, KINDS, CHANNELS, FIRST = 4, 4, 16, 64  # counters.h
# What the guest loads of each node. The firmware uses the first and the last one, too.
LOADED = (1000, 2003, 3003, 4000)


def run_guest(*before):
    """The read lines of each node. @before: arguments of QEMU before those of the nodes."""
    memory = [word for n in range(NODES) for word in (
        "-object", f"memory-backend-ram,id=node{n},size=64M", "-numa", f"node,nodeid={n},memdev=node{n}")]
    with simulation.counters_file() as path:
        done = subprocess.run(
            [SYSTEM, "-accel", "tcg", "-machine", "q35", "-m", "256", "-nodefaults", "-display", "none", "-no-reboot",
             "-device", "isa-debug-exit,iobase=0xf4,iosize=4", *before, *memory, "-kernel",
             simulation.BUILD / "nodes", "-plugin",
             f"{simulation.BUILD / 'plugin/memory-controller.so'},counters={path},nodes=64M+64M+64M+64M"],
            capture_output=True, text=True, timeout=simulation.SECONDS, check=False)
        tap.equal(done.returncode, ENDED, f"{done.stderr}status of QEMU")
        with open(path, "rb") as file:
            words = struct.unpack_from(f"{NODES * KINDS * CHANNELS}Q", file.read(), FIRST)
    return [sum(words[n * KINDS * CHANNELS:][:CHANNELS]) for n in range(NODES)]


def check_nodes(read):
    tap.equal(tuple(read[1:3]), LOADED[1:3], "lines read of nodes 1 and 2")
    for node in (0, 3):
        tap.check(LOADED[node] <= read[node] < 100000, f"lines read of node {node}: {read[node]}")


def nodes():
    """Lines are counted on their nodes, and a load across two pages on that of each page"""
    check_nodes(run_guest())


def another_memory():
    """Another small memory that was made before moves no line to another node"""
    check_nodes(run_guest("-object", "memory-backend-ram,id=other,size=1M", "-device", "ivshmem-plain,memdev=other"))


def needs_nodes():
    """In a guest with two sockets the memory of each must be told"""
    with simulation.counters_file() as path:
        done = subprocess.run(
            [SYSTEM, "-machine", "none", "-display", "none", "-S", "-plugin",
             f"{simulation.BUILD / 'plugin/memory-controller.so'},counters={path},sockets=2,nodes=1G"],
            capture_output=True, text=True, timeout=simulation.SECONDS, check=False)
    tap.equal(done.returncode, 1, f"{done.stderr}status of QEMU")
    tap.check("with sockets=N the memory of each must be known" in done.stderr, done.stderr)


def main():
    simulation.need(SYSTEM)
    tap.run_functions([(case.__doc__, case) for case in (nodes, another_memory, needs_nodes)])


if __name__ == "__main__":
    main()
