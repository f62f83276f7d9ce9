# SPDX-License-Identifier: BSD-3-Clause
"""perf_event_open(2), for a second user of the counters."""
import ctypes
import os
import pathlib
import struct

SYS_PERF_EVENT_OPEN = 298  # x86-64
ATTR_BYTES = 120
PINNED = 1 << 2


def open_event(pmu, config, cpu):
    """A pinned event: its descriptor counts until it is closed, and has its counter all the time or never."""
    kind = int(pathlib.Path(f"/sys/bus/event_source/devices/{pmu}/type").read_text())
    attr = struct.pack("IIQQQQQ", kind, ATTR_BYTES, config, 0, 0, 0, PINNED).ljust(ATTR_BYTES, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYS_PERF_EVENT_OPEN, attr, -1, cpu, -1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"{pmu} {config:#x} on CPU {cpu}")
    return fd


class OtherEvents:
    """Events that another user counts on every box of some PMUs."""

    def __init__(self, pmus, configs, cpus):
        self.fds = [open_event(pmu, config, cpu) for pmu in pmus for config in configs for cpu in cpus]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for fd in self.fds:
            os.close(fd)
