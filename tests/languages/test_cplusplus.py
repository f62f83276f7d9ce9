# SPDX-License-Identifier: BSD-3-Clause
"""uncore.hpp and CMake's package: programs that know what they moved. Rust calls the library, too."""
import json
import pathlib
import subprocess
import sys

import languages
import pages
import run
import tap
from languages import BUILD, PROGRAMS, SOURCE, bytes_of, counts_of, need, simulated

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast", "-Werror")
INCLUDES = (f"-I{SOURCE}/client/libuncore", f"-I{SOURCE}/client/cplusplus", f"-I{SOURCE}")
LIBRARY = (f"-L{BUILD}/client", "-luncore")
REGIONS = {"outer": 6, "inner": 2, "other": 3, "span": 4}  # lines


def compiled(machine, compiler, standard):
    machine.run("cc", "-c", *INCLUDES, "-o", "mover.o", PROGRAMS / "mover.c")
    machine.run(compiler, f"-std={standard}", *STRICT, "-fno-exceptions", "-fno-rtti", *INCLUDES, "-o", "marked",
                PROGRAMS / "marked.cpp", "mover.o", *LIBRARY, "-pthread")
    return "./marked"


def marked(compiler, standard):
    with simulated() as machine:
        said = machine.run(compiled(machine, compiler, standard), UNCORE_OVERHEAD="0").stdout.splitlines()
        regions = machine.regions()
    tap.equal(said[:4], ["Nothing was measured yet.", "0 640 640 standin", "0 1280 1280 standin",
                         "The simulated machine has no such memory."], "meter")
    tap.check("/nonexistent/socket" in said[4] and said[5] == "simulated 320", f"{said}")
    tap.equal({name: sum(bytes_of(region)) // 64 for name, region in regions.items()}, REGIONS, "lines")
    tap.equal([counts_of(region) for region in regions.values()], [[1, 0, 0, 0]] * 3 + [[3, 0, 0, 0]], "passages")


def by_gcc():
    """Regions, spans and meters have what moved; g++ has no warning, as C++17 without exceptions"""
    marked("g++", "c++17")


def by_clang():
    """clang++ has no warning, either, as C++20"""
    need("clang++")
    marked("clang++", "c++20")


def sanitized():
    """The program has no error of memory or of undefined behaviour"""
    with simulated() as machine:
        machine.run("cc", "-c", *INCLUDES, "-o", "mover.o", PROGRAMS / "mover.c")
        machine.run("g++", "-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover", *INCLUDES, "-o", "marked",
                    PROGRAMS / "marked.cpp", "mover.o", *LIBRARY, "-pthread")
        machine.run("./marked")


def package():
    """find_package(uncore) finds header and library in any prefix, and no release that is newer"""
    need("cmake")
    lists = ('cmake_minimum_required(VERSION 3.16)\nproject(marked CXX)\nfind_package(uncore {version} REQUIRED)\n'
             f'add_executable(marked {PROGRAMS}/marked.cpp mover.o)\n'
             'target_compile_features(marked PRIVATE cxx_std_17)\nfind_package(Threads REQUIRED)\n'
             'target_link_libraries(marked uncore::uncore Threads::Threads)\n')
    with simulated() as machine:
        user = {"CMAKE_PREFIX_PATH": str(languages.installed())}
        machine.run("cc", "-c", *INCLUDES, "-o", "mover.o", PROGRAMS / "mover.c")
        (machine.folder / "CMakeLists.txt").write_text(lists.format(version="0.1"), encoding="ascii")
        machine.run("cmake", "-S", ".", "-B", "out", **user)
        machine.run("cmake", "--build", "out", **user)
        machine.run("out/marked", LD_LIBRARY_PATH="")
        (machine.folder / "CMakeLists.txt").write_text(lists.format(version="99"), encoding="ascii")
        refused = machine.run("cmake", "-S", ".", "-B", "newer", status=1, **user)
    tap.check("compatible with requested version" in " ".join(refused.stderr.split()), refused.stderr)


def benchmark():
    """Google Benchmark, with the guide's program on a model of caches: a copy of N bytes reads 2 N an iteration"""
    need("qemu-x86_64")
    if not pathlib.Path("/usr/include/benchmark/benchmark.h").exists():
        raise tap.Skip("libbenchmark-dev is not installed: ./dev setup")
    with simulated() as machine:
        pages.write_files(machine.folder)
        machine.run("g++", "-std=c++17", "-O2", *INCLUDES, "-o", "bench", "bench.cpp", *LIBRARY, "-lbenchmark", "-pthread")
        done = subprocess.run(
            [sys.executable, "-B", run.__file__, BUILD, "ll=256K", "--", machine.folder / "bench",
             "--benchmark_min_time=0.001", "--benchmark_format=json"], text=True, capture_output=True, check=False,
            timeout=languages.SECONDS, env=languages.environment(LD_LIBRARY_PATH=f"{BUILD}/client"))
    tap.equal(done.returncode, 0, f"{done.stdout}{done.stderr}status")
    result, = json.loads(done.stdout)["benchmarks"]
    share = result["dram.read"] / (8 << 20)
    print(f"# dram.read of an iteration: {share} N, {result['iterations']} iterations")
    tap.check(abs(share - 2) <= 0.05, f"{share} N, should be 2 N")


tap.run_functions([(case.__doc__, case) for case in (by_gcc, by_clang, sanitized, package, benchmark)]
                  + pages.cases("cplusplus"))
