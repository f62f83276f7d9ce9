# SPDX-License-Identifier: BSD-3-Clause
"""Caliper's marks, in a program that is linked with a stand-in for its library."""
import tap
from languages import need
from markers import OWN, compile_program, counts, lines, run_with, said_of, simulated

LINES = {
    "region": 7, "phase": 6, "comm": 4, "c-loop": 40, "iteration#c-loop": 24, "flag": 480, "solver=cg": 448, "level": 384,
    "tolerance": 256, "daxpy": 1024, "function": 3 << 10, "scope": 1 << 11, "first": 1 << 13, "iteration#first": 1 << 13,
    "second": (1 << 13) + (1 << 14), "iteration#second": 1 << 13,
}
PASSAGES = {"iteration#c-loop": 3, "iteration#first": 2}


def program_of(machine, compiler="g++"):
    machine.run("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "libcaliper.so.2",
                OWN / "caliper-stand-in.cpp")
    return compile_program(machine, compiler, OWN / "caliper-marks.cpp", "-std=c++17", "./libcaliper.so.2",
                           "-Wl,-rpath,$ORIGIN")


def each(compiler):
    with simulated() as machine:
        program = program_of(machine, compiler)
        alone = machine.run(program).stdout
        done = run_with(machine, "auto", program)
        moved, passages = lines(machine), counts(machine)
    tap.equal(said_of(done), ["uncore run: markers: caliper."], "line")
    tap.equal(done.stdout, alone, "calls of the library")
    tap.equal(moved, LINES, "lines")
    tap.equal(passages, {name: PASSAGES.get(name, 1) for name in LINES}, "passages")


def by_gcc():
    """One of each mark: C calls, loops, attributes by number and name, C++ objects; Caliper is called as without us"""
    each("g++")


def by_clang():
    """The same by clang++"""
    need("clang++")
    each("clang++")


def none_failed():
    """No passage fails or stays open"""
    with simulated() as machine:
        run_with(machine, "caliper", program_of(machine))
        wrong = {name: region for name, region in machine.regions().items() if region["failed"] or region["open"]}
    tap.equal(wrong, {}, "failed or open")


def beside():
    """Where Caliper itself is told to work there are no regions, and its library is called as ever"""
    with simulated() as machine:
        program = program_of(machine)
        alone = machine.run(program).stdout
        for name in ("CALI_CONFIG", "CALI_SERVICES_ENABLE", "CALI_CONFIG_PROFILE"):
            done = run_with(machine, "caliper", program, **{name: "runtime-report"})
            tap.equal((done.stdout, machine.report_path.exists()), (alone, False), name)


tap.run_functions([(case.__doc__, case) for case in (by_gcc, by_clang, none_failed, beside)])
