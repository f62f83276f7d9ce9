# SPDX-License-Identifier: BSD-3-Clause
"""Writes the code of homer.s over the function read_pba_bar() of QEMU's firmware.

usage: patch-firmware.py SKIBOOT CODE PATCHED

The function is found in the symbol table that skiboot carries as text.
"""
import pathlib
import re
import sys

SYMBOL = rb"([0-9a-f]{16}) [tT] \.read_pba_bar\n([0-9a-f]{16}) "


def patched(firmware, code):
    symbol = re.search(SYMBOL, firmware)
    if not symbol:
        sys.exit("This skiboot has no function read_pba_bar: its symbol table does not name it.")
    start, end = int(symbol[1], 16), int(symbol[2], 16)
    if len(code) > end - start:
        sys.exit(f"read_pba_bar has {end - start} bytes, too few for the {len(code)} of homer.s.")
    return firmware[:start] + code + firmware[start + len(code):]


source, replacement, target = map(pathlib.Path, sys.argv[1:])
target.write_bytes(patched(source.read_bytes(), replacement.read_bytes()))
