# SPDX-License-Identifier: BSD-3-Clause
"""A user's program that measures with libuncore for as long as its standard input is open.

Each line there is one of these, and is answered by a line of JSON:

begin NAME, end NAME   a region: [returned value, sentence of the library]
report                 the report of the regions, as the library writes it
open, read, close      a page of its own, read without asking uncored: [returned value, sentence]
"""
import ctypes
import json
import os
import pathlib
import struct
import sys

LIBRARY = ctypes.CDLL("libuncore.so.0")
LIBRARY.uncore_error_text.restype = ctypes.c_char_p
SAMPLE_BYTES = 56 + 16 * 48  # struct uncore_sample of uncore.h
CACHED = 0

handle = ctypes.c_void_p()


def answer_of(returned):
    return [returned, LIBRARY.uncore_error_text().decode() if returned < 0 else ""]


def begin(name):
    return answer_of(LIBRARY.uncore_region_begin(name.encode()))


def end(name):
    return answer_of(LIBRARY.uncore_region_end(name.encode()))


def report():
    path = pathlib.Path(f"/tmp/user-program-{os.getpid()}.json")
    returned = LIBRARY.uncore_region_report(str(path).encode())
    document = json.loads(path.read_text()) if returned == 0 else answer_of(returned)
    path.unlink(missing_ok=True)
    return document


def open_page():
    return answer_of(LIBRARY.uncore_open(None, ctypes.byref(handle)))


def read_page():
    sample = ctypes.create_string_buffer(struct.pack("I", SAMPLE_BYTES), SAMPLE_BYTES)
    return answer_of(LIBRARY.uncore_read(handle, 0, CACHED, sample))


def close_page():
    LIBRARY.uncore_close(handle)
    handle.value = None
    return answer_of(0)


COMMANDS = {"begin": begin, "end": end, "report": report, "open": open_page, "read": read_page,
            "close": close_page}

for line in sys.stdin:
    command, *arguments = line.split()
    print(json.dumps(COMMANDS[command](*arguments)), flush=True)
