# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's own counts on the stand-in machine, of all processes of a CPU."""
import collections
import ctypes
import os
import platform
import struct

PAGE_FAULTS, MINOR_FAULTS, MAJOR_FAULTS = 2, 5, 6  # enum perf_sw_ids
FIRST_VERSION_BYTES = 64  # of struct perf_event_attr
CLOSE_ON_EXEC = 8
# The number of perf_event_open(2); None: unknown for this machine.
NUMBER = {"x86_64": 298, "ppc64le": 319, "ppc64": 319, "aarch64": 241}.get(platform.machine())


def open_event(cpu, event):
    """A descriptor of a software event; negative: not permitted."""
    attributes = struct.pack("=IIQ", 1, FIRST_VERSION_BYTES, event).ljust(FIRST_VERSION_BYTES, b"\0")
    return ctypes.CDLL(None).syscall(NUMBER, attributes, -1, cpu, -1, CLOSE_ON_EXEC)


def can_count():
    """Whether perf_event_open(2) opens a software event for all processes of a CPU."""
    if NUMBER is None:
        return True
    descriptor = open_event(0, PAGE_FAULTS)
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


# {metric: bytes by socket} of uncored, and of the kernel before and after it.
Reading = collections.namedtuple("Reading", "values before after")


def difference(first, last, metric, socket):
    """Between two readings: uncored's bytes, and the least and most that the kernel's counts permit."""
    return tuple(end[metric][socket] - begin[metric][socket]
                 for end, begin in ((last.values, first.values), (last.before, first.after),
                                    (last.after, first.before)))


class KernelCount:
    """Counts of the CPUs that uncored counts on: the first of each socket."""

    METRICS = {"uncore.dram.read": (PAGE_FAULTS, 4096), "uncore.dram.write": (MINOR_FAULTS, 4096),
               "uncore.channel.read": (PAGE_FAULTS, 4096), "uncore.itom": (MAJOR_FAULTS, 64)}

    def __init__(self, n_sockets):
        self.descriptors = {event: [open_event(cpu, event) for cpu in range(n_sockets)]
                            for event, _ in self.METRICS.values()}

    def close(self):
        for descriptor in sum(self.descriptors.values(), []):
            os.close(descriptor)

    def read(self):
        """{metric: bytes by socket}"""
        counts = {event: [struct.unpack("=Q", os.read(descriptor, 8))[0] for descriptor in row]
                  for event, row in self.descriptors.items()}
        return {metric: [count * worth for count in counts[event]]
                for metric, (event, worth) in self.METRICS.items()}

    def around(self, fetch):
        """The reading that fetch() makes, which returns {metric: bytes by socket}, between two counts."""
        before = self.read()
        values = fetch()
        return Reading(values, before, self.read())
