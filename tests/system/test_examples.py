# SPDX-License-Identifier: BSD-3-Clause
"""The programs in doc/quick.md and the man pages are compiled as their readers would, and run: they count
what they say they count. Prints TAP; needs root.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
import tap

SECONDS = 180
NOBODY = 65534
PAGE_BYTES = 4096
GUIDE_BYTES = 256 << 20
FEWEST_FAULTS = GUIDE_BYTES // (2 << 20)  # in huge pages
# The function that libuncore(3) calls work().
WORK = """
#include <stdlib.h>
#include <string.h>
char *touched;
void work(void) { touched = malloc(64 << 20); memset(touched, 1, 64 << 20); }
"""


def programs():
    """(name, text) of every literal block that is a whole program."""
    for path in [SOURCE / "doc/quick.md", *sorted((SOURCE / "man").glob("*.scd"))]:
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(r"^```[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for block in blocks:
            if "int main(" in block and "uncore.hpp" not in block:  # that is of suite cplusplus
                yield path.name, block.replace("\\\\", "\\") if path.suffix == ".scd" else block


def compile_program(folder, text):
    (folder / "example.c").write_text(text, encoding="utf-8")
    (folder / "work.c").write_text(WORK, encoding="utf-8")
    command = [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-Wall", "-Wextra", "-Werror",
               f"-I{SOURCE}/client/libuncore", "-o", folder / "example", folder / "example.c",
               folder / "work.c", f"-L{BUILD}/client", "-luncore",
               f"-Wl,-rpath,{BUILD}/client"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    tap.equal((done.returncode, done.stderr), (0, ""), "the compiler")


class Daemon:
    """uncored on the stand-in machine."""

    def __init__(self, folder):
        self.socket = str(folder / "socket")
        self.process = subprocess.Popen(
            [BUILD / "daemon/uncored", "--platforms", SOURCE / "conf/platforms", "--root",
             BUILD / "tests/machines/standin", "--config", os.devnull, "--socket", self.socket],
            stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + SECONDS
        while not os.path.exists(self.socket):
            tap.check(time.monotonic() < deadline and self.process.poll() is None,
                      "uncored does not start")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(SECONDS)


def on_first_socket():
    """libuncore(3) reads socket 0, which has the even CPUs of the stand-in machine."""
    os.sched_setaffinity(0, {0})


def run_example(folder, daemon):
    done = subprocess.run([folder / "example"], capture_output=True, text=True, timeout=SECONDS,
                          check=False, preexec_fn=on_first_socket, user=NOBODY, group=NOBODY, extra_groups=[], cwd=folder,
                          env={"UNCORE_SOCKET": daemon.socket, "UNCORE_REPORT": "report.json"})
    tap.equal(done.returncode, 0, f"{done.stdout}{done.stderr}status")
    return done.stdout


def counted_bytes(folder, output):
    """The bytes that the program counted, by its output or by the report of its regions."""
    report = folder / "report.json"
    if not report.exists():
        return int(re.fullmatch(r"(\d+) bytes\n", output)[1])
    regions = json.loads(report.read_text(encoding="utf-8"))["regions"]
    tap.equal(len(regions), 1, "number of regions")
    return sum(socket["metrics"]["dram.read"]["bytes"] for socket in regions[0]["sockets"])


def example(text):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        compile_program(folder, text)
        with Daemon(folder) as daemon:
            counted = counted_bytes(folder, run_example(folder, daemon))
        tap.check(counted >= FEWEST_FAULTS // 8 * PAGE_BYTES, f"only {counted} bytes were counted")


def main():
    found = list(programs())
    cases = [(f"the program of {name} compiles without a warning, and counts",
              lambda text=text: example(text)) for name, text in found]
    cases.append(("doc/quick.md and libuncore(3) have a program each",
                  lambda: tap.equal([name for name, _ in found], ["quick.md", "libuncore.3.scd"],
                                    "pages with programs")))
    tap.run_functions(cases)


if os.geteuid() == 0:
    main()
print("1..0 # SKIP it opens counters, which needs root")
