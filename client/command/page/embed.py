# SPDX-License-Identifier: BSD-3-Clause
"""embed.py OUTPUT KIND=FILE,FILE..: the fixed parts of the pages of HTML, as C; see page.h.

Each kind has the style sheets and scripts of its FILEs, in their order, and a policy that admits these alone, by hash.
"""
import base64
import hashlib
import pathlib
import sys

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src {styles}; script-src {scripts}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Memory traffic</title>
<style>{style}</style>
</head>
<body>
<main id="page">
<noscript><h1>Memory traffic</h1><p>JavaScript is off here, so the pictures stand still. All figures are in the text below.</p>
"""


def hashes_of(texts):
    return " ".join("'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
                    for text in texts)


def read(path):
    """A licence is a comment of the script that follows it, because each page is a copy."""
    text = path.read_text(encoding="utf-8")
    return f"/*\n{text}\n*/\n" if path.name == "LICENSE" else text


def head_and_tail(paths):
    texts = {path: read(path) for path in paths}
    style = "\n" + "".join(text for path, text in texts.items() if path.suffix == ".css")
    scripts = ["\n" + "".join(text for path, text in texts.items() if path.suffix != ".css")]
    head = HEAD.format(styles=hashes_of([style]), scripts=hashes_of(scripts), style=style)
    tail = "".join(f"<script>{script}</script>\n" for script in scripts)
    return head, tail + "</body>\n</html>\n"


def literal(text):
    """Plain C: one string, a line of source for each line of text."""
    def escape(byte):
        if byte in b'\\"?':
            return f"\\{byte:c}"
        return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"

    return "\n".join('\t\t"' + "".join(map(escape, line)) + '"' for line in text.encode().splitlines(keepends=True))


def main():
    out, *kinds = sys.argv[1:]
    parts = ['#include "client/command/page/page.h"\n']
    for kind in kinds:
        name, files = kind.split("=")
        head, tail = map(literal, head_and_tail([pathlib.Path(file) for file in files.split(",")]))
        parts.append(f"const struct page_kind page_{name} = {{\n\t.head =\n{head},\n\t.tail =\n{tail},\n}};\n")
    pathlib.Path(out).write_text("\n".join(parts), encoding="ascii")


if __name__ == "__main__":
    main()
