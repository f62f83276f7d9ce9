# SPDX-License-Identifier: BSD-3-Clause
"""How long files and functions of the product may be, and how many parameters a function may have.

Run in the root of the tree. clang-format has been there before: a function's name begins a line or
follows its type, and its body ends with a brace in the first column.
"""
import pathlib
import re
import sys

FOLDERS = ("common", "daemon", "client", "generate", "pmda")
FILE_LINES, FUNCTION_LINES, PARAMETERS = 400, 50, 5
MAY_BE_LONGER = {"client/libuncore/uncore.h"}  # the public header, most of which is documentation
CALLED_BY_OTHERS = {"http_respond"}  # a library says what it passes
PUBLIC = "_public_ "  # these are as the first release, or another interface, made them

FUNCTION = re.compile(r"^(?!static const|typedef)\w[\w\s*]*?\b(\w+)\(((?:[^(){};]|\([^()]*\))*)\)\n\{\n(.*?)^\}",
                      re.MULTILINE | re.DOTALL)


def complaints_of(path):
    text = path.read_text(encoding="utf-8")
    n_lines = text.count("\n")
    if n_lines > FILE_LINES and str(path) not in MAY_BE_LONGER:
        yield f"{path}: {n_lines} lines; a file has at most {FILE_LINES}, and one idea."
    for match in FUNCTION.finditer(text):
        name, parameters, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if body.count("\n") > FUNCTION_LINES:
            yield (f"{path}:{line}: {name}() has {body.count(chr(10))} lines; a function has at most "
                   f"{FUNCTION_LINES}.")
        n_parameters = re.sub(r"\([^()]*\)", "", parameters).count(",") + 1
        if n_parameters > PARAMETERS and name not in CALLED_BY_OTHERS and not match.group(0).startswith(PUBLIC):
            yield (f"{path}:{line}: {name}() has {n_parameters} parameters; over {PARAMETERS} they are a "
                   "struct, with names at the call.")


def main():
    found = [complaint for folder in FOLDERS
             for path in sorted(pathlib.Path(folder).rglob("*.[ch]"))
             for complaint in complaints_of(path)]
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
