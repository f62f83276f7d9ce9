# SPDX-License-Identifier: BSD-3-Clause
"""The findings of one analyser in the project's own C, one case for each file.

Usage: analyse.py gcc|clang|cppcheck FALSE-FINDINGS SOURCE-ROOT BUILD-ROOT

A finding that FALSE-FINDINGS lists is passed over. The last case checks that each listed finding is found.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

FOLDERS = ("common", "daemon", "client", "pmda", "generate")

# The options of a file's compilation that an analyser needs.
OPTIONS = re.compile(r"-[IDU].")
COMMANDS = {
    # Not optimised: inlined functions make gcc 12 take variables that a cleanup reads for uninitialised.
    "gcc": ["gcc", "-std=gnu11", "-O0", "-fanalyzer", "-fdiagnostics-plain-output", "-c",
            "-o", os.devnull],
    # Neither clang 14 nor cppcheck knows __attribute__((cleanup)) (llvm-project#160527), so they look for no leaks: gcc and
    # the sanitizers do. With the default of 225,000 nodes clang takes four times as long, and finds the same.
    "clang": ["clang", "-std=gnu11", "--analyze", "-Xclang", "-analyzer-output=text", "-o", os.devnull,
              "-Xclang", "-analyzer-disable-checker=unix.Malloc",
              "-Xclang", "-analyzer-config", "-Xclang", "max-nodes=50000"],
    # readdir(3) of glibc asks only that one thread at a time reads a stream; readdir_r() is deprecated.
    "cppcheck": ["cppcheck", "--quiet", "--std=c11", "--library=posix,gnu",
                 "--suppress=memleak", "--suppress=resourceLeak", "--suppress=readdirCalled",
                 "--enable=warning,performance,portability",
                 "--template={file}:{line}:{column}: warning: {message} [{id}]"],
}
FINDING = re.compile(r"^(\S+?):\d+:[\d:]* (?:warning|error): (.*?)(?: \[CWE-\d+\])?(?: \[([^][]+)\])?$",
                     re.MULTILINE)

Finding = collections.namedtuple("Finding", "file check message")


def listed_findings(path, tool):
    """Lines of "tool file check message"; the comment above them says why they are false."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(maxsplit=3) for line in lines if line and not line.startswith("#")]
    return {Finding(*row[1:]) for row in rows if row[0] == tool}


def own_files(source, build):
    """{path: its entry}, from the compilation database that meson writes for such tools."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {}
    for entry in database:
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), source)
        if path.split(os.sep)[0] in FOLDERS and path.endswith(".c"):
            files[path] = entry
    return files


def analyse(tool, entry):
    """(status, output)"""
    options = [word for word in shlex.split(entry["command"]) if OPTIONS.match(word)]
    run = subprocess.run([*COMMANDS[tool], *options, entry["file"]], cwd=entry["directory"],
                         env={**os.environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.returncode, run.stdout


def findings_in(text, entry, source):
    for file, message, check in FINDING.findall(text):
        path = os.path.relpath(os.path.join(entry["directory"], file), source)
        yield Finding(path, check, message)


def report(number, case, complaint):
    print(f"{'not ok' if complaint else 'ok'} {number} - {case}")
    for line in complaint.splitlines():
        print("#", line)
    return bool(complaint)


def main(tool, listed, source, build):
    if not shutil.which(tool):
        print(f"1..0 # SKIP {tool} is not installed: ./dev setup --tests")
        return False
    listed = listed_findings(pathlib.Path(listed), tool)
    files = own_files(source, pathlib.Path(build))
    found, failed = set(), False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: analyse(tool, files[path]), sorted(files))
    for number, (path, (status, text)) in enumerate(zip(sorted(files), results), 1):
        findings = set(findings_in(text, files[path], source))
        found |= findings
        failed |= report(number, path, text if status or findings - listed else "")
    failed |= report(len(files) + 1, "every finding that is listed as false is found",
                     "".join(f"Not found, strike it off: {' '.join(row)}\n" for row in listed - found))
    print(f"1..{len(files) + 1}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
