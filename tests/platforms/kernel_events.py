#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's own event tables, as far as they are about metrics of uncored.

They are made from the manufacturers' publications, and perf counts by them. `perf` of Debian 12 has the tables of Linux
6.1, for x86 alone; newer and other CPUs are in kernel-events.json beside this file, which this program wrote:

    tests/platforms/kernel_events.py LINUX "WHICH VERSION" >tests/platforms/kernel-events.json

where LINUX is a kernel's source (package linux-source-6.12; tools/perf/pmu-events is enough).
"""
import json
import pathlib
import re
import sys

CAS = {"dram.read": [["UNC_M_CAS_COUNT.RD"]], "dram.write": [["UNC_M_CAS_COUNT.WR"]]}
CAS_OF_TWO = {f"dram.{metric}": [[f"UNC_M_CAS_COUNT_SCH0.{verb}", f"UNC_M_CAS_COUNT_SCH1.{verb}"]]
              for metric, verb in (("read", "RD"), ("write", "WR"))}
PMM = {"pmm.read": [["UNC_M_PMM_RPQ_INSERTS"]], "pmm.write": [["UNC_M_PMM_WPQ_INSERTS"]]}
HBM = {"hbm.read": [["UNC_MCHBM_CAS_COUNT.RD"]], "hbm.write": [["UNC_MCHBM_CAS_COUNT.WR"]]}
ITOM = {"itom": [["UNC_CHA_TOR_INSERTS.IA_ITOM"]],
        "specitom": [["UNC_CHA_TOR_INSERTS.IA_SPECITOM"]]}
REMOTE = {"remote.in.read": [["UNC_CHA_REQUESTS.READS_REMOTE"]],
          "remote.in.write": [["UNC_CHA_REQUESTS.WRITES_REMOTE"]]}
LINK = {"link.out": [["UNC_UPI_TxL_FLITS.ALL_DATA"]], "link.in": [["UNC_UPI_RxL_FLITS.ALL_DATA"]]}
BETWEEN = {**REMOTE, **LINK}
PCIE_READ = {"pcie.read": [["UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.ALL_PARTS"]]}
PCIE_WRITE = {"pcie.write": [[f"UNC_IIO_BANDWIDTH_IN.PART{port}_FREERUN" for port in range(8)]]}
PCIE_BY_PART = {f"pcie.{verb.lower()}": [[f"UNC_IIO_DATA_REQ_OF_CPU.MEM_{verb}.PART{port}" for port in range(4)]]
                for verb in ("READ", "WRITE")}
PCIE_OF_8_PARTS = {"pcie.read": [[f"UNC_IIO_DATA_REQ_OF_CPU.MEM_READ.PART{port}" for port in range(8)]], **PCIE_WRITE}
UMC = {"dram.read": [["umc_cas_cmd.rd"]], "dram.write": [["umc_cas_cmd.wr"]]}
DF = {"dram.total": [[f"dram_channel_data_controller_{n}" for n in range(8)]]}

# Each metric in the kernel's tables, by folder of tools/perf/pmu-events/arch: ways to count it, each a sum of events;
# "-" subtracts. Knights Landing counts MCDRAM in another way if MCDRAM is a cache.
METRICS = {
    "x86/knightslanding": {
        **CAS,
        "hbm.read": [["UNC_E_RPQ_INSERTS"],
                     ["UNC_E_RPQ_INSERTS", "-UNC_E_EDC_ACCESS.MISS_CLEAN",
                      "-UNC_E_EDC_ACCESS.MISS_DIRTY"]],
        "hbm.write": [["UNC_E_WPQ_INSERTS"], ["UNC_E_WPQ_INSERTS", "-UNC_M_CAS_COUNT.RD"]]},
    "x86/haswellx": CAS,
    "x86/broadwellx": CAS,
    "x86/broadwellde": CAS,
    "x86/skylakex": {**CAS, **BETWEEN, **PCIE_BY_PART},
    "x86/cascadelakex": {**CAS, **PMM, **BETWEEN, **PCIE_BY_PART},
    "x86/icelakex": {**CAS, **PMM, **ITOM, **BETWEEN, **PCIE_OF_8_PARTS},
    "x86/sapphirerapids": {**CAS, **PMM, **HBM, **ITOM, **BETWEEN, **PCIE_READ, **PCIE_WRITE},
    # Its HBM events are copied: no such CPU has HBM.
    "x86/emeraldrapids": {**CAS, **PMM, **ITOM, **BETWEEN, **PCIE_READ, **PCIE_WRITE},
    "x86/graniterapids": {**CAS_OF_TWO, **ITOM, **BETWEEN, **PCIE_READ},
    "x86/sierraforest": {**CAS_OF_TWO, **ITOM, **BETWEEN, **PCIE_READ},
    "x86/grandridge": {**CAS_OF_TWO, **ITOM},
    "x86/amdzen2": DF,
    "x86/amdzen3": DF,
    "x86/amdzen4": {**UMC, "link.out": [[f"local_socket_outbound_data_beats_link{n}" for n in range(8)]]},
    "x86/amdzen5": UMC,
}

# POWER's tables have metrics over the firmware's own names; their unit says the worth of a count. An MB is 10^6 or 2^20
# bytes, depending on the table, so they tell bytes only to 5 %.
POWER = {"powerpc/power9": ("POWER9", re.compile(r"(nest_mcs\d+_imc)@(PM_\w+)@")),
         "powerpc/power10": ("POWER10", re.compile(r"(hv_24x7)@(PM_MCS_\w+)\\,chip"))}

# The PMUs of the tables' units (jevents.py: unit_to_pmu). Where perf looks for names that no kernel uses
# (uncore_imc_dclk, uncore_mchbm), here are the names of arch/x86/events/intel/uncore_snbep.c, and the names that Linux
# 6.1 makes up for boxes that it does not know.
PMUS = {
    "CHA": r"uncore_(cha|type_0)(_\d+)?",
    "DFPMC": r"amd_df",
    "EDC_ECLK": r"uncore_edc_eclk(_\d+)?",
    "EDC_UCLK": r"uncore_edc_uclk(_\d+)?",
    "IIO": r"uncore_iio(_\d+)?",
    "IIO_FREE_RUNNING": r"uncore_iio_free_running(_\d+)?",
    "IMC": r"uncore_(imc|type_6)(_\d+)?",
    "IMC_DCLK": r"uncore_imc(_\d+)?",
    "MCHBM": r"uncore_(hbm|type_14)(_\d+)?",
    "UPI": r"uncore_(upi|type_8)(_\d+)?",
    "UMCPMC": r"amd_umc(_\d+)?",
}

# The fields of an event in the tables, and their names in the kernel's format/.
FIELDS = {"EventCode": "event", "UMask": "umask", "RdWrMask": "rdwrmask"}
# Other units have these in their entries, too, and no fields for them. The upper part of the umask repeats both.
FIELDS_OF_IIO = {"PortMask": "ch_mask", "FCMask": "fc_mask"}


def events_of(metrics):
    return {event.lstrip("-") for ways in metrics.values() for way in ways for event in way}


def entries_of(folder):
    for path in sorted(folder.glob("*.json")):
        yield from (entry for entry in json.loads(path.read_text("utf-8")) if isinstance(entry, dict))


def event_entry(entry):
    fields = {name: int(entry[key], 0) for key, name in FIELDS.items() if key in entry}
    if entry["Unit"] == "IIO":
        fields.update({name: int(entry[key], 0) for key, name in FIELDS_OF_IIO.items()}, umask=fields["umask"] & 0xff)
    terms = [f"{name}={value:#x}" for name, value in fields.items()]
    return {"unit": entry["Unit"].upper(), "terms": ",".join(terms)}


def bytes_of(entry, wanted):
    """{event: bytes} that a table's metric states, if it is a plain sum of events times a number."""
    expression = entry.get("MetricExpr", "").replace("( ", "(").replace(" )", ")")
    times = re.fullmatch(r"\(?([^()*/]+?)\)?(?: \* (\d+)\)?)?(?: / 1e6 / duration_time)?", expression)
    scale = re.fullmatch(r"([\d.e-]+)(Bytes|MB|MiB|MB/s)?", entry.get("ScaleUnit", "1"))
    if not times or not scale or "+" in (times[1] if times[2] is None and not scale[2] else ""):
        return {}
    unit = {"MB": 1e6, "MiB": 2 ** 20}.get(scale[2], 1)
    value = int(times[2] or 1) * float(scale[1]) * unit
    names = [name.strip() for name in times[1].split("+")]
    return {name: round(value) for name in names} if value >= 2 and set(names) <= wanted else {}


def table_of(arch, folder, models):
    wanted = events_of(METRICS[folder])
    table = {"folder": folder, "models": models, "events": {}, "bytes": {}}
    for entry in entries_of(arch / folder):
        name = entry.get("EventName")
        if name in wanted:
            table["events"][name] = event_entry(entry)
        for event, value in bytes_of(entry, wanted).items():
            table["bytes"].setdefault(event, value)
            if table["bytes"][event] != value:
                sys.exit(f"{folder}: {event} is worth {value} and {table['bytes'][event]} bytes")
    return table


def power_table(arch, folder):
    cpu, pattern = POWER[folder]
    aliases = {}
    for entry in entries_of(arch / folder):
        scale = re.fullmatch(r"([\d.e-]+)MB", entry.get("ScaleUnit", ""))
        for _, alias in pattern.findall(entry.get("MetricExpr", "")) if scale else ():
            aliases[alias] = round(float(scale[1]) * 1e6)
    return {"folder": folder, "cpu": cpu, "aliases": aliases}


def extract(arch, version):
    tables = [power_table(arch, folder) for folder in POWER]
    for line in (arch / "x86/mapfile.csv").read_text("ascii").splitlines()[1:]:
        models, _, name, kind = line.split(",")
        if kind == "core" and f"x86/{name}" in METRICS:
            tables.append(table_of(arch, f"x86/{name}", models.replace("[[:xdigit:]]", "[0-9A-F]")))
    return {"source": version, "tables": tables}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = extract(pathlib.Path(sys.argv[1], "tools/perf/pmu-events/arch"), sys.argv[2])
    for entry in found["tables"]:  # an event a line, so that a difference can be read
        for key in ("events", "bytes", "aliases"):
            if key in entry:
                entry[key] = dict(sorted(entry[key].items()))
    print(re.sub(r"\{\s+([^{}]*?)\s+\}", lambda m: "{" + " ".join(m[1].split()) + "}",
                 json.dumps(found, indent=1)))


if __name__ == "__main__":
    main()
