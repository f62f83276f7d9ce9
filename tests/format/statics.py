# SPDX-License-Identifier: BSD-3-Clause
"""A static function's name is unique in the product: a backtrace, perf(1) and grep(1) show the name and no file.

Run in the root of the tree. contrib/ holds parts of other projects' programs. A header's functions are in every source that includes it, and count once. clang-format has
been there before: what a function returns begins a line, and its body does or follows.
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("client", "common", "daemon", "generate", "pmda")

# An attribute may stand before the name: `static void _printf_(3, 4) write_value(...)`.
FUNCTION = re.compile(r"^(static\s)?(?!typedef|return|else)\w[\w\s*]*?(?:\b_\w+_\([^()]*\)\s+)?\b(?!_)(\w+)\([^;{}]*?\)\s*\{",
                      re.MULTILINE)


def main():
    static, files_of = set(), collections.defaultdict(set)
    for folder in FOLDERS:
        for path in sorted(pathlib.Path(folder).rglob("*.[ch]")):
            for is_static, name in FUNCTION.findall(path.read_text(encoding="utf-8")):
                files_of[name].add(str(path))
                static |= {name} if is_static else set()
    found = [f"{name}() is a static function, and {' and '.join(sorted(files_of[name]))} define it: put the file's noun in "
             "front of it." for name in sorted(static) if len(files_of[name]) > 1]
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
