# SPDX-License-Identifier: BSD-3-Clause
"""Unpacks the kernel in a Debian vmlinuz, so that QEMU need not emulate its unpacking.

usage: extract-kernel.py VMLINUZ VMLINUX
"""
import lzma
import sys

XZ_MAGIC, ELF_MAGIC = b"\xfd7zXZ\0", b"\x7fELF"


def unpack(data):
    at = data.find(XZ_MAGIC)
    while at >= 0:
        try:
            kernel = lzma.LZMADecompressor().decompress(data[at:])
        except lzma.LZMAError:
            kernel = b""
        if kernel.startswith(ELF_MAGIC):
            return kernel
        at = data.find(XZ_MAGIC, at + 1)
    sys.exit(f"{sys.argv[1]} holds no kernel packed with xz.")


with open(sys.argv[1], "rb") as source:
    unpacked = unpack(source.read())
with open(sys.argv[2], "wb") as target:
    target.write(unpacked)
