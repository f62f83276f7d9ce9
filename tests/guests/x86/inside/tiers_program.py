# SPDX-License-Identifier: BSD-3-Clause
"""A user's program with two arrays on the NUMA node of its argument: it allocates them, copies one to the other some
times, and frees them.

Each of these phases is a region. After each the program prints a line of JSON: the phase, and the MiB of its memory on
each node as the kernel tells. Its last line is the report of the regions.

With a fourth argument, "tiers", it prints what `uncore tiers` says of it before it has arrays and while it copies, a line
each, and nothing else. With "move" it prints nothing: it copies in region "slow", moves both arrays to the other node, and
copies in region "fast".
"""
import ctypes
import json
import mmap
import os
import pathlib
import re
import subprocess
import sys
import time

NODE, ARRAY_MIB, PASSES = (int(word) for word in sys.argv[1:4])
SYS_MBIND, MPOL_BIND, MPOL_MF_MOVE = 237, 2, 2  # x86-64
PR_SET_THP_DISABLE = 41  # linux/prctl.h
MIB = 1 << 20

LIBRARY = ctypes.CDLL("libuncore.so.0")
LIBC = ctypes.CDLL(None, use_errno=True)
if "libuncore-heap" in os.environ.get("LD_PRELOAD", ""):
    LIBRARY = LIBC  # it stands in front of the library's functions


def bind(address, node):
    mask = ctypes.c_ulong(1 << node)
    if LIBC.syscall(SYS_MBIND, ctypes.c_void_p(address), ctypes.c_ulong(ARRAY_MIB * MIB), MPOL_BIND,
                    ctypes.byref(mask), ctypes.c_ulong(64), MPOL_MF_MOVE):
        raise OSError(ctypes.get_errno(), f"memory of node {node} cannot be had")


def array():
    """Memory that comes from NODE when it is touched: (object that keeps it, address)."""
    memory = mmap.mmap(-1, ARRAY_MIB * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    bind(address, NODE)
    return memory, address


def mib_of_nodes():
    """{node: MiB}, what `numastat -p` shows."""
    mib = {}
    for line in pathlib.Path("/proc/self/numa_maps").read_text().splitlines():
        page_kib = int(re.search(r"kernelpagesize_kB=(\d+)", line)[1]) if "kernelpagesize_kB" in line else 0
        for node, pages in re.findall(r" N(\d+)=(\d+)", line):
            mib[int(node)] = mib.get(int(node), 0) + int(pages) * page_kib / 1024
    return mib


def allocate(arrays):
    for _ in range(2):
        arrays.append(array())
        ctypes.memset(arrays[-1][1], 1, ARRAY_MIB * MIB)


def copy(arrays):
    (_, source), (_, target) = arrays
    for _ in range(PASSES):
        ctypes.memmove(target, source, ARRAY_MIB * MIB)


def free(arrays):
    arrays.clear()


def show_tiers(meanwhile):
    """What `uncore tiers` says; until it has ended, @meanwhile is called again and again."""
    with subprocess.Popen(["uncore", "tiers", "--json", "-p", str(os.getpid())], stdout=subprocess.PIPE) as shown:
        while shown.poll() is None:  # its output fits into the pipe
            meanwhile()
        print(json.dumps(json.load(shown.stdout)), flush=True)


def passage(name, work, arrays):
    LIBRARY.uncore_region_begin(name.encode())
    work(arrays)
    LIBRARY.uncore_region_end(name.encode())


def move(arrays):
    passage("allocate", allocate, arrays)
    passage("slow", copy, arrays)
    for _, address in arrays:
        bind(address, 1 - NODE)
    passage("fast", copy, arrays)


def main():
    # One huge page of the interpreter would be 2 MiB that no array has.
    LIBC.prctl(PR_SET_THP_DISABLE, *map(ctypes.c_ulong, (1, 0, 0, 0)))
    arrays = []
    if sys.argv[4:] == ["tiers"]:
        show_tiers(lambda: time.sleep(0.1))
        allocate(arrays)
        show_tiers(lambda: copy(arrays))
        return
    if sys.argv[4:] == ["move"]:
        move(arrays)
        return
    for phase in (allocate, copy, free):
        passage(phase.__name__, phase, arrays)
        print(json.dumps({"phase": phase.__name__, "mib": mib_of_nodes()}), flush=True)
    path = pathlib.Path(f"/tmp/tiers-{os.getpid()}.json")
    if LIBRARY.uncore_region_report(str(path).encode()) < 0:
        sys.exit("The regions gave no report.")
    print(json.dumps(json.loads(path.read_text())))
    path.unlink()


main()
