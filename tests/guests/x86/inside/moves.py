# SPDX-License-Identifier: BSD-3-Clause
"""What kernels move by their loops, and where a machine whose memory is simulated shows it."""
import ctypes
import statistics

from wiring import boxes_of, machine, say

ELEMENT = 8

# Arrays that a kernel has, and those that a pass reads, claims without reading, and writes. A store reads its line
# before; a non-temporal store does not, and `rep stos` claims whole lines.
STREAMS = {
    "load": (1, 1, 0, 0),
    "update": (1, 1, 0, 1),
    "store1": (1, 1, 0, 1),
    "store3": (3, 3, 0, 3),
    "storent1": (1, 0, 0, 1),
    "storent3": (3, 0, 0, 3),
    "fill": (1, 0, 1, 1),
    "copy": (2, 2, 0, 1),
    "copynt": (2, 1, 0, 1),
    "triad": (3, 3, 0, 1),
}

SYS_SET_MEMPOLICY, MPOL_BIND = 238, 2  # x86-64


def nodes():
    return list(enumerate(machine().nodes))


def shown_by(node, read, claimed, written, prefixes=("",)):
    """{(socket, metric): bytes} that a kernel on this node should show, of the metrics that the machine has; others
    should show nothing."""
    shown = {"itom": claimed}
    for prefix in prefixes:
        shown[f"{prefix}{node.tier}.read"] = read
        shown[f"{prefix}{node.tier}.write"] = written
    return {(node.socket, metric): wanted for metric, wanted in shown.items() if boxes_of(metric, node.socket)}


def bind_memory(node):
    """Memory of this process comes from this node only."""
    mask = ctypes.c_ulong(1 << node)
    if ctypes.CDLL(None, use_errno=True).syscall(SYS_SET_MEMPOLICY, MPOL_BIND, ctypes.byref(mask), 64):
        raise OSError(ctypes.get_errno(), f"memory of node {node} cannot be had")


def undisturbed(once, tolerance, what):
    """{key: how far it is off}, as once() finds it. Now and then the guest itself moves memory meanwhile. A median of
    three has none of that."""
    found = [once()]
    if any(abs(off) > tolerance for off in found[0].values()):
        say(f"{what}: {100 * max(found[0].values(), key=abs):+.2f} %; twice more")
        found += [once() for _ in range(2)]
    return {key: statistics.median(each[key] for each in found) for key in found[0]}
