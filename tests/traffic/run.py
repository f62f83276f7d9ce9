# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of x86-64 on the simulated machine, and shows what `uncore stat` counts meanwhile.

Usage: run.py BUILD [KEY=VALUE...] -- PROGRAM [ARGS...]

uncored runs on the simulated machine (tests/machines/simulated.machine); the program runs under qemu-user with the
plugin that counts. Neither needs privilege. The program finds uncored by UNCORE_SOCKET, so its regions have figures,
too. The exit status is the program's. KEYs are options of the plugin (README.md).
"""
import contextlib
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
QEMU = "qemu-x86_64"
START_S = 10
COUNTERS_BYTES = 1 << 16
KEYS = ("l1", "ll", "speci2m", "adjacent", "sectors")  # the machine's PMUs decide about the others
USAGE_STATUS, FAILURE_STATUS = 2, 125
ELF_X86_64 = (b"\x7fELF\x02\x01", b"\x3e\x00")  # 64 bits, little-endian; machine 62


class Failure(Exception):
    """A sentence that says why nothing is simulated."""

    def __init__(self, sentence, status=FAILURE_STATUS):
        super().__init__(sentence)
        self.status = status


# --- what the user said ---


def split_arguments(arguments):
    """(build folder, options, command)"""
    if "--" not in arguments[1:] or arguments[-1] == "--":
        raise Failure("Usage: ./dev traffic [KEY=VALUE...] -- PROGRAM [ARGS...]", USAGE_STATUS)
    at = arguments.index("--")
    for option in arguments[1:at]:
        if option.split("=")[0] not in KEYS or "," in option:
            raise Failure(f"There is no option '{option}'; there are {'=, '.join(KEYS)}=, each with a value: see "
                          "tests/traffic/README.md.", USAGE_STATUS)
    return pathlib.Path(arguments[0]).resolve(), arguments[1:at], arguments[at + 1:]


def find_program(name):
    path = shutil.which(name)
    if not path:
        raise Failure(f"There is no program {name}.", 127)
    with open(path, "rb") as file:
        head = file.read(20)
    if not head.startswith(ELF_X86_64[0]) or head[18:20] != ELF_X86_64[1]:
        raise Failure(f"{path} is not a program of x86-64. Of a script, name the interpreter first; what a program "
                      "starts is not simulated.", 126)
    return path


# --- the machine ---


def wait_for(condition, process):
    deadline = time.monotonic() + START_S
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@contextlib.contextmanager
def uncored(build, folder, platforms=SOURCE / "conf/platforms", tree="tests/machines/simulated"):
    """Serves the counts on a socket in the folder. The tree is below the build folder, or an absolute path."""
    log, socket = folder / "uncored.log", folder / "socket"
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [build / "daemon/uncored", "--platforms", platforms, "--root", build / tree, "--config", os.devnull,
             "--socket", socket],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
            env={**os.environ, "LD_PRELOAD": str(build / "tests/traffic/simulated-pmu.so"),
                 "TRAFFIC_COUNTERS": str(folder / "counters")})
    try:
        if not wait_for(lambda: b"Serving" in log.read_bytes() and socket.exists(), process):
            raise Failure(f"uncored did not start. It said: {log.read_text(errors='replace')}")
        yield socket
    finally:
        process.terminate()
        process.wait()


def write_launcher(build, folder, options):
    """`simulated PROGRAM` runs it; so the title of `uncore stat` reads well."""
    sockets = min(2, os.cpu_count())  # as of the machine
    plugin = ",".join([str(build / "tests/traffic/plugin/memory-controller.so"),
                       f"counters={folder / 'counters'}", f"sockets={sockets}", *options])
    launcher = folder / "bin/simulated"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec {QEMU} -cpu max -plugin {shlex.quote(plugin)} "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    trial = subprocess.run([launcher, shutil.which("true")], stderr=subprocess.PIPE, text=True, check=False)
    if trial.returncode:
        raise Failure(trial.stderr.strip(), USAGE_STATUS)
    return launcher.parent


def run_to_its_end(command, environment):
    """Signals end the program, not this one, which has uncored to end and a folder to remove."""
    process = subprocess.Popen(command, env=environment)
    signal.signal(signal.SIGINT, lambda *_: None)  # a terminal sends it to the program, too
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    status = process.wait()
    return status if status >= 0 else 128 - status


def simulate(build, options, command):
    """The exit status of the program."""
    command = [find_program(command[0]), *command[1:]]
    with tempfile.TemporaryDirectory(prefix="uncored-traffic-") as name:
        folder = pathlib.Path(name)
        with open(folder / "counters", "wb") as file:
            file.truncate(COUNTERS_BYTES)
        programs = write_launcher(build, folder, options)
        with uncored(build, folder) as socket:
            return run_to_its_end(
                [build / "client/uncore", "stat", "--", "simulated", *command],
                {**os.environ, "UNCORE_SOCKET": str(socket), "PATH": f"{programs}:{os.environ['PATH']}"})


def end(*_):
    sys.exit(128 + signal.SIGTERM)


def main():
    signal.signal(signal.SIGTERM, end)
    try:
        if not shutil.which(QEMU):
            raise Failure(f"{QEMU} is not installed: it is in Debian's package qemu-user.")
        sys.exit(simulate(*split_arguments(sys.argv[1:])))
    except Failure as failure:
        print(failure, file=sys.stderr)
        sys.exit(failure.status)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
