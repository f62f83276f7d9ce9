# SPDX-License-Identifier: BSD-3-Clause
"""valgrind looks on while uncored and its clients run, from the start to the end: no wrong access, no
leak, no descriptor that stays open. Prints TAP; needs root.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
import tap
from tap import check, equal
SECONDS = 180  # under valgrind all is an order slower
FAULT = 99
MACHINES = BUILD / "tests/machines"
UNCORED = [BUILD / "daemon/uncored", "--platforms", SOURCE / "conf/platforms"]
UNCORE = BUILD / "client/uncore"

HELLO, INFO = 1, 2  # common/wire.h
CLIENTS = 4


class Watched:
    """A program under valgrind, which writes what it finds into a file of @folder."""

    def __init__(self, folder, *command, **how):
        self.log = folder / "valgrind"
        self.process = subprocess.Popen(
            ["valgrind", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible",
             "--track-fds=yes", f"--error-exitcode={FAULT}", f"--log-file={self.log}", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            **how)

    def finish(self, status):
        """Waits for the end with @status; returns what the program printed."""
        try:
            output = self.process.communicate(timeout=SECONDS)[0]
        finally:
            self.process.kill()
        log = self.log.read_text(encoding="utf-8")
        equal(self.process.returncode, status, f"{log}\n{output}\nstatus")
        left = re.findall(r"== Open (.*)\n(?!==\d+==    <inherited)", log)
        equal(left, [], f"{log}\ndescriptors left open")
        return output


class Daemon:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-valgrind-"))
        (self.folder / "conf").write_text(f"[server]\nmax_clients_per_user = {CLIENTS}\n",
                                          encoding="ascii")
        self.path = str(self.folder / "socket")
        self.environment = dict(os.environ, UNCORE_SOCKET=self.path)
        self.watched = Watched(self.folder, *UNCORED, "--root", MACHINES / "standin", "--config",
                               self.folder / "conf", "--socket", self.path)

    def __enter__(self):
        deadline = time.monotonic() + SECONDS
        while not self.listens():
            check(time.monotonic() < deadline and self.watched.process.poll() is None,
                  "uncored does not start")
            time.sleep(0.02)
        return self

    def listens(self):
        """The socket is there for a moment before anybody listens."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            return connection.connect_ex(self.path) == 0

    def __exit__(self, kind, *_):
        self.watched.process.terminate()
        try:
            self.watched.finish(0)
        finally:
            shutil.rmtree(self.folder)

    def command(self, *words):
        """Runs `uncore`."""
        return subprocess.run([UNCORE, *words], check=False, text=True, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)

    def connect(self, *messages):
        """A connection without the library, with the answers to these messages."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(SECONDS)
        connection.connect(self.path)
        answers = []
        for message in messages:
            connection.send(message)
            answer, descriptors, *_ = socket.recv_fds(connection, 512, 40)
            for descriptor in descriptors:
                os.close(descriptor)
            answers.append(answer)
        return connection, answers


def message(opcode, *words):
    return struct.pack(f"=HHI{len(words)}I", opcode, 0, 8 + 4 * len(words), *words)


def opcodes(answers):
    return [struct.unpack_from("=H", answer)[0] if answer else None for answer in answers]


# --- the cases ---


def serves():
    """uncored serves reads, reports and a client that is killed, and ends at SIGTERM"""
    with Daemon() as daemon:
        for words in (["info"], ["info", "--json"], ["info", "--platforms"],
                      ["stat", "true"], ["stat", "-I", "50", "sleep", "0.2"]):
            done = daemon.command(*words)
            equal(done.returncode, 0, f"{words}: {done.stdout}\nstatus")
        victim = subprocess.Popen([UNCORE, "stat", "-I", "10", "sleep", "60"], env=daemon.environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        time.sleep(0.3)
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait(SECONDS)
        equal(daemon.command("info").returncode, 0, "status afterwards")


def refuses():
    """uncored refuses malformed messages, version 0 and one client too many"""
    with Daemon() as daemon:
        daemon.connect()[0].close()
        for wrong in (b"x", b"x" * 600, message(HELLO, 0, 0), message(77, 0, 0),
                      message(INFO, 0, 0), message(HELLO, 1, 1)):
            connection, answers = daemon.connect(wrong)
            check(opcodes(answers) in ([None], [0xff]), f"{wrong[:16]}: {answers}")
            connection.close()
        held = [daemon.connect(message(HELLO, 1, 0)) for _ in range(CLIENTS)]
        equal([opcodes(answers) for _, answers in held], [[0x81]] * CLIENTS, "welcomes")
        equal(opcodes(daemon.connect(message(HELLO, 1, 0))[1]), [0xff], "one too many")
        # the clients are still connected when it ends


def starts_not():
    """a start of uncored that fails leaves nothing behind either"""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-valgrind-"))
    (folder / "conf").write_text("[server]\nmax_clients = many\n", encoding="ascii")
    try:
        for status, words in (
                (1, ["--root", MACHINES / "unknown"]),
                (1, ["--root", MACHINES / "standin", "--config", folder / "conf"]),
                (1, ["--root", MACHINES / "standin", "--socket", folder / "none/socket"]),
                (0, ["--root", MACHINES / "sapphire-rapids-broken", "--check", "--json"]),
                (0, ["--root", MACHINES / "power9", "--check"])):
            check(Watched(folder, *UNCORED, *words).finish(status), f"{words}: nothing was said")
    finally:
        shutil.rmtree(folder)


def is_asked():
    """the command and the library give back what they took"""
    with Daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        for words in (["info"], ["info", "--explain", "dram.read"], ["stat", "true"],
                      ["stat", "--json", "-I", "50", "sleep", "0.2"]):
            watched = Watched(pathlib.Path(folder), UNCORE, *words, env=daemon.environment)
            check(watched.finish(0), f"{words}: nothing was said")


CASES = [serves, refuses, starts_not, is_asked]

if not shutil.which("valgrind"):
    print("1..0 # SKIP valgrind is not installed: ./dev setup --tests")
elif os.geteuid() != 0:
    print("1..0 # SKIP it opens counters, which needs root")
else:
    tap.run_functions([(case.__doc__, case) for case in CASES])
