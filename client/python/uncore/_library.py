# SPDX-License-Identifier: BSD-3-Clause
"""libuncore by ctypes: its structures as uncore.h has them, its functions, and their errors.

Functions that return a negative errno raise Error, except those of regions, whose callers decide. ctypes lets other
threads run while a call waits.
"""
from __future__ import annotations

import ctypes as c
import os
from typing import Any, Tuple

METRICS_MAX, PASSING_MAX, TEXT_MAX = 16, 4, 160
CACHED, FRESH = 0, 1
ABSENT, STANDIN = 0x40000000, 0x20


class Error(OSError):
    """libuncore failed: errno, and one or two sentences on why, and what to do."""


class Absent(Error):
    """There is no such value. The text says why. It is never 0."""


class SampleValue(c.Structure):
    """struct uncore_value"""
    _fields_ = [("count", c.c_uint64), ("quality", c.c_uint32), ("why", c.c_uint32), ("raised", c.c_uint64 * PASSING_MAX)]


class Sample(c.Structure):
    """struct uncore_sample"""
    _fields_ = [("size", c.c_uint32), ("socket", c.c_uint32), ("n_values", c.c_uint32), ("reserved", c.c_uint32),
                ("generation", c.c_uint64 * 2), ("sweep", c.c_uint64), ("begin_ns", c.c_uint64), ("end_ns", c.c_uint64),
                ("values", SampleValue * METRICS_MAX)]


class DeltaValue(c.Structure):
    """struct uncore_delta_value"""
    _fields_ = [("count", c.c_uint64), ("quality", c.c_uint32), ("why", c.c_uint32)]


class Delta(c.Structure):
    """struct uncore_delta"""
    _fields_ = [("size", c.c_uint32), ("socket", c.c_uint32), ("n_values", c.c_uint32), ("reserved", c.c_uint32),
                ("window_ns", c.c_uint64), ("skew_ns", c.c_uint64), ("values", DeltaValue * METRICS_MAX)]


class Machine(c.Structure):
    """struct uncore_machine"""
    _fields_ = [("size", c.c_uint32), ("n_sockets", c.c_uint32), ("n_metrics", c.c_uint32), ("n_channels", c.c_uint32),
                ("generation", c.c_uint64 * 2), ("platform", c.c_char_p)]


class Daemon(c.Structure):
    """struct uncore_daemon"""
    _fields_ = [("size", c.c_uint32), ("n_clients", c.c_uint32), ("started_ns", c.c_uint64), ("refused", c.c_uint64),
                ("sweeps", c.c_uint64), ("throttled", c.c_uint64), ("cpu_ns", c.c_uint64),
                ("min_interval_ns", c.c_uint64), ("quantum", c.c_uint64)]


def _raise_failure(result: int, function: Any, arguments: Tuple[Any, ...]) -> int:
    del function, arguments
    if result < 0:
        raise failure(result)
    return result


# name: (result, arguments)
_TEXTS = {
    "uncore_error_text": [],
    "uncore_metric_name": [c.c_void_p, c.c_uint32],
    "uncore_metric_unit": [c.c_void_p, c.c_uint32],
    "uncore_why": [c.c_void_p, c.c_uint32],
}
_CHECKED = {
    "uncore_open": [c.c_char_p, c.POINTER(c.c_void_p)],
    "uncore_describe": [c.c_void_p, c.POINTER(Machine)],
    "uncore_describe_daemon": [c.c_void_p, c.POINTER(Daemon)],
    "uncore_quality_words": [c.c_uint32, c.c_char_p, c.c_size_t],
    "uncore_info": [c.c_char_p, c.POINTER(c.c_void_p)],
    "uncore_read_all": [c.c_void_p, c.c_int, c.POINTER(Sample), c.c_uint32],
    "uncore_delta": [c.POINTER(Sample), c.POINTER(Sample), c.POINTER(Delta)],
    "uncore_region_title": [c.c_char_p, c.c_char_p],
    "uncore_state_set": [c.c_char_p, c.c_int],
    "uncore_region_work": [c.c_char_p, c.c_double, c.c_char_p],
    "uncore_region_report": [c.c_char_p],
}
_UNCHECKED = {
    "uncore_region_begin": [c.c_char_p],
    "uncore_region_end": [c.c_char_p],
    "uncore_region_next": [c.c_char_p, c.c_char_p],
    "uncore_span_begin": [c.c_char_p, c.POINTER(c.c_uint64)],
    "uncore_span_end": [c.c_uint64],
}


def _load() -> Any:
    try:
        library = c.CDLL("libuncore.so.0")
    except OSError as error:
        raise ImportError(f"{error}. Install libuncore (Debian: libuncore0), or name its folder in "
                          "LD_LIBRARY_PATH.") from error
    # libuncore-heap.so stands in front of the functions of passages, and of no others.
    if "libuncore-heap" in os.environ.get("LD_PRELOAD", ""):
        for name in _UNCHECKED:
            setattr(library, name, getattr(c.CDLL(None), name))
    for table, result in ((_TEXTS, c.c_char_p), (_CHECKED, c.c_int), (_UNCHECKED, c.c_int)):
        for name, arguments in table.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            if table is _CHECKED:
                function.errcheck = _raise_failure
    library.uncore_close.restype, library.uncore_close.argtypes = None, [c.c_void_p]
    return library


lib = _load()
_libc = c.CDLL(None)
_libc.free.restype, _libc.free.argtypes = None, [c.c_void_p]


def failure(result: int) -> Error:
    """The failure of the last call of this thread."""
    return Error(-result, lib.uncore_error_text().decode())


def text_of(call: Any, *arguments: Any) -> str:
    """What a function returns that has a text of malloc(3) as its last argument."""
    text = c.c_void_p()
    call(*arguments, c.byref(text))
    try:
        return c.string_at(text.value or 0).decode()
    finally:
        _libc.free(text)


def words_of(quality: int) -> Tuple[str, ...]:
    """The flags of a value in words."""
    text = c.create_string_buffer(TEXT_MAX)
    lib.uncore_quality_words(quality & ~ABSENT, text, len(text))
    return tuple(text.value.decode().split(",")) if text.value else ()


def new_samples(count: int) -> c.Array[Sample]:
    """For uncore_read_all()."""
    samples = (Sample * count)()
    for sample in samples:
        sample.size = c.sizeof(Sample)
    return samples
