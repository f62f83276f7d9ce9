# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel itself counts on the stand-in machine, of all processes of a CPU."""
import ctypes
import os
import platform
import struct

PAGE_FAULTS, MINOR_FAULTS = 2, 5  # enum perf_sw_ids
PAGE_WORTH = 4096
FIRST_VERSION_BYTES = 64  # of struct perf_event_attr
CLOSE_ON_EXEC = 8
# The call's numbers; None: a machine of which the test does not know it.
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


class KernelCount:
    """Of the CPUs that uncored counts on: the first of each socket."""

    EVENTS = {"uncore.dram.read": PAGE_FAULTS, "uncore.dram.write": MINOR_FAULTS,
              "uncore.channel.read": PAGE_FAULTS}

    def __init__(self, n_sockets):
        self.descriptors = {event: [open_event(cpu, event) for cpu in range(n_sockets)]
                            for event in (PAGE_FAULTS, MINOR_FAULTS)}

    def close(self):
        for descriptor in sum(self.descriptors.values(), []):
            os.close(descriptor)

    def read(self):
        """{metric: bytes by socket}"""
        counts = {event: [PAGE_WORTH * struct.unpack("=Q", os.read(descriptor, 8))[0]
                          for descriptor in descriptors]
                  for event, descriptors in self.descriptors.items()}
        return {metric: counts[event] for metric, event in self.EVENTS.items()}
