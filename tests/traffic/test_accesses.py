# SPDX-License-Identifier: BSD-3-Clause
"""Each kind of load and store moves the lines that the model of the caches says: accesses.c, under QEMU."""
import functools
import os

import simulation
import tap
from simulation import KINDS, LINE

SOCKETS = "ll=256K sockets=2"
# The stack of a run, which is not always in the same place of its lines.
STRAY_LINES = 3
THREAD_LINES = 100  # to start a thread, on the socket of the thread that does


class Case:
    def __init__(self, sentence, name, options="", stray=STRAY_LINES, cpus=1, **lines):
        """lines: those that the case moves on node 0, by kind; node1_read: those on node 1. cpus: of the computer."""
        self.sentence, self.name, self.options, self.stray, self.cpus = sentence, name, options, stray, cpus
        self.node1_read = lines.pop("node1_read", 0)
        self.lines = {kind: lines.get(kind, 0) for kind in KINDS}


CASES = (
    Case("a load that misses reads its line", "load_lines", read=256),
    Case("a load across two lines reads both", "load_across_lines", read=256),
    Case("a store across two lines, and two pages, reads and writes both", "store_across_lines",
         read=256, write=256),
    Case("a load of 16 bytes across two lines reads both", "load_vector_across_lines", read=256),
    Case("a store of 32 bytes across two lines reads and writes both", "store_avx_across_lines",
         read=256, write=256),
    Case("a locked instruction loads and stores", "add_locked", read=256, write=256),
    Case("a store that misses reads its line, which is written later", "store_words", read=256, write=256),
    Case("rep stos to whole lines reads none", "fill_aligned", itom=256, write=256),
    Case("rep stos reads the lines that it writes in part", "fill_unaligned", read=128, itom=128, write=256),
    Case("rep stos that goes backwards reads none", "fill_backwards", itom=256, write=256),
    Case("rep movs reads its source alone", "move_lines", read=128, itom=128, write=128),
    Case("non-temporal stores to whole lines write alone", "store_past", write=256),
    Case("non-temporal stores of 32 bytes write alone", "store_past_avx", write=256),
    Case("non-temporal stores of integers write alone", "store_past_integers", write=256),
    Case("non-temporal stores under a mask write alone", "store_past_masked", write=256),
    Case("a non-temporal store to a part of a line reads and writes it", "store_past_parts", read=256, write=256),
    Case("eleven streams of non-temporal stores fill no line of ten buffers", "store_past_in_turns",
         read=88, write=88),
    Case("what is dirty goes out before non-temporal stores", "store_past_what_is_dirty", read=256, write=512),
    Case("also from the last level", "store_past_what_is_dirty", "l1=4K", read=256, write=512),
    Case("a load of a line that is not written whole empties its buffer", "load_what_was_stored_past",
         read=512, write=256),

    Case("without speci2m every line of a stream is read", "store_words", "speci2m=0", read=256, write=256),
    # The first line of a stream is known as such with the second.
    Case("speci2m=100 evades every read of a stream", "store_words", "speci2m=100",
         read=1, specitom=255, write=256),
    Case("speci2m=50 evades every second one", "store_words", "speci2m=50", read=129, specitom=127, write=256),
    Case("speci2m does not evade stores that are not a stream", "store_odd_lines", "speci2m=100", read=128, write=128),
    Case("speci2m does not evade lines that are written in part", "store_parts", "speci2m=100",
         read=256, write=256),
    Case("a load of what was just stored needs no read", "store_and_load_words", "speci2m=100",
         read=1, specitom=255, write=256),
    Case("a load of what was not stored yet needs one", "load_before_stored", "speci2m=100", read=256, write=256),

    Case("without prefetch every second line stays where it is", "load_even_lines", read=128),
    Case("adjacent=1 brings the other line of a pair along", "load_even_lines", "adjacent=1", read=256),
    Case("one sector of a way is fetched without the other", "load_even_lines", "sectors=2", read=128),
    Case("both sectors of a way are fetched by themselves", "load_lines", "sectors=2", read=256),
    Case("both sectors of a way stay there, dirty", "store_words", "sectors=2", read=256, write=256),
    Case("a sector stays when the other one is evicted", "store_past_beside_dirty", "sectors=2",
         read=256, write=384),
    Case("a sector that is dirty is written without the other", "store_odd_lines", "sectors=2",
         read=128, write=128),

    Case("threads that store at the same time lose no line", "store_past_in_threads", "sockets=1",
         stray=4 * THREAD_LINES, write=1024 * 256),
    Case("a thread on CPU 1 touches memory on socket 1", "load_on_socket_1", stray=THREAD_LINES, cpus=2,
         node1_read=256),
    Case("memory stays on the socket that touched it first", "load_on_both_sockets", stray=THREAD_LINES, cpus=2,
         read=512),
    Case("memory that is mapped anew has no socket yet", "load_mapped_again", stray=THREAD_LINES, cpus=2,
         read=256, node1_read=256),
)


@functools.cache
def moved(name, options):
    """Lines by node and kind."""
    nodes = simulation.counted(f"{SOCKETS} {options}", "accesses", name)
    return [{kind: node[kind] / LINE for kind in KINDS} for node in nodes]


def check_case(case):
    if (os.cpu_count() or 1) < case.cpus:
        raise tap.Skip("this computer has one CPU")
    have, idle = moved(case.name, case.options), moved("nothing", case.options)
    lines = {kind: have[0][kind] - idle[0][kind] for kind in KINDS}
    for kind in KINDS:
        tap.check(abs(lines[kind] - case.lines[kind]) <= case.stray,
                  f"{kind}: {lines[kind]} lines, should be {case.lines[kind]}")
    tap.equal(have[1]["read"], case.node1_read, "lines read on node 1")
    tap.equal([sum(node.values()) for node in have[2:]], [0] * len(have[2:]), "lines of nodes that are not there")




def main():
    simulation.need(simulation.QEMU)
    tap.run_functions([(case.sentence, lambda case=case: check_case(case)) for case in CASES])


if __name__ == "__main__":
    main()
