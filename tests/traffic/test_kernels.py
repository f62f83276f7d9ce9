# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel of `uncore validate` moves on the simulated memory controller what its formula says and what valgrind's
cache simulator counts.
"""
import dataclasses
import re
import subprocess
import tempfile

import simulation
import tap

OF_FORMULA, OF_CALLGRIND = 0.02, 0.005
STRAY_BYTES = 32 * simulation.LINE  # stack and library, of a run of any length
WAYS = {"l1": 8, "ll": 16}

NONTEMPORAL = "callgrind takes non-temporal stores for stores to its caches"
STRING = "callgrind takes rep stos for stores that read their lines"


@dataclasses.dataclass(frozen=True)
class Case:
    kernel: str
    number: int = 0
    halo: int = 0
    l1: int = 32 << 10
    ll: int = 256 << 10
    passes: int = 2
    evaded: float = 0.0   # of the lines that are written whole: the simulator's speci2m
    no_callgrind: str = ""

    @property
    def title(self):
        words = [f"{name} {value}" for name, value in (("number", self.number), ("halo", self.halo)) if value]
        caches = [f"a last cache of {self.ll >> 10} KiB"] if self.ll != Case.ll else []
        evaded = [f"{self.evaded:.0%} of write-allocates evaded"] if self.evaded else []
        return ", ".join([self.kernel, *words, *caches, *evaded])

    @property
    def command(self):
        return ("kernel", self.kernel, f"number={self.number}", f"halo={self.halo}", f"cache={self.ll}",
                f"passes={self.passes}")


CASES = (
    *(Case(name) for name in ("load", "update", "store1", "store2", "store3", "copy", "triad")),
    *(Case(name, no_callgrind=NONTEMPORAL) for name in ("storent1", "storent2", "storent3", "copynt")),
    Case("fill", no_callgrind=STRING),
    Case("halocopy", 216, 5),
    *(Case(name) for name in ("stencil", "gemm", "gemv", "s1cf1", "s1cf2", "s1cf", "s2cf")),
    Case("copy", evaded=0.5, no_callgrind="callgrind evades nothing"),
)
OTHER_SIZES = (
    *(Case("halocopy", number, halo) for number in (216, 530, 1920) for halo in (0, 5, 17)),
    Case("stencil", 5000, l1=4 << 10, ll=64 << 10),  # its rows do not fit
    Case("gemm", 96),
    Case("gemm", 100, l1=8 << 10, ll=32 << 10, passes=1),  # not even one matrix fits
    Case("gemv", 2000, ll=128 << 10),  # capped: the rows that are there are used in turns
    Case("s1cf2", 60, l1=1 << 10, ll=16 << 10),  # a column of lines does not fit
    *(Case(name, evaded=share, no_callgrind="callgrind evades nothing")
      for name in ("store1", "copy") for share in (0.5, 1.0)),
    Case("halocopy", 216, 5, evaded=1.0, no_callgrind="callgrind evades nothing"),
)


def simulated(case):
    """(predicted, counted) by name, in bytes."""
    options = f"l1={case.l1}:{WAYS['l1']} ll={case.ll}:{WAYS['ll']} speci2m={100 * case.evaded:.0f}"
    said = simulation.counted(options, *case.command)
    return said["predicted"], said["counted"]


def callgrind(case):
    """(read, written) bytes."""
    with tempfile.NamedTemporaryFile(prefix="uncored-callgrind-") as file:
        subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--simulate-wb=yes",
             "--toggle-collect=measured", f"--callgrind-out-file={file.name}", "--I1=32768,8,64",
             f"--D1={case.l1},{WAYS['l1']},64", f"--LL={case.ll},{WAYS['ll']},64",
             simulation.BUILD / case.command[0], *case.command[1:]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=simulation.SECONDS, check=True)
        text = file.read().decode()
    names = re.search(r"^events: (.*)$", text, re.MULTILINE)[1].split()
    values = [int(value) for value in re.search(r"^totals: (.*)$", text, re.MULTILINE)[1].split()]
    lines = dict(zip(names, values))  # zeros at the end are left out
    return tuple(simulation.LINE * sum(lines.get(name, 0) for name in kind)
                 for kind in (("DLmr", "DLmw"), ("DLdmr", "DLdmw")))


def near(have, want, what, tolerance=OF_FORMULA):
    """Prints the deviation, and fails if it is too large."""
    deviation = f"{have / want - 1:+.2%}" if want else f"{have} bytes"
    print(f"# {what}: {have} of {want:.0f} bytes, {deviation}")
    tap.check(abs(have - want) <= tolerance * want + STRAY_BYTES,
              f"{what}: {have} bytes, should be {want:.0f} ({deviation})")


def check_case(case):
    predicted, counted = simulated(case)
    claimed = counted["itom"] + counted["specitom"]
    evaded = predicted["allocated"] * (1 if case.kernel == "fill" else case.evaded)
    near(counted["read"], predicted["read"] + predicted["allocated"] - evaded, "read, formula")
    near(counted["write"], predicted["written"], "written, formula")
    near(claimed, evaded, "claimed, formula")
    if case.no_callgrind:
        print(f"# {case.no_callgrind}")
        return
    read, written = callgrind(case)
    near(counted["read"], read, "read, callgrind", OF_CALLGRIND)
    near(counted["write"], written, "written, callgrind", OF_CALLGRIND)


def main():
    simulation.need(simulation.QEMU, "valgrind")
    tap.run_functions([(f"{case.title}: as predicted", lambda case=case: check_case(case))
                       for case in tap.of_suite(CASES, long=OTHER_SIZES)])


if __name__ == "__main__":
    main()
