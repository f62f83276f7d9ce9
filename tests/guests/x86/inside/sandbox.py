# SPDX-License-Identifier: BSD-3-Clause
"""The service as shipped: its sandbox, its journal, and its end."""
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess

from counts import count_everything
from harness import (Case, COMMAND_S, HERE, STRANGER, VISITOR, identity, journal, journal_mark, load_machine,
                     metrics_of, reader_tasks, run, show, start_uncored, stat, stop_uncored, sysctl_paranoid,
                     uncored_pid, wait_until)

MACHINE = "icelake-sp"
MOST_EXPOSURE = 1.0
LINGER_S = 3600
LINGERING = 16
PORT = ("127.0.0.1", 10470)
FLOOD = 2000  # systemd's limit for such a socket would be 200 in two seconds
KILLS = 8  # and 5 starts in ten seconds for a service


def open_lingering():
    """A connection whose close takes an hour, and its other end; closing that ends the wait."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        lingering = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
    lingering.setblocking(False)
    try:
        while True:
            lingering.send(bytes(65536))
    except BlockingIOError:
        pass
    lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, LINGER_S))
    return lingering, peer


SENDER = """
import socket
client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
client.connect("/run/uncored/socket")
socket.send_fds(client, [b"x"], [0])
try:
    client.recv(512)
except ConnectionResetError:
    pass
"""


def leave_lingering(number):
    """Leaves a descriptor to uncored, which must be stopped; see lingering_client.py. A process that ends does not wait
    for its closes. Returns the other end."""
    lingering, peer = open_lingering()
    with subprocess.Popen(["python3", "-B", HERE / "lingering_client.py", str(lingering.fileno()), str(number)],
                          cwd="/", pass_fds=[lingering.fileno()], **identity(VISITOR)) as client:
        lingering.close()
        if client.wait(COMMAND_S) != 0:
            raise AssertionError("The client could not send.")
    return peer


class Shipped(Case):
    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(MACHINE)
        cls.mark = journal_mark()
        start_uncored()

    @classmethod
    def tearDownClass(cls):
        stop_uncored()


class Sandbox(Shipped):
    def test_exposure(self):
        """`systemd-analyze security` gives the running service at most 1.0"""
        said = run("systemd-analyze", "security", "--no-pager", "uncored.service").stdout
        exposure = re.search(r"Overall exposure level for uncored.service: ([\d.]+)", said)
        self.assertLessEqual(float(exposure[1]), MOST_EXPOSURE, said)

    def test_seccomp(self):
        """a system call filter is in force"""
        self.assertIn("Seccomp:\t2", pathlib.Path(f"/proc/{uncored_pid()}/status").read_text())

    def test_network(self):
        """the service has no network but a loopback of its own that is down"""
        said = pathlib.Path(f"/proc/{uncored_pid()}/net/dev").read_text()
        self.assertEqual(re.findall(r"^ *(\S+):", said, re.M), ["lo"])

    def test_real_time(self):
        """the reader of each socket has the lowest real-time priority, and runs on its socket"""
        readers = reader_tasks()
        self.assertEqual([os.sched_getscheduler(task) for task in readers], [os.SCHED_FIFO] * len(readers))
        self.assertEqual([os.sched_getparam(task).sched_priority for task in readers], [1, 1])
        self.assertEqual([os.sched_getaffinity(task) for task in readers], [{0}, {2}])

    def test_counts(self):
        """inside the sandbox every count of every box is exact"""
        commands, expected = count_everything(MACHINE)
        found = metrics_of(stat(commands))
        self.assertEqual({key: found[key].get("bytes") for key in expected}, expected)

    def test_journal(self):
        """the journal holds nothing at warning or above"""
        self.assertEqual(journal("-p", "warning", self.mark), "")

    def test_end(self):
        """`systemctl stop` ends it cleanly, and a client is told how to start it"""
        pid = uncored_pid()
        run("systemctl", "stop", "uncored.service", "uncored.socket")
        self.assertEqual((show("Result"), show("ExecMainStatus")), ("success", "0"))
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())
        said = run("uncore", "info", user=VISITOR, check=False).stderr
        self.assertIn("tart it with `systemctl start uncored.socket`", said)
        self.assertEqual(journal("-p", "warning", self.mark), "")


def exporter_pid():
    return run("pgrep", "-u", "uncore-export", "-x", "uncore", check=False).stdout.strip()


def scrape():
    with socket.create_connection(PORT, timeout=COMMAND_S) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        return connection.makefile("rb").read().decode()


class Export(Shipped):
    """The units of `uncore export`, which nothing has enabled."""

    @classmethod
    def tearDownClass(cls):
        run("systemctl", "stop", "uncore-export-http.socket", "uncore-export-textfile.timer")
        super().tearDownClass()

    def test_disabled(self):
        """the exporter's units are installed, and not enabled"""
        for unit in ("uncore-export-http.socket", "uncore-export-textfile.timer"):
            self.assertEqual(run("systemctl", "is-enabled", unit, check=False).stdout.strip(), "disabled")

    def test_file(self):
        """the timer's service writes the counters, for all to read, as a user of its own"""
        run("systemctl", "start", "uncore-export-textfile.timer")
        path = pathlib.Path("/run/uncore-export/uncore.prom")
        wait_until(path.exists, "the file is written")
        self.assertIn("\nuncore_up 1\n", path.read_text())
        self.assertEqual((path.owner(), path.stat().st_mode & 0o777), ("uncore-export", 0o644))

    def test_port(self):
        """the port answers with the counters, out of a sandbox, and one process serves all"""
        run("systemctl", "start", "uncore-export-http.socket")
        with socket.create_connection(PORT, timeout=COMMAND_S) as connection:
            wait_until(exporter_pid, "the service runs")
            status = pathlib.Path(f"/proc/{exporter_pid()}/status").read_text()
            connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            answer = connection.makefile("rb").read().decode()
        self.assertIn("\nuncore_up 1\n", answer)
        self.assertIn("Seccomp:\t2", status)
        self.assertIn("CapBnd:\t0000000000000000", status)
        pid = exporter_pid()
        self.assertIn("\nuncore_up 1\n", scrape())
        self.assertEqual(exporter_pid(), pid)

    def test_flood(self):
        """no number of connections stops the port"""
        run("systemctl", "start", "uncore-export-http.socket")
        for number in range(FLOOD):
            with socket.create_connection(PORT, timeout=COMMAND_S) as connection:
                if number % 2:
                    connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        self.assertIn("\nuncore_up 1\n", scrape())
        self.assertEqual(run("systemctl", "is-active", "uncore-export-http.socket").stdout.strip(), "active")

    def test_killed(self):
        """however often its process is killed, the port is served again, and who waits is answered"""
        run("systemctl", "start", "uncore-export-http.socket")
        for _ in range(KILLS):
            self.assertIn("\nuncore_up 1\n", scrape())
            os.kill(int(exporter_pid()), signal.SIGSTOP)
            with socket.create_connection(PORT, timeout=COMMAND_S) as waiting:
                waiting.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
                os.kill(int(exporter_pid()), signal.SIGKILL)
                self.assertIn("\nuncore_up 1\n", waiting.makefile("rb").read().decode())
        self.assertEqual(run("systemctl", "is-active", "uncore-export-http.socket").stdout.strip(), "active")


class Attacked(Shipped):
    def test_lingering(self):
        """inside the sandbox, descriptors that take an hour to close, attached to a user's messages, hold nobody up"""
        pid = uncored_pid()
        descriptors = pathlib.Path(f"/proc/{pid}/fd")
        for user in (STRANGER, VISITOR):  # uncored keeps the answer, and a doorbell of each user
            run("uncore", "info", user=user)
        before = len(list(descriptors.iterdir()))
        os.kill(pid, signal.SIGSTOP)
        try:
            peers = [leave_lingering(1 + n % 2) for n in range(LINGERING)]
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: run("uncore", "info", user=STRANGER, check=False).returncode == 0,
                   "another user is answered")
        wait_until(lambda: len(list(descriptors.iterdir())) == before, "nothing of that is left open")
        self.assertEqual(uncored_pid(), pid)
        for peer in peers:
            peer.close()

    def test_journal(self):
        """a descriptor is refused while its sender waits for the answer, and the journal names the sender"""
        run("python3", "-B", "-c", SENDER, user=VISITOR)
        user = run("id", "-u", VISITOR).stdout.strip()
        wait_until(lambda: f"Refused user {user} (protocol.message;" in journal("-p", "warning", self.mark),
                   "the journal names the sender")


CASES = [Sandbox, Export, Attacked]
