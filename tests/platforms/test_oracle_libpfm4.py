# SPDX-License-Identifier: BSD-3-Clause
"""uncored counts by the same words as libpfm4, on every box of every CPU that both know.

It needs libpfm4 (Debian: libpfm4). 4.13, of Debian 12, knows Knights Landing to Cascade Lake; Ice
Lake and Sapphire Rapids came later and are compared where the library has them.
"""
import ctypes
import functools
import os
import re

import oracle
import tap

CAS = {"dram.read": [["imc{n}::UNC_M_CAS_COUNT:RD"]],
       "dram.write": [["imc{n}::UNC_M_CAS_COUNT:WR"]]}
ITOM = {"itom": [["cha{n}::UNC_CHA_TOR_INSERTS:IA_ITOM"]],
        "specitom": [["cha{n}::UNC_CHA_TOR_INSERTS:IA_SPECITOM"]]}
MCDRAM = {
    "hbm.read": [["edc_eclk{n}::UNC_E_RPQ_INSERTS"],
                 ["edc_eclk{n}::UNC_E_RPQ_INSERTS", "-edc_uclk{n}::UNC_E_EDC_ACCESS:MISS_CLEAN",
                  "-edc_uclk{n}::UNC_E_EDC_ACCESS:MISS_DIRTY"]],
    "hbm.write": [["edc_eclk{n}::UNC_E_WPQ_INSERTS"],
                  ["edc_eclk{n}::UNC_E_WPQ_INSERTS", "-imc{n}::UNC_M_CAS_COUNT:RD"]]}

# (models as in cpuid(), first part of the library's names, events of each metric, known since 4.13)
CPUS = [
    ("GenuineIntel-6-57", "knl", {**CAS, **MCDRAM}, True),
    ("GenuineIntel-6-85", "knm", {**CAS, **MCDRAM}, True),
    ("GenuineIntel-6-3F", "hswep", CAS, True),
    ("GenuineIntel-6-(4F|56)", "bdx", CAS, True),
    ("GenuineIntel-6-55", "skx", CAS, True),  # also what Cascade Lake is called
    ("GenuineIntel-6-6A", "icx", {**CAS, **ITOM}, False),
    ("GenuineIntel-6-8F", "spr", {**CAS, **ITOM}, False),
]

# CPUs whose memory controllers libpfm4 knows and uncored does not.
NOT_OURS = {"snbep", "ivbep"}

# Where the library and uncored count a metric by different events, and why.
DIFFERENCES = {}

PFM_OS_NONE = 0
PFM_PLM_ALL = 0xf
PFM_SUCCESS, PFM_ERR_NOTSUPP = 0, -1
PFM_UNKNOWN = (-4, -6, -8)  # no such event, unit mask, attribute
PFM_PMU_MAX = 1024


class EncodeArgument(ctypes.Structure):
    """pfm_pmu_encode_arg_t of perfmon/pfmlib.h"""
    _fields_ = [("codes", ctypes.POINTER(ctypes.c_uint64)), ("fstr", ctypes.c_void_p),
                ("size", ctypes.c_size_t), ("count", ctypes.c_int), ("idx", ctypes.c_int)]


class PmuInfo(ctypes.Structure):
    """pfm_pmu_info_t; the members behind the names are not needed here"""
    _fields_ = [("name", ctypes.c_char_p), ("desc", ctypes.c_char_p), ("size", ctypes.c_size_t),
                ("rest", ctypes.c_char * 32)]


@functools.lru_cache(maxsize=None)
def library():
    os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"  # encode for CPUs other than this one
    try:
        found = ctypes.CDLL("libpfm.so.4")
    except OSError:
        return None
    found.pfm_strerror.restype = ctypes.c_char_p
    tap.equal(found.pfm_initialize(), PFM_SUCCESS, "pfm_initialize()")
    return found


def needed():
    if not library():
        raise tap.Skip("libpfm.so.4 cannot be loaded: install libpfm4")
    return library()


def encode(name):
    """The first word, which is the `config` of perf; None if the library has no such event."""
    argument = EncodeArgument()
    result = needed().pfm_get_os_event_encoding(name.encode(), PFM_PLM_ALL, PFM_OS_NONE,
                                                ctypes.byref(argument))
    if result in PFM_UNKNOWN:
        return None
    tap.equal(result, PFM_SUCCESS, f"encoding {name} ({library().pfm_strerror(result).decode()})")
    tap.check(argument.count >= 1, f"{name} has no code")
    return argument.codes[0]


@functools.lru_cache(maxsize=None)
def pmu_names():
    names = set()
    for pmu in range(PFM_PMU_MAX):
        info = PmuInfo(size=ctypes.sizeof(PmuInfo))
        result = needed().pfm_get_pmu_info(pmu, ctypes.byref(info))
        if result in (PFM_SUCCESS, PFM_ERR_NOTSUPP) and info.name:
            names.add(info.name.decode())
    return names


def resolve(machine, prefix, event):
    """{pmu: word} of the boxes that the machine has; None if the library knows none of them."""
    box = event.partition("{n}")[0]
    words = {}
    for pmu in oracle.pmus_of(machine, rf"uncore_{box}(_\d+)?"):
        word = encode(f"{prefix}_unc_{event.replace('{n}', str(oracle.number(pmu)))}")
        if word is not None:
            words[pmu] = (word, 0, 0)
    return words or None


def cpu_of(machine):
    for models, prefix, metrics, _ in CPUS:
        if re.match(models + "-", oracle.cpuid(machine.cpu)):
            return prefix, metrics
    return None, {}


def check_machine(comparison, machine, prefix, metrics):
    needed()
    for metric, ways in metrics.items():
        comparison.metric(machine, prefix, metric, ways,
                          functools.partial(resolve, machine, prefix))


def check_rows(comparison):
    """Every box of every CPU that the library has must have been compared."""
    needed()
    comparison.check_rows((prefix, metric, set(range(len(ways))))
                          for _, prefix, metrics, since_4_13 in CPUS
                          for metric, ways in metrics.items()
                          if since_4_13 or f"{prefix}_unc_imc0" in pmu_names())


def check_all_known():
    known = {found[1] for name in pmu_names() if (found := re.match(r"(\w+)_unc_imc\d+$", name))}
    ours = {prefix for _, prefix, _, _ in CPUS}
    tap.check({prefix for _, prefix, _, since in CPUS if since} <= known,
              f"libpfm4 knows memory controllers of {sorted(known)} only")
    tap.equal(sorted(known - ours - NOT_OURS), [],
              "CPUs whose memory controllers libpfm4 knows, but this test does not")


def check_refusal():
    """Checks that an unknown event is told from a known one: otherwise all comparisons above could be empty."""
    tap.equal(encode("knl_unc_imc0::UNC_M_CAS_COUNT:NO_SUCH_MASK"), None, "an unknown event")
    tap.equal(encode("knl_unc_imc0::UNC_M_CAS_COUNT:RD"), 0x103, "Knights Landing's CAS_COUNT.RD")


def main():
    comparison = oracle.Comparison("libpfm4", DIFFERENCES)
    cases = [("libpfm4 is asked in the right way", check_refusal)]
    for machine in oracle.machines():
        prefix, metrics = cpu_of(machine)
        if prefix and (not library() or f"{prefix}_unc_imc0" in pmu_names()):
            cases.append((f"{machine.name} counts as libpfm4 encodes {prefix}",
                          functools.partial(check_machine, comparison, machine, prefix, metrics)))
    tap.run_functions(cases + [
        ("each CPU whose memory controllers libpfm4 knows is in this test", check_all_known),
        ("each of them was compared on some machine", functools.partial(check_rows, comparison))])


main()
