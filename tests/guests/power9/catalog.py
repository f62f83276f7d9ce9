# SPDX-License-Identifier: BSD-3-Clause
"""Makes the flash image in which the firmware finds the list of the nest's counters.

usage: catalog.py TREE FLASH

TREE is made by tests/machines/mktree of power9.machine, which names every event and where the on-chip controller posts
it. On a real machine the IMA catalogue (open-power/ima-catalog) says that: a device tree, packed with xz, in a
partition of the flash, whose formats are skiboot's libflash/ffs.h, core/flash.c and libstb/container.h. The kernel gets
the tree as /imc-counters and makes the PMUs (arch/powerpc/perf/imc-pmu.c).
"""
import lzma
import pathlib
import struct
import subprocess
import sys

BLOCK = 0x1000
FLASH_BYTES = 128 << 20
PROCESSOR = 0x4e0200  # PVR of QEMU's POWER9, without the bits that skiboot leaves out
COUNTERS_OFFSET = 0x180000  # in the HOMER of each chip: include/imc.h
COUNTERS_BYTES = 0x40000
CONTROL_OFFSET = 0x3fc00    # in the counters
CHIP_DOMAIN = 0x10
PARTITION_DATA, PARTITION_TABLE = 1, 3
NO_PARENT = 0xffffffff


# --- the device tree ---

def events_of(pmu):
    """{name: (offset, scale)}"""
    folder = pmu / "events"
    return {path.name: (int(path.read_text().strip().partition("=")[2], 0),
                        (folder / f"{path.name}.scale").read_text().strip())
            for path in sorted(folder.iterdir()) if "." not in path.name}


def unit_source(unit, events):
    prefix = f"PM_{unit.upper()}_"
    base = min(offset for offset, _ in events.values())
    lines = [f"\t{unit}-events {{ #address-cells = <1>; #size-cells = <1>;"]
    for name, (offset, scale) in events.items():
        at = offset - base
        lines.append(f'\t\tevent@{at:x} {{ event-name = "{name.removeprefix(prefix)}"; '
                     f'reg = <{at:#x} 0x8>; scale = "{scale}"; }};')
    lines += ["\t};", f"\t{unit}@{base:x} {{", '\t\tcompatible = "ibm,imc-counters";',
              f'\t\tevents-prefix = "{prefix}"; scale = "1"; reg = <{base:#x} 0x8>;',
              f"\t\tevents = <&{{/{unit}-events}}>; type = <{CHIP_DOMAIN:#x}>;",
              f"\t\tsize = <{COUNTERS_BYTES:#x}>; offset = <{COUNTERS_OFFSET:#x}>; "
              f"cb_offset = <{CONTROL_OFFSET:#x}>;", "\t};"]
    return "\n".join(lines)


def tree_source(tree):
    units = []
    for pmu in sorted((tree / "sys/bus/event_source/devices").glob("nest_*_imc")):
        units.append(unit_source(pmu.name[len("nest_"):-len("_imc")], events_of(pmu)))
    return "\n".join(["/dts-v1/;", "/ {", '\tname = "";',
                      '\tcompatible = "ibm,opal-in-memory-counters";',
                      "\t#address-cells = <1>; #size-cells = <1>; version-id = <0x20>;",
                      *units, "};", ""])


def compiled(source):
    return subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb"], input=source.encode(),
                          stdout=subprocess.PIPE, check=True).stdout


# --- the flash ---

def checksum(data):
    total = 0
    for (word,) in struct.iter_unpack(">I", data):
        total ^= word
    return struct.pack(">I", total)


def padded(data, unit):
    return data + b"\0" * (-len(data) % unit)


def table_entry(name, first, n_blocks, number, kind, n_bytes):
    entry = struct.pack(">16s7I", name.encode(), first, n_blocks, NO_PARENT, number, kind, 0, n_bytes)
    entry += b"\0" * 80  # user data: none
    return entry + checksum(entry)


def partition_table(entries):
    header = struct.pack(">4s6I", b"PART", 1, 1, len(entries[0]), len(entries), BLOCK,
                         FLASH_BYTES // BLOCK) + b"\0" * 16
    return header + checksum(header) + b"".join(entries)


def catalog_partition(tree):
    packed = padded(lzma.compress(tree, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32), 32)
    index = struct.pack(">4s4I", b"IMCC", 1, PROCESSOR, BLOCK, len(packed))
    return padded(padded(index, BLOCK) + packed, BLOCK)


def write_flash(path, partition):
    first = 16
    table = partition_table([
        table_entry("part", 0, 1, 1, PARTITION_TABLE, BLOCK),
        table_entry("IMA_CATALOG", first, len(partition) // BLOCK, 2, PARTITION_DATA, len(partition))])
    with open(path, "wb") as file:
        file.truncate(FLASH_BYTES)
        file.write(table)
        file.seek(first * BLOCK)
        file.write(partition)


if __name__ == "__main__":
    write_flash(sys.argv[2], catalog_partition(compiled(tree_source(pathlib.Path(sys.argv[1])))))
