# SPDX-License-Identifier: BSD-3-Clause
"""libuncore-heap.so and `uncore report --arrays`: programs that know what they allocated."""
import contextlib
import functools
import json
import pathlib
import re
import tempfile

import tap
from languages import Machine, need
from markers import BUILD, OWN, UNCORE, compile_program, simulated

MODULE = BUILD / "client/heap/libuncore-heap.so"
M = 1 << 20
LIBRARY = (f"-L{BUILD}/client", "-luncore", "-pthread", "-ldl")


@contextlib.contextmanager
def alone():
    """A folder on a machine without uncored: regions are open all the same."""
    with tempfile.TemporaryDirectory(prefix="uncored-heap-") as name:
        folder = pathlib.Path(name)
        (folder / "counters").write_bytes(bytes(1 << 20))
        yield Machine(folder, folder / "nobody")


@functools.lru_cache
def heap_program():
    with alone() as machine:
        return (machine.folder / compile_program(machine, "cc", OWN / "heap.c", "-rdynamic", "-w", *LIBRARY)).read_bytes()


def compile_heap(machine):
    path = machine.folder / "heap"
    path.write_bytes(heap_program())
    path.chmod(0o755)
    return "./heap"


def run(machine, *command, **more):
    """What the process wrote, and those that it forked."""
    before = set(machine.folder.glob("out.json*"))
    machine.run(*command, LD_PRELOAD=str(MODULE), UNCORE_HEAP="out.json", **more)
    new = sorted(set(machine.folder.glob("out.json*")) - before)
    found = [json.loads(path.read_text(encoding="utf-8")) for path in new]
    for path in new:
        path.unlink()
    return found


def run_case(machine, name, **more):
    document, = run(machine, compile_heap(machine), name, **more)
    tap.equal(document["lost_blocks"], 0, "lost blocks")
    return document


def most(document):
    """What each kind had at most, and at the end, in MiB: those that are the program's own."""
    found = [(site["kind"], site["most_bytes"] / M, site["live_bytes"] / M) for site in document["sites"]
             if site["most_bytes"] and "libc.so" not in site["frames"][0]]
    return sorted(found)


def of_region(document, name):
    """(kind, MiB, blocks) at most."""
    region, = (region for region in document["regions"] if region["name"] == name)
    found = [(document["sites"][part["site"]], part) for part in region["sites"]]
    return sorted((site["kind"], part["most_bytes"] / M, part["most_blocks"]) for site, part in found
                  if "libc.so" not in site["frames"][0])


def regions():
    """A region has what was there before and is still there, at most at one time, and what comes in it"""
    with alone() as machine:
        found = run_case(machine, "regions")
    tap.equal(of_region(found, "work"), [("calloc", 1, 1), ("calloc", 2, 1), ("malloc", 4, 1)], "work")
    tap.equal(of_region(found, "late"), [("malloc", 4, 1)], "late")
    tap.equal(of_region(found, "last"), [], "last")
    tap.equal(most(found), [("calloc", 1, 0), ("calloc", 2, 0), ("malloc", 4, 0), ("malloc", 8, 8)], "places")


def spans():
    """A span opens its region for what the process allocates"""
    with alone() as machine:
        found = run_case(machine, "span")
    tap.equal(of_region(found, "message"), [("malloc", 1, 1)], "message")


def sizes():
    """Blocks that grow, shrink, become small or cannot grow are as large as they are"""
    with alone() as machine:
        found = run_case(machine, "sizes")
    tap.equal(most(found), [("malloc", 1, 0), ("malloc", 1, 0), ("realloc", 2, 2), ("realloc", 3, 3), ("realloc", 8, 0),
                            ("reallocarray", 5, 5)], "places")


def aligned():
    """Aligned blocks of all functions are kept"""
    with alone() as machine:
        found = run_case(machine, "aligned")
    kinds = ["aligned_alloc", "memalign", "posix_memalign", "pvalloc", "valloc"]
    tap.equal(most(found), [(kind, 1, 1) for kind in kinds], "places")


def maps():
    """Mappings that lose a part, grow, or give their place to others; reserved addresses are not an array"""
    with alone() as machine:
        found = run_case(machine, "maps")
    tap.equal(most(found), [("mmap", 1, 0), ("mmap", 1, 1), ("mmap", 2, 0), ("mmap", 4, 2), ("mremap", 6, 6)], "places")
    site, = (site for site in found["sites"] if site["most_bytes"] == 4 * M)
    tap.equal(site["live_blocks"], 2, "parts of the first one")


def threads():
    """Four threads free each other's blocks, and nothing remains"""
    with alone() as machine:
        found = run_case(machine, "threads")
    own = [site for site in found["sites"] if site["kind"] in ("malloc", "calloc", "realloc") and "heap+" in site["frames"][0]]
    tap.check(len(own) >= 3, "places")
    tap.equal([site["live_bytes"] + site["live_blocks"] for site in own], [0] * len(own), "what remains")


def many():
    """Of 20,000 blocks each is known, and half of them go"""
    with alone() as machine:
        found = run_case(machine, "many")
    site, = (site for site in found["sites"] if site["most_blocks"] == 20000)
    tap.equal((site["most_bytes"], site["live_bytes"], site["live_blocks"]), (20000 << 16, 10000 << 16, 10000), "blocks")


def forks():
    """A child has a file of its own, what it inherits, and its own regions; its parent has none of that"""
    with alone() as machine:
        parent, child = sorted(run(machine, compile_heap(machine), "forks"), key=lambda found: found["pid"])
    tap.equal(most(parent), [("malloc", 2, 2)], "places of the parent")
    tap.equal(of_region(parent, "parents"), [("malloc", 2, 1)], "the parent's region")
    tap.equal(most(child), [("malloc", 2, 0), ("malloc", 5, 5)], "places of the child")
    tap.equal(of_region(child, "childs"), [("malloc", 5, 1)], "the child's region")
    tap.equal(of_region(child, "parents"), [], "the parent's region in the child")


def foreign():
    """Blocks that came or went by another way do no harm"""
    with alone() as machine:
        found = run_case(machine, "foreign")
    tap.equal(most(found), [("malloc", 7, 7), ("malloc", 7, 7), ("realloc", 6, 0)] if len(most(found)) == 3 else
              [("malloc", 7, 0), ("malloc", 7, 7), ("realloc", 6, 0)], "places")


def early():
    """dlsym(3) may allocate, and free later"""
    with alone() as machine:
        program = compile_program(machine, "cc", OWN / "heap-early.c", "-rdynamic", "-w")
        found, = run(machine, program)
    tap.equal(most(found)[:1], [("malloc", 1, 0)], "places")


def plugins():
    """What a library allocated that is gone has the library's name, also where another one took its place"""
    with alone() as machine:
        for name, size in (("a", 3), ("b", 5)):
            source = machine.folder / f"plugin-{name}.c"
            source.write_text(f"#include <stdlib.h>\nvoid *allocate(void) {{ void *m = malloc({size} << 20); "
                              "__asm__(\"\" : \"+r\"(m)); return m; }\n", encoding="utf-8")
            machine.run("cc", "-shared", "-fPIC", "-O1", "-o", f"plugin-{name}.so", source)
        found = run_case(machine, "plugins")
    places = {site["live_bytes"] // M: site["frames"][0] for site in found["sites"] if "plugin" in "".join(site["frames"])}
    tap.equal({size: re.sub(r".*/(plugin-.)\.so\+0x.*", r"\1", place) for size, place in places.items()},
              {3: "plugin-a", 5: "plugin-b"}, "places")


def memkind():
    """libmemkind's functions are kept once, with what they do inside"""
    with alone() as machine:
        machine.run("cc", "-shared", "-fPIC", "-O1", "-Wl,-soname,libmemkind.so.0", "-o", "libmemkind.so.0",
                    OWN / "heap-memkind.c")
        program = compile_program(machine, "cc", OWN / "heap.c", "-rdynamic", "-w", *LIBRARY, "-Wl,--no-as-needed",
                                  "./libmemkind.so.0", "-Wl,-rpath,$ORIGIN")
        found, = run(machine, program, "memkind")
    tap.equal(most(found), [("hbw_malloc", 1, 0), ("hbw_malloc", 2, 2), ("hbw_posix_memalign", 1, 1),
                            ("memkind_malloc", 3, 3), ("memkind_malloc", 4, 0)], "places")


def symbols():
    """Static arrays have their names and sizes; without symbols the file says how much has none"""
    with alone() as machine:
        program = compile_heap(machine)
        found, = run(machine, program, "regions")
        machine.run("strip", "-o", "bare", program)
        bare, = run(machine, "./bare", "regions")
    tap.equal(sorted((one["name"], one["bytes"]) for one in found["objects"]), [("filled", M), ("large_one", 3 * M + 5)],
              "objects")
    tap.equal((found["unnamed"], {pathlib.Path(one["module"]).name for one in found["objects"]}), ([], {"heap"}), "module")
    # -rdynamic keeps those that are global for ld.so.
    tap.equal(len(bare["objects"]), 2, "objects that ld.so knows")


def stripped():
    """Of a stripped program the bytes without names are said"""
    with alone() as machine:
        program = compile_program(machine, "cc", OWN / "heap.c", "-w", "-s", *LIBRARY)
        found, = run(machine, program, "regions")
    tap.equal(found["objects"], [], "objects")
    module, = found["unnamed"]
    tap.check(4 * M <= module["bytes"] < 5 * M, f"bytes without names: {module['bytes']}")


def cplusplus():
    """operator new comes by malloc(3)"""
    need("g++")
    with alone() as machine:
        program = compile_program(machine, "g++", OWN / "heap-cplusplus.cpp", *LIBRARY)
        found, = run(machine, program)
    tap.equal([(kind, round(size * M), n) for kind, size, n in of_region(found, "fill") if size > 1],
              [("aligned_alloc", 1280000, 1), ("malloc", 2400000, 1), ("malloc", 5 << 20, 1)], "fill")


def fortran():
    """ALLOCATE comes by malloc(3); a module's array and a COMMON block are symbols"""
    need("gfortran")
    with alone() as machine:
        program = compile_program(machine, "gfortran", OWN / "heap-fortran.f90", *LIBRARY)
        found, = run(machine, program)
    tap.equal([(kind, round(size * M), n) for kind, size, n in of_region(found, "solve")], [("malloc", 4000000, 1)], "solve")
    tap.equal(sorted((one["name"], one["bytes"]) for one in found["objects"]),
              [("__fields_MOD_pressure", 3200000), ("shared_", 2000000)], "objects")


def threshold():
    """UNCORE_HEAP_MIN is the least that is kept; who keeps nothing writes nothing"""
    with alone() as machine:
        program = compile_heap(machine)
        found, = run(machine, program, "sizes", UNCORE_HEAP_MIN=str(4 * M))
        tap.equal(most(found), [("realloc", 8, 0), ("reallocarray", 5, 5)], "places")
        tap.equal(found["least_bytes"], 4 * M, "the bound")
        tap.equal(run(machine, "true"), [], "what true(1) had")


def shown():
    """uncore run --heap writes beside the report, and uncore report --arrays names lines and sizes by region"""
    with simulated() as machine:
        program = compile_heap(machine)
        machine.run(UNCORE, "run", "--heap", "-o", "report.json", "--", "sh", "-c", f"{program} regions; :")
        heap, = machine.folder.glob("report.heap.*.json")
        table = machine.run(UNCORE, "report", "--arrays", "report.json", heap).stdout
        alone = machine.run(UNCORE, "report", "--arrays", heap).stdout
        said = json.loads(machine.run(UNCORE, "report", "--arrays", "--json", ".", status=0).stdout)
        plain = machine.run(UNCORE, "report", ".").stdout
    line = next(i for i, text in enumerate((OWN / "heap.c").read_text(encoding="utf-8").splitlines(), 1)
                if "malloc(size);" in text)
    tap.equal([region["region"] for region in said["regions"]], ["work", "late"], "the most bytes first")
    for words in ("region work: 3 arrays of 7.34 MB", f"heap.c:{line} ", "4.19 MB  1 by malloc", "large_one in ",
                  "No lower bound of its time in HBM: `uncore validate --keep` has not run",
                  "What moved from and to each of them is not known."):
        tap.check(words in table, f"'{words}' is not in {table}")
    tap.check("region last: none" not in alone and "region work: 3 arrays" in alone, f"without the report: {alone}")
    tap.check("work" in plain and "large_one" not in plain, f"the plain report of the folder: {plain}")
    tap.check(all("place" in array for region in said["regions"] for array in region["arrays"]), "places in JSON")


def marked():
    """Marks of other interfaces are regions here, too"""
    with simulated() as machine:
        program = compile_program(machine, "cc", OWN / "nvtx.c", "-rdynamic", "-pthread")
        machine.run(UNCORE, "run", "--heap", "--markers=nvtx", "-o", "report.json", "--", program)
        heap, = machine.folder.glob("report.heap.*.json")
        found = json.loads(heap.read_text(encoding="utf-8"))
        names = {region["name"] for region in machine.report()["regions"]}
    tap.equal({region["name"] for region in found["regions"]}, names, "regions")


def static():
    """Of a static program uncore run says that it loads no module, and runs it"""
    with alone() as machine:
        (machine.folder / "little.c").write_text("int main(void) { return 7; }\n", encoding="utf-8")
        machine.run("cc", "-static", "-o", "little", "little.c")
        done = machine.run(UNCORE, "run", "--heap", "--", "./little", status=7)
    tap.check("./little is a static program, which loads no module: --heap cannot see its arrays." in done.stderr, done.stderr)


def python():
    """The module for Python opens its regions for the arrays, too"""
    code = ("import mmap, uncore\nwith uncore.region('fill'):\n"
            "    a = mmap.mmap(-1, 8 << 20)\n    b = bytearray(4 << 20)\n")
    with alone() as machine:
        found, = run(machine, "/usr/bin/python3", "-c", code)
    sizes_found = [size for _, size, _ in of_region(found, "fill")]
    tap.check(8 in sizes_found and any(4 <= size < 4.1 for size in sizes_found), f"arrays: {sizes_found}")


CASES = (regions, spans, sizes, aligned, maps, threads, many, forks, foreign, early, plugins, memkind, symbols, stripped, cplusplus,
         fortran, threshold, shown, marked, static, python)
tap.run_functions([(case.__doc__, case) for case in CASES])
