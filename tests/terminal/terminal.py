# SPDX-License-Identifier: BSD-3-Clause
"""A terminal with `uncore top` on it, and the simulated machine, whose counters the test moves."""
import fcntl
import json
import mmap
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time

import counts
import run  # of tests/traffic
import tap
from listening import listens

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
UNCORE = BUILD / "client/uncore"
SECONDS = 60  # where other programs want the CPUs, too
LINE = 64
READ, WRITE = 0, 1  # enum traffic_kind of tests/traffic/counters.h
KINDS, CHANNELS, HEAD_BYTES = 4, 16, 64
ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"


def wait_until(condition, what):
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        tap.check(time.monotonic() < deadline, f"it did not happen that {what() if callable(what) else what}")
        time.sleep(0.01)
    return found


class Machine:
    """The simulated machine, and uncored on it, which may be killed and started again."""

    def __init__(self, config=""):
        self.place = tempfile.TemporaryDirectory(prefix="uncored-terminal-")
        self.folder = pathlib.Path(self.place.name)
        self.socket = self.folder / "socket"
        (self.folder / "conf").write_text(config, encoding="ascii")
        path = self.folder / "counters"
        path.write_bytes(bytes(run.COUNTERS_BYTES))
        with open(path, "r+b") as file:
            self.counters = mmap.mmap(file.fileno(), run.COUNTERS_BYTES)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("UNCORE_", "LC_", "NO_COLOR"))},
            "UNCORE_SOCKET": str(self.socket), "LD_LIBRARY_PATH": f"{BUILD}/client", "TERM": "xterm", "LANG": "C.UTF-8"}

    def start(self):
        self.uncored = subprocess.Popen(
            [BUILD / "daemon/uncored", "--platforms", SOURCE / "conf/platforms", "--root",
             BUILD / "tests/machines/simulated", "--config", self.folder / "conf", "--socket", self.socket],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "LD_PRELOAD": str(BUILD / "tests/traffic/simulated-pmu.so"),
                 "TRAFFIC_COUNTERS": str(self.folder / "counters")})
        wait_until(lambda: listens(self.socket), "uncored serves")

    def kill(self):
        self.uncored.kill()
        self.uncored.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.uncored.terminate()
        self.uncored.wait(SECONDS)
        self.counters.close()
        self.place.cleanup()

    def set(self, socket, kind, n_bytes):
        """What channel 0 of the socket has counted."""
        counts.put(self.counters, HEAD_BYTES + 8 * (socket * KINDS + kind) * CHANNELS, n_bytes // LINE)

    def sweeps(self):
        """Of each socket, so far."""
        said = subprocess.run([UNCORE, "info", "--json"], env=self.environment, stdout=subprocess.PIPE, check=True)
        return [socket["sweeps"] for socket in json.loads(said.stdout)["sockets"]]


class Mover:
    """Moves counters by rates in bytes per second while the block runs: {(socket, kind): rate}. longest_s: it stood still
    for so long, where it got no CPU."""

    def __init__(self, machine, rates):
        self.machine, self.rates, self.ends, self.longest_s = machine, rates, threading.Event(), 0
        self.thread = threading.Thread(target=self.move)

    def move(self):
        moved, last = dict.fromkeys(self.rates, 0), time.monotonic()
        while not self.ends.wait(0.001):
            now = time.monotonic()
            for place, rate in self.rates.items():
                moved[place] += rate * (now - last)
                self.machine.set(*place, int(moved[place]))
            self.longest_s, last = max(self.longest_s, time.monotonic() - last), now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


class Terminal:
    """A terminal, and a program that it controls: `uncore top`, unless told otherwise."""

    def __init__(self, machine, *words, program=None, size=(80, 24), **variables):
        self.ours, self.theirs = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.theirs)
        self.said = b""
        self.process = subprocess.Popen(
            program or [UNCORE, "top", "-I", "200", *words], stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
            env={**machine.environment, **variables}, start_new_session=True,
            preexec_fn=self.log_in)
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    @staticmethod
    def log_in():
        """Who runs the tests may ignore signals, as nohup(1) does; on a terminal none are ignored at first."""
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)

    def listen(self):
        try:
            while block := os.read(self.ours, 1 << 16):
                self.said += block
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.theirs)
        self.thread.join()
        os.close(self.ours)

    def resize(self, width, height):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def frames(self):
        """All whole screens so far, each a list of lines."""
        texts = self.said.decode(errors="replace").split("\033[H")[1:]
        return [re.split("\r+\n", re.sub(r"\033\[[0-9;?]*[a-zA-Z]", "", text)) for text in texts if "\033[J" in text]

    def wait_for(self, pattern):
        """Waits for a screen, from now on, that has this in one of its lines. Returns the line's match."""
        begun = len(self.frames())

        def look():
            for frame in self.frames()[begun:]:
                for line in frame:
                    if match := re.search(pattern, line):
                        return match
            return None
        return wait_until(look, lambda: f"{pattern!r} is on the screen: {self.frames()[-1:]}, {self.said[-300:]}")

    def wait_for_figures(self):
        self.wait_for(r"^ +dram +\d+\.\d")

    def end(self, number=None):
        """Ends it by a signal, or by q. Returns the status."""
        if number:
            self.process.send_signal(number)
        else:
            self.press("q")
        return self.process.wait(SECONDS)

    def check_restored(self):
        wait_until(lambda: self.said.count(LEAVE) == self.said.count(ENTER), f"the old screen is back: {self.said[-99:]}")
        tap.check(self.said.rindex(b"\033[?25h") > self.said.rindex(b"\033[?25l"), "there is no cursor")
        tap.check(self.said.rindex(b"\033[?7h") > self.said.rindex(b"\033[?7l"), "lines do not wrap")
        tap.equal(termios.tcgetattr(self.theirs), self.before, "the terminal's modes")


def name_of(number):
    return signal.Signals(number).name
