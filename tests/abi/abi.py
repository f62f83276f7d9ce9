# SPDX-License-Identifier: BSD-3-Clause
"""What programs that are linked against libuncore rely on: its functions, and the layout of the structs of uncore.h.

    abi.py save LIBRARY UNCORE.H FILE
    abi.py same LIBRARY UNCORE.H FILE    is it what FILE has, with nothing added?
    abi.py serves LIBRARY UNCORE.H FILE  does it serve programs of the release that FILE is of?

libabigail reads both from the library's debugging information. A struct that begins with its size may grow at its end,
since the library writes no more than a caller's .size says (client/libuncore/sized.h). A suppression file cannot say
so: libabigail 2.2 then also passes over a member that became smaller, and over a struct of an array that grew. So what was
added there is taken out of the description, and what remains must not differ.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

# Nothing of the machine, and no line numbers, which change all the time.
DESCRIBE = ("abidw", "--exported-interfaces-only", "--drop-private-types", "--no-architecture", "--no-comp-dir-path",
            "--no-corpus-path", "--no-elf-needed", "--no-parameter-names", "--no-show-locs", "--type-id-style", "hash")


class CannotTell(Exception):
    """The reason."""


def describe(library, header, file):
    if not shutil.which("abidw"):
        raise CannotTell("needs abidw of abigail-tools: ./dev setup --tests installs it")
    with tempfile.TemporaryDirectory() as public:
        shutil.copy(header, public)
        subprocess.run([*DESCRIBE, "--headers-dir", public, "--out-file", file, library], check=True)
    if "uncore_sample" not in structs(ET.parse(file)):
        raise CannotTell(f"{library} has no debugging information, in which the layout of structs is")


def structs(tree):
    """By name; those that programs cannot look into have no size."""
    return {struct.get("name"): struct for struct in tree.iter("class-decl") if struct.get("size-in-bits")}


def bits(element, name):
    return int(element.get(name))


def is_extensible(struct):
    first = struct.find("data-member")
    return first is not None and first.find("var-decl").get("name") == "size"


def take_out_growth(struct, saved):
    """What lies past the end that the struct had."""
    end = bits(saved, "size-in-bits")
    for member in struct.findall("data-member"):
        if bits(member, "layout-offset-in-bits") >= end:
            struct.remove(member)
    if bits(struct, "size-in-bits") > end:
        struct.set("size-in-bits", str(end))


def serving(tree, saved):
    """The description without what structs gained that may grow."""
    now = structs(tree)
    for name, old in structs(saved).items():
        if is_extensible(old) and name in now:
            take_out_growth(now[name], old)
    return tree


def differences(saved, file, *options):
    """As abidiff prints them; "" if there are none."""
    done = subprocess.run(["abidiff", *options, saved, file], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout if done.returncode else ""


def misses(library, header, saved):
    """What programs of the saved release would miss."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "now.abi"
        describe(library, header, file)
        serving(ET.parse(file), ET.parse(saved)).write(file)
        return differences(saved, file, "--no-added-syms")


def changes(library, header, saved):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "now.abi"
        describe(library, header, file)
        return differences(saved, file)


def main(verb, library, header, file):
    if verb == "save":
        describe(library, header, file)
        return ""
    return {"same": changes, "serves": misses}[verb](library, header, file)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]) or 0)
    except CannotTell as why:
        sys.exit(f"{why}.")
