# SPDX-License-Identifier: BSD-3-Clause
"""Which folder may include which: the arrows of HACKING.md. Run in the root of the tree."""
import pathlib
import re
import sys

# The wings of daemon/, from the top: what each may include beside common/ and itself.
WINGS = {
    "serve": "teams read count plan machine site base",
    "teams": "site base",
    "read": "count plan machine site base",
    "count": "plan base",
    "plan": "machine base",
    "machine": "base",
    "site": "base",
    "base": "",
}
ALLOWED = {
    "common": ["common/"],
    "daemon": ["common/", "daemon/"],
    **{f"daemon/{wing}": ["common/", *(f"daemon/{other}/" for other in (wing, *below.split()))]
       for wing, below in WINGS.items()},
    "client": ["common/", "client/"],
    "pmda": ["pmda/", "client/uncore.h", "client/jobs/open-runs.h"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def includes_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def wrong_arrows():
    for folder, allowed in ALLOWED.items():
        for path in sorted(pathlib.Path(folder).rglob("*.[ch]")):
            for number, included in includes_of(path):
                if not any(included.startswith(prefix) for prefix in allowed):
                    yield (f"{path}:{number}: includes {included}, but {folder}/ may include only "
                           f"{' and '.join(allowed)}.")
                elif not pathlib.Path(included).is_file():
                    yield f"{path}:{number}: there is no {included}."


def circles():
    """Files that include each other, by way of others or not."""
    graph = {str(path): [name for _, name in includes_of(path)]
             for folder in ("common", "daemon", "client", "pmda")
             for path in sorted(pathlib.Path(folder).rglob("*.[ch]"))}
    # A source is one with its header: what either includes, the noun includes.
    nouns = {}
    for path, names in graph.items():
        noun = path.rsplit(".", 1)[0]
        nouns.setdefault(noun, set()).update(
            name.rsplit(".", 1)[0] for name in names if name.rsplit(".", 1)[0] != noun)
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
    found = [*wrong_arrows(), *circles()]
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
