# SPDX-License-Identifier: BSD-3-Clause
"""Saved inputs of fuzz targets: one text file for each target, tests/fuzz/corpora/TARGET, which diff can compare.

Usage: corpus.py unpack STAMP CORPUS...        write the inputs of each into a folder corpus-TARGET beside STAMP
       corpus.py add CORPUS INPUT [NAME]       save the file INPUT, under its own name unless told
       corpus.py pack FOLDER CORPUS            replace the whole corpus by the files of a folder
       corpus.py list CORPUS                   print the names
       corpus.py check CORPUS...               as TAP, whether each is written as this program writes it

The format: a line "NAME:" begins an input. Lines that begin with a tab are its content. In them \\XX is the byte with
this number, in hexadecimal; a backslash at the end says that no line feed follows. Other bytes are printable ASCII or
tabs, and stand for themselves. Inputs are sorted by name.
"""
import pathlib
import re
import shutil
import sys

WIDTH = 110  # of a line; only one without line feeds is broken
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def escape(byte):
    plain = byte == 9 or 32 <= byte < 127 and byte != ord("\\")
    return chr(byte) if plain else f"\\{byte:02x}"


def content_lines(data):
    """Yields the text of @data. A line that ends the input, or is too long, has no line feed of its own."""
    line = ""
    for byte in data:
        if byte == 10:
            yield f"\t{line}\n"
            line = ""
            continue
        line += escape(byte)
        if len(line) >= WIDTH:
            yield f"\t{line}\\\n"
            line = ""
    if line:
        yield f"\t{line}\\\n"


def to_text(inputs):
    """inputs: {name: bytes}"""
    for name in inputs:
        if not NAME.fullmatch(name):
            sys.exit(f"An input cannot have the name '{name}': letters, digits and _.+- are allowed.")
    return "".join(f"{name}:\n{''.join(content_lines(inputs[name]))}" for name in sorted(inputs))


def content_of(line):
    """The bytes of one line of content, without its tab."""
    ends, line = (b"", line[:-1]) if line.endswith("\\") else (b"\n", line)
    text = re.sub(r"\\([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), line)
    return text.encode("latin-1") + ends


def from_text(text):
    """{name: bytes}"""
    inputs, name = {}, None
    for line in text.split("\n")[:-1]:
        if line.startswith("\t"):
            inputs[name] += content_of(line[1:])
        else:
            name = line.removesuffix(":")
            inputs[name] = b""
    return inputs


def read(corpus):
    return from_text(pathlib.Path(corpus).read_text(encoding="ascii"))


def write(corpus, inputs):
    pathlib.Path(corpus).write_text(to_text(inputs), encoding="ascii")


def unpack(stamp, *corpora):
    stamp = pathlib.Path(stamp)
    for corpus in corpora:
        folder = stamp.parent / f"corpus-{pathlib.Path(corpus).name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, data in read(corpus).items():
            (folder / name).write_bytes(data)
    stamp.touch()


def add(corpus, path, name=None):
    path = pathlib.Path(path)
    write(corpus, {**read(corpus), name or path.name: path.read_bytes()})


def pack(folder, corpus):
    write(corpus, {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()})


def show_names(corpus):
    print("\n".join(read(corpus)))


def check(*corpora):
    print(f"1..{len(corpora)}")
    for number, path in enumerate(map(pathlib.Path, corpora), 1):
        text = path.read_text(encoding="ascii")
        same = text == to_text(from_text(text))
        print(f"{'ok' if same else 'not ok'} {number} - {path.name} is written as corpus.py writes it")


COMMANDS = {"unpack": unpack, "add": add, "pack": pack, "list": show_names, "check": check}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
