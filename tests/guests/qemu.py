# SPDX-License-Identifier: BSD-3-Clause
"""Starts and ends virtual machines, so that none is left behind."""
import ctypes
import re
import signal
import subprocess
import sys

CONSOLE_LINES = 40
END_S = 5
PR_SET_PDEATHSIG = 1


class Failure(Exception):
    """A sentence that says why there is no verdict."""


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command):
    """Starts a machine with its console on this terminal."""
    return start_with(command)


def start_piped(command, complaints):
    """Starts a machine with its input and output as pipes; QEMU's own messages go to a file."""
    with open(complaints, "wb") as file:
        return start_with(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file)


def start_with(command, **pipes):
    try:
        return subprocess.Popen(command, preexec_fn=die_with_parent, **pipes)
    except FileNotFoundError as error:
        raise Failure(f"There is no {command[0]}: ./dev guest installs it.") from error


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def console_end(path):
    """The last lines of a machine's console, without cursor movements."""
    if not path.exists():
        return []
    lines = path.read_text(errors="replace").splitlines()
    return [re.sub(r"[^\x20-\x7e]", "", line) for line in lines[-CONSOLE_LINES:]]


def end_by_signal(*_):
    sys.exit(1)
