# SPDX-License-Identifier: BSD-3-Clause
"""Wrong options of the simulated memory controller end QEMU with a sentence; right ones do what they say."""
import struct
import subprocess

import simulation
import tap
from simulation import BUILD, LINE

NODES, KINDS, CHANNELS, FIRST = 8, 4, 16, 64  # counters.h

WRONG = (
    ("l1=3000", "l1=3000:8 has no power of two of sets"),
    ("ll=1M:3", "ll=1048576:3 has no power of two of sets"),
    ("ll=1M:33", "'ll=1M:33' does not give ll, which must be BYTES or BYTES:WAYS"),
    ("ll=100", "'ll=100' does not give ll"),
    ("ll=", "'ll=' does not give ll"),
    ("ll=1T", "'ll=1T' does not give ll"),
    ("ll=99999999999999999999", "does not give ll"),
    ("sockets=0", "'sockets=0' does not give sockets, which must be a number from 1 to 8"),
    ("sockets=9", "'sockets=9' does not give sockets"),
    ("sockets=-1", "'sockets=-1' does not give sockets"),
    ("channels=17", "'channels=17' does not give channels, which must be a number from 1 to 16"),
    ("cpus=two", "'cpus=two' does not give cpus"),
    ("sectors=3", "'sectors=3' does not give sectors, which must be 1 or 2"),
    ("speci2m=101", "'speci2m=101' does not give speci2m, which must be a percentage"),
    ("adjacent=2", "'adjacent=2' does not give adjacent, which must be 0 or 1"),
    ("nodes=1G+", "'nodes=1G+' does not give nodes"),
    ("nodes=1G+1G+1G+1G+1G+1G+1G+1G+1G", "does not give nodes, which must be up to 8 sizes"),
    ("nodes=1G", "nodes= are ranges of physical addresses, which a program under qemu-user does not have"),
    ("wait=1", "wait=1 makes a guest boot at full speed"),
    ("speci2n=50", "there is no option 'speci2n=50'. There are: counters l1 ll"),
)


def refused(done, sentence):
    tap.check(done.returncode != 0, "QEMU went on")
    tap.check("memory-controller: " in done.stderr and sentence in done.stderr, f"it said: {done.stderr}")


def refuses():
    """Wrong values, unknown options and what a program cannot have are refused, each in a sentence"""
    for options, sentence in WRONG:
        refused(simulation.run(options, "accesses", "nothing"), sentence)


def needs_a_file():
    """Without a file for the counts, or with one that cannot be written, nothing runs"""
    plugin = str(BUILD / "plugin/memory-controller.so")
    for options, sentence in (("", "the option counters=FILE is missing"),
                              (",counters=/proc/none/at/all", "the counts cannot be shown in /proc/none/at/all")):
        done = subprocess.run([simulation.QEMU, "-plugin", plugin + options, BUILD / "accesses", "nothing"],
                              capture_output=True, text=True, timeout=simulation.SECONDS, check=False)
        refused(done, sentence)


def lines_by_channel(path):
    with open(path, "rb") as file:
        words = struct.unpack_from(f"{NODES * KINDS * CHANNELS}Q", file.read(), FIRST)
    return words[:CHANNELS]  # read, on node 0


def spreads():
    """Lines are spread evenly over as many channels as there are, and counts of runs add up"""
    cache = 256 << 10
    n_lines = 8 * cache // LINE  # an array of a kernel is eight times as large as the cache
    with simulation.counters_file() as path:
        for run in (1, 2):
            subprocess.run(
                [simulation.QEMU, "-plugin",
                 f"{BUILD / 'plugin/memory-controller.so'},counters={path},channels=6,ll=64K", BUILD / "kernel", "load",
                 f"cache={cache}", "passes=1"],
                stdout=subprocess.DEVNULL, timeout=simulation.SECONDS, check=True)
            lines = lines_by_channel(path)
            # Two passes, and one that fills the array.
            tap.check(all(3 * run * n_lines / 6 * 0.97 < n < 3 * run * n_lines / 6 * 1.03 for n in lines[:6]),
                      f"after {run} runs: {lines}")
            tap.equal(sum(lines[6:]), 0, "lines of channels that are not there")


def main():
    simulation.need(simulation.QEMU)
    tap.run_functions([(case.__doc__, case) for case in (refuses, needs_a_file, spreads)])


if __name__ == "__main__":
    main()
