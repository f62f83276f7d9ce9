# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may include which: the arrows of HACKING.md. Run in the root of the tree."""
import collections
import pathlib
import re
import sys

FOLDERS = ("common", "daemon", "client", "pmda")
FILES_MAX = 22  # .c files of a folder
HEADER = "client/libuncore/uncore.h"  # a row of its own: every room of client/ and pmda/ may include it

# What the files of a folder may include beside those of their own folder. A folder that is not here may not exist.
ALLOWED = {
    "common": "",
    # The wings of daemon/, from the top.
    "daemon": "common daemon/serve daemon/read daemon/count daemon/plan daemon/machine daemon/site daemon/base",
    "daemon/serve": "common daemon/teams daemon/read daemon/count daemon/plan daemon/machine daemon/site daemon/base",
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
    "client/estimate": "common",
    "client/reader": "common",
    "client/jobstore": "common",
    "client/region": "common client/libuncore client/report client/launcher client/estimate client/reader",
    "client/records": "common client/report client/launcher",
    "client/command": "common client/command/frame",
    "client/command/frame": "common client/report client/records",
    "client/command/stat": "common client/command/frame client/report client/reader client/launcher",
    "client/command/info": "common client/command/frame client/report client/records",
    "client/command/export": "common client/command/frame client/report client/reader client/records",
    "client/command/report": "common client/command/frame client/report client/records client/launcher",
    "client/command/job": "common client/command/frame client/report client/reader client/records client/launcher "
                          "client/jobstore",
    "client/command/validate/kernels": "common",
    "client/command/validate/measure": "common client/command/validate/kernels client/report client/reader",
    "client/command/validate/judge": "common client/command/validate/measure",
    "client/command/validate": "common client/command/frame client/report client/command/validate/kernels "
                               "client/command/validate/measure client/command/validate/judge",
    "pmda": "client/reader client/jobstore",
}
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


def circles():
    """Files that include each other, by way of others or not."""
    # A source is one with its header: what either includes, the noun includes.
    nouns = {}
    for path in sources():
        noun = str(path).rsplit(".", 1)[0]
        names = {name.rsplit(".", 1)[0] for _, name in includes_of(path)}
        nouns.setdefault(noun, set()).update(names - {noun})
    done = set()

    def visit(noun, way):
        if noun in way:
            yield " -> ".join([*way[way.index(noun):], noun]) + ": a circle of includes."
        elif noun not in done:
            for name in sorted(nouns.get(noun, ())):
                yield from visit(name, [*way, noun])
            done.add(noun)

    for noun in sorted(nouns):
        yield from visit(noun, [])


def main():
    found = [*wrong_arrows(), *full_folders(), *circles()]
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
