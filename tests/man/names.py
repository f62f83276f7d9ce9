# SPDX-License-Identifier: BSD-3-Clause
"""Every name in a man page exists in the program, and every public name is in its page."""
import pathlib
import re
import sys


def text_of(*patterns):
    """The text of all files that match, or None if there is none."""
    files = [path for pattern in patterns for path in sorted(pathlib.Path().glob(pattern))]
    return "\n".join(path.read_text(encoding="utf-8") for path in files) if files else ""


def page(name):
    # scdoc needs a backslash before an underscore inside a word
    return text_of(f"man/{name}.scd").replace("\\", "")


def functions(text):
    return set(re.findall(r"\b(uncore_[a-z_]+)\s*\(", text))


def options(text):
    return set(re.findall(r"\*--([a-z][a-z-]+)", text))


def rows(source):
    """The options that a table has: { "socket", 0, OPTION_TEXT, ...}."""
    return set(re.findall(r'"([a-z-]+)",\s*(?:\'.\'|0),\s*OPTION_', source))


def commands(source):
    """The commands whose tables have options: the list of each is made of its table."""
    tables = re.findall(r'\.command = "([^"]+)"(.*?)^\};', source, re.MULTILINE | re.DOTALL)
    return {command for command, rest in tables if "OPTION_ROWS" in rest}


def subcommands(source):
    """The subcommands without a page of their own: man(1) finds uncore(1) by a link for each."""
    names = {"uncore-" + name for name in re.findall(r'\.command = "uncore ([a-z]+)"', source)}
    return {name for name in names if not page(name + ".1")}


def links(source):
    """The links to uncore(1) that the build makes."""
    return set(re.findall(r"'([^']+)'", re.search(r"'uncore\.1': \[(.*?)\]", source, re.DOTALL)[1]))


def keys(text, prefix=""):
    """Keys of an INI file, in lines that begin with the pattern."""
    return set(re.findall(rf"^{prefix}([a-z_]+) *=", text, re.MULTILINE))


def compare(what, documented, existing, where):
    for name in sorted(documented - existing):
        yield f"{what} documents {name}, which {where} does not have."
    for name in sorted(existing - documented):
        yield f"{where} has {name}, which {what} does not document."


def json_members(source):
    """Keys that C code gives to common/jsonwriter.h, itself or through helpers."""
    return set(re.findall(r'\w+\(\s*&?(?:json|object|met),\s*"([a-z_]+)"', source)) | set(
        re.findall(r'"([a-z_]+_s)"', source))


def complaints():
    yield from compare("libuncore(3)", functions(page("libuncore.3")),
                       functions(text_of("client/libuncore/uncore.h")), "client/libuncore/uncore.h")
    tables = text_of("client/command/**/*-table*.c", "client/command/frame/command.h", "daemon/uncored-table.c")
    pages = page("uncored.8").split("# ENVIRONMENT")[0] + page("uncore.1").split("# EXAMPLES")[0] + page("uncore-export.1")
    for name in sorted(options(pages) - rows(tables) - {"help"}):
        yield f"a page documents --{name}, which no table has."
    yield from compare("the pages together", set(re.findall(r"^@options (.*)$", pages, re.MULTILINE)), commands(tables), "the tables")
    for name in sorted(links(text_of("man/meson.build")) ^ subcommands(tables)):
        yield f"{name} is in one of man/meson.build's links to uncore(1) and the tables of commands, and not in the other."
    for name in sorted(keys(text_of("conf/uncored.conf"), "#? ?")):
        if name not in page("uncored.conf.5"):
            yield f"conf/uncored.conf has {name}, which uncored.conf(5) does not document."
    for name in sorted(keys(text_of("conf/platforms/*.conf"))):
        if not re.search(rf"\b{name}\b", page("uncore-platform.5")):
            yield f"conf/platforms/ uses {name}, which uncore-platform(5) does not document."
    written = text_of("client/report/json.c", "client/report/record.c", "client/records/join-json.c", "client/command/job/*.c")
    for name in sorted(json_members(written)):
        if not re.search(rf"\*{name}\*", page("uncore-report.5")):
            yield f"uncore writes a member {name}, which uncore-report(5) does not document."
    for name in sorted(prometheus_names(text_of("client/command/export/export-*.c"))):
        if f"*{name}*" not in page("uncore-export.1"):
            yield f"uncore export prints a metric {name}, which uncore-export(1) does not document."
    for name in sorted(pcp_leaves(text_of("pmda/pmns"))):
        if not re.search(rf"[.*]{name}\b", page("pmdauncore.1")):
            yield f"pmda/pmns has a metric {name}, which pmdauncore(1) does not document."


def prometheus_names(source):
    """The metrics that C code names itself; those of counters are made of the platform's."""
    return set(re.findall(r'"(uncore_[a-z_]+)"', source))


def pcp_leaves(text):
    """The last part of each metric's name in a PMNS file."""
    return set(re.findall(r"^\s+([a-z_]+)\s+UNCORE:", text, re.MULTILINE))


def main():
    found = list(complaints())
    print("\n".join(found), file=sys.stderr)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
