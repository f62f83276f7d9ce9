# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may use which, by includes and by symbols: the arrows of HACKING.md.

    arrows.py BUILD    in the root of the tree; BUILD has its objects

nm(1) sees no types, and nothing in objects of link-time optimisation.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

FOLDERS = ("common", "daemon", "client", "generate", "pmda")
FILES_MAX = 22  # .c files of a folder
HEADER = "client/libuncore/uncore.h"  # a row of its own: every room of client/ and pmda/ may include it

# What the files of a folder may include beside those of their own folder. A folder that is not here may not exist.
ALLOWED = {
    "common": "",
    # The wings of daemon/, from the top.
    "daemon": "common daemon/serve daemon/read daemon/count daemon/plan daemon/machine daemon/site daemon/base",
    "daemon/serve": "common daemon/admit daemon/close daemon/teams daemon/read daemon/count daemon/plan daemon/machine "
                    "daemon/site daemon/base",
    "daemon/close": "common daemon/admit daemon/read daemon/base",
    "daemon/admit": "common daemon/read daemon/site daemon/base",
    "daemon/teams": "common daemon/site daemon/base",
    "daemon/read": "common daemon/count daemon/plan daemon/machine daemon/site daemon/base",
    "daemon/count": "common daemon/plan daemon/base",
    "daemon/plan": "common daemon/machine daemon/base",
    "daemon/machine": "common daemon/base",
    "daemon/site": "common daemon/base",
    "daemon/base": "common",
    # The rooms of client/, from the bottom.
    "client/libuncore": "common",
    "client/report": "common",
    "client/launcher": "common",
    "client/reader": "common",
    "client/jobstore": "common",
    "client/trace": "common client/libuncore client/launcher client/reader",
    "client/region": "common client/libuncore client/launcher client/reader client/trace",
    "client/collect": "common client/libuncore client/region client/report client/launcher client/reader",
    "client/records": "common client/report client/launcher client/jobstore",
    # Each is loaded into programs of others, and calls the library as any program does.
    "client/markers/base": "common",
    "client/markers/caliper": "common client/markers/base",
    "client/markers/itt": "common client/markers/base",
    "client/markers/kokkos": "common client/markers/base",
    "client/markers/likwid": "common client/markers/base",
    "client/markers/nvtx": "common client/markers/base",
    "client/markers/mpi": "common client/markers/base",
    "client/markers/openmp": "common client/markers/base",
    "client/heap": "common client/launcher",
    # Score-P loads it.
    "client/scorep": "common client/reader client/launcher",
    "client/ratio": "common client/report client/records",
    "client/command": "common client/command/frame",
    "client/command/frame": "common client/report client/reader client/records",
    "client/command/page": "common client/command/frame client/report",
    "client/command/stat": "common client/command/frame client/command/page client/report client/reader client/launcher",
    "client/command/top": "common client/command/frame client/report client/reader client/records client/jobstore",
    "client/command/info": "common client/command/frame client/reader client/report client/records",
    "client/command/export": "common client/command/frame client/report client/reader client/records",
    "client/command/compare": "common client/command/frame client/report client/records client/ratio",
    "client/command/tiers": "common client/command/frame client/report client/reader",
    "client/command/trace": "common client/command/frame client/trace client/records",
    "client/command/markers": "common client/command/frame client/report",
    "client/command/report": "common client/command/frame client/command/markers client/command/page "
                             "client/report client/reader client/records client/launcher client/jobstore client/ratio",
    "client/command/job": "common client/command/frame client/command/page client/command/report client/report client/records client/launcher "
                          "client/jobstore client/reader client/command/job/record",
    "client/command/job/record": "common client/command/frame client/report client/records client/launcher "
                                 "client/jobstore client/reader",
    "client/command/validate/kernels": "common",
    "client/command/validate/measure": "common client/command/validate/kernels client/report client/reader",
    "client/command/validate/judge": "common client/command/validate/measure",
    "client/command/validate": "common client/command/frame client/command/page client/records client/report client/reader client/command/validate/kernels "
                               "client/command/validate/measure client/command/validate/judge",
    "pmda": "common client/reader client/jobstore",
    # Tables of options alone: it runs on the build machine.
    "generate": "common client/command client/command/frame daemon",
}
PROGRAMS = ("client/command", "daemon")  # main.c stands above all folders below its own
# They define functions of other libraries' names: malloc() and others, and those of hwloc.
IN_FRONT = ("client/heap/", "client/command/validate/measure/hwloc-library")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def includes_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def sources():
    for folder in FOLDERS:
        yield from sorted(pathlib.Path(folder).rglob("*.[ch]"))


def may_include(folder, included):
    below = str(pathlib.PurePath(included).parent)
    return (below == folder or below in ALLOWED[folder].split() or
            included == HEADER and folder.startswith(("client/", "pmda")))


def wrong_arrows():
    for path in sources():
        folder = str(path.parent)
        if folder not in ALLOWED:
            yield f"{path}: tests/format/arrows.py does not say what {folder}/ may include."
            continue
        for number, included in includes_of(path):
            if not pathlib.Path(included).is_file():
                yield f"{path}:{number}: there is no {included}."
            elif not may_include(folder, included):
                yield f"{path}:{number}: includes {included}, but {folder}/ may include only {ALLOWED[folder]}."


def full_folders():
    counts = collections.Counter(str(path.parent) for path in sources() if path.suffix == ".c")
    for folder, n in counts.items():
        if n > FILES_MAX:
            yield f"{folder}/ has {n} .c files; a folder has at most {FILES_MAX}."


def noun_of(path):
    """A source is one with its header: what either uses, the noun uses."""
    return str(path).rsplit(".", 1)[0]


def by_includes():
    uses = collections.defaultdict(set)
    for path in sources():
        uses[noun_of(path)] |= {noun_of(name) for _, name in includes_of(path)}
    return uses


def objects(build):
    """The object of each source of the product. One that was not built is an error of nm(1)."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = (build / entry["file"]).resolve().relative_to(pathlib.Path.cwd().resolve())
        if str(source).startswith(FOLDERS) and not entry["output"].startswith("tests/"):
            found[source] = build / entry["output"]
    return found


def by_symbols(build):
    of = {str(file): noun_of(source) for source, file in objects(build).items() if source.suffix == ".c"}
    said = subprocess.run(["nm", "-A", *of], stdout=subprocess.PIPE, text=True, check=True).stdout
    seen = {noun: (set(), set()) for noun in of.values()}  # what it defines for others, and what it uses of others
    for line in said.splitlines():
        file, kind, name = line.split()[0].split(":")[0], *line.split()[-2:]
        if kind in "TDBRVWU":
            seen[of[file]][kind == "U"].add(name)
    definers = collections.defaultdict(set)
    for noun, (defined, _) in seen.items():
        for name in defined:
            definers[name].add(noun)
    # A name that two programs define for themselves says nothing. What stands in front of other libraries is nobody's.
    return {noun: {next(iter(definers[name])) for name in used if len(definers[name]) == 1
                   and (name.startswith("heap_") or not next(iter(definers[name])).startswith(IN_FRONT))}
            for noun, (_, used) in seen.items()}


def wrong_calls(uses):
    for noun, names in sorted(uses.items()):
        folder = str(pathlib.PurePath(noun).parent)
        for name in sorted(names):
            if folder in ALLOWED and not may_use(folder, name):
                yield f"{noun}.c calls {name}.c, but {folder}/ may use only {ALLOWED[folder]}."


def may_use(folder, noun):
    """The library's public functions are everybody's in client/ and pmda/; what a program's main() calls is its own."""
    return may_include(folder, f"{noun}.h") or folder in PROGRAMS and noun.startswith(folder) or (
        noun.startswith(("client/libuncore/", "client/region/", "client/collect/")) and folder.startswith(("client/", "pmda")))


def circles(uses, kind):
    """Nouns that use each other, by way of others or not."""
    done = set()

    def visit(noun, way):
        if noun in way:
            yield " -> ".join([*way[way.index(noun):], noun]) + f": a circle of {kind}."
        elif noun not in done:
            for name in sorted(uses.get(noun, set()) - {noun}):
                yield from visit(name, [*way, noun])
            done.add(noun)

    for noun in sorted(uses):
        yield from visit(noun, [])


def main():
    calls = by_symbols(pathlib.Path(sys.argv[1]))
    found = [*wrong_arrows(), *full_folders(), *wrong_calls(calls), *circles(by_includes(), "includes"),
             *circles(calls, "calls")]
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
