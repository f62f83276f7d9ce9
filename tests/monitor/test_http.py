# SPDX-License-Identifier: BSD-3-Clause
"""`uncore export --http`, one process for all connections: what it answers to good, slow, long and hostile requests."""
import contextlib
import os
import signal
import socket
import subprocess
import threading
import time

from monitor import BACKLOG, EXPORTER, SECONDS, UNCORE, Case, get, run_cases, value_of
from processes import as_user

GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
MOST_BYTES = 1 << 20
CONNECTIONS_MAX = 64


def connect():
    return socket.create_connection(("127.0.0.1", EXPORTER), timeout=SECONDS)


def receive(connection):
    """All that comes until the server ends."""
    received = b""
    while len(received) < MOST_BYTES:
        part = connection.recv(65536)
        if not part:
            break
        received += part
    return received


def status_of(answer):
    return answer.partition(b"\r\n")[0].decode()


class Http(Case):
    title = "HTTP: "

    def setUp(self):
        super().setUp()
        self.node.start_uncored()
        self.node.serve_http()

    def ask(self, request):
        with connect() as connection:
            connection.sendall(request)
            return receive(connection)

    def test_get(self):
        """GET is answered with the text, its type and its length"""
        head, _, body = self.ask(GET).partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.assertEqual(lines[0], "HTTP/1.1 200 OK")
        self.assertIn("Content-Type: text/plain; version=0.0.4; charset=utf-8", lines)
        self.assertIn(f"Content-Length: {len(body)}", lines)
        self.assertEqual(value_of(body.decode(), "uncore_up"), 1)

    def test_head(self):
        """HEAD is answered without the text"""
        answer = self.ask(GET.replace(b"GET", b"HEAD"))
        self.assertEqual(status_of(answer), "HTTP/1.1 200 OK")
        self.assertTrue(answer.endswith(b"\r\n\r\n"))

    def test_forms(self):
        """a request may have a query, a host before the path, or the older version"""
        for request in (b"GET /metrics?name=x&name=y HTTP/1.1\r\n\r\n", b"GET http://a:9617/metrics?x HTTP/1.1\r\n\r\n",
                        b"GET /metrics HTTP/1.0\r\n\r\n", b"GET /metrics HTTP/1.1\nHost: a\n\n"):
            with self.subTest(request=request):
                self.assertEqual(status_of(self.ask(request)).partition(" ")[2], "200 OK")

    def test_refusals(self):
        """other requests are refused, with the reason if they are HTTP"""
        for request, status in (
                (b"GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"GET /metricsX HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"GET //metrics HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"GET http://a HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"GET http://a/x/metrics HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"get /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
                (b"GET /../etc/passwd HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "405 Method Not Allowed"),
                (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 HTTP Version Not Supported"),
                (b"GET /metrics\r\n\r\n", "400 Bad Request"),
                (b"\0" * 100 + b"\r\n\r\n", "408 Request Timeout"),
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", ""),  # TLS
                (b"%s%n%d\n\n", "")):
            with self.subTest(request=request):
                answer = self.ask(request)
                self.assertEqual(status_of(answer), f"HTTP/1.1 {status}" if status else "")
                self.assertNotIn(b"uncore_", answer)

    def test_pieces(self):
        """a request may come in pieces, and more may follow it"""
        with connect() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(GET)):
                connection.sendall(GET[i:i + 1])
            connection.sendall(GET * 3)
            answer = receive(connection)
        self.assertEqual(status_of(answer), "HTTP/1.1 200 OK")
        self.assertEqual(answer.count(b"HTTP/1.1"), 1)

    def test_long(self):
        """a head of more than 8 KiB is refused, however it is made up, and the refusal arrives"""
        for filling, status in ((b"A" * 9000, "414 URI Too Long"),
                                (b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 10000,
                                 "431 Request Header Fields Too Large"),
                                (b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\n\r\n", "414 URI Too Long")):
            self.assertEqual(status_of(self.ask(filling)), f"HTTP/1.1 {status}")

    def test_away(self):
        """clients that go at any moment disturb nobody"""
        for request in (b"", b"GET", GET):
            with connect() as connection:
                connection.sendall(request)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset
        with connect() as connection:
            connection.sendall(GET)
            connection.shutdown(socket.SHUT_WR)
            self.assertEqual(status_of(receive(connection)), "HTTP/1.1 200 OK")

    def test_slow(self):
        """clients that say nothing, or a byte now and then, are ended, while others are served"""
        stop = threading.Event()
        with contextlib.ExitStack() as stack:
            silent, dripping, deaf = (stack.enter_context(connect()) for _ in range(3))
            deaf.sendall(GET)
            dripper = threading.Thread(target=drip, args=(dripping, stop), daemon=True)
            dripper.start()
            for _ in range(5):
                self.assertEqual(value_of(get(EXPORTER, "/metrics"), "uncore_up"), 1)
            for connection in (silent, dripping):
                self.assertEqual(status_of(receive(connection)), "HTTP/1.1 408 Request Timeout")
            stop.set()
            dripper.join()
            deaf.settimeout(SECONDS)
            self.assertTrue(receive(deaf))

    def test_endless(self):
        """a client that never stops sending is ended"""
        with connect() as connection, contextlib.suppress(ConnectionError):
            while True:
                connection.sendall(b"X" * 65536)

    def test_crowd(self):
        """as many clients as there are places are all answered at once, by one process"""
        answers = []
        clients = [threading.Thread(target=lambda: answers.append(self.ask(GET))) for _ in range(CONNECTIONS_MAX)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual({status_of(answer) for answer in answers}, {"HTTP/1.1 200 OK"})
        self.assertEqual(len(answers), CONNECTIONS_MAX)
        self.assertEqual(len(self.node.activator.services), 1)

    def test_one_reading(self):
        """one reading answers all scrapes within a second, and a later one has another"""
        def sweeps():
            return value_of(get(EXPORTER, "/metrics"), "uncore_sweeps_total", socket="0")

        first, begun = sweeps(), time.monotonic()
        readings = {sweeps() for _ in range(20)}
        self.assertLessEqual(len(readings | {first}), 1 + int(time.monotonic() - begun) + 1)
        time.sleep(1.1)
        self.assertGreater(sweeps(), max(readings))

    def test_hung(self):
        """where uncored does not answer, slow clients are ended all the same, and who asked is answered"""
        self.node.uncored.send_signal(signal.SIGSTOP)
        with contextlib.ExitStack() as stack:
            stack.callback(self.node.uncored.send_signal, signal.SIGCONT)
            asking = [stack.enter_context(connect()) for _ in range(10)]
            for connection in asking:
                connection.sendall(GET)
            silent = stack.enter_context(connect())
            self.assertEqual(status_of(receive(silent)), "HTTP/1.1 408 Request Timeout")
            self.node.uncored.send_signal(signal.SIGCONT)
            for connection in asking:
                self.assertEqual(status_of(receive(connection)), "HTTP/1.1 200 OK")


class Flooded(Case):
    title = "HTTP, flooded: "

    def setUp(self):
        super().setUp()
        self.node.start_uncored()
        self.node.serve_http()
        self.scrape()

    def scrape(self):
        """Must succeed. Returns how long it took."""
        begun = time.monotonic()
        self.assertEqual(value_of(get(EXPORTER, "/metrics"), "uncore_up"), 1)
        return time.monotonic() - begun

    def assert_at_once(self):
        """The kernel has a client whose first packet it dropped try again after a second."""
        took = [self.scrape() for _ in range(5)]
        self.assertLess(min(took), 1, took)

    def test_many(self):
        """after 10,000 connections, silent and not, the next scrape is served at once, by the same process"""
        silent = []
        for number in range(10000):
            connection = connect()
            if number % 3:
                silent.append(connection)
                silent[:-50] = []
            else:
                connection.sendall(GET)
                connection.close()
        self.assert_at_once()
        self.assertEqual(len(self.node.activator.services), 1)

    def test_full(self):
        """with a full queue, of clients that have gone and that are silent, the next scrape is served at once"""
        service = self.node.activator.services[0]
        os.kill(service.pid, signal.SIGSTOP)
        with contextlib.ExitStack() as stack:
            for number in range(BACKLOG):
                connection = connect()
                if number % 8 == 0:
                    stack.callback(connection.close)
                else:
                    connection.close()
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", EXPORTER))  # there is no place in the queue for it any more
            os.kill(service.pid, signal.SIGCONT)
            self.assert_at_once()
            self.assertEqual(len(self.node.activator.services), 1)

    def test_killed(self):
        """where the process dies, those in the queue are served by the next one"""
        service = self.node.activator.services[0]
        os.kill(service.pid, signal.SIGSTOP)
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(connect()) for _ in range(50)]
            for client in clients:
                client.sendall(GET)
            service.terminate()
            os.kill(service.pid, signal.SIGCONT)
            self.assertEqual({status_of(receive(client)) for client in clients}, {"HTTP/1.1 200 OK"})


class Passed(Case):
    title = "HTTP, as a service manager passes it: "

    def setUp(self):
        super().setUp()
        self.node.start_uncored()

    def start(self, passed, stderr=None, **environment):
        """With @passed as standard input."""
        return subprocess.Popen([UNCORE, "export", "--http"], stdin=passed, stderr=stderr,
                                env={"UNCORE_SOCKET": str(self.node.socket), **environment}, **as_user())

    def assert_served(self, client):
        client.sendall(GET)
        self.assertEqual(status_of(receive(client)), "HTTP/1.1 200 OK")

    def test_inetd(self):
        """a connection as standard input is served, and the process ends with it"""
        near, far = socket.socketpair()
        with near, far, self.start(far) as service:
            far.close()
            self.assert_served(near)
            near.close()
            self.assertEqual(service.wait(SECONDS), 0)

    def test_wait(self):
        """a listening socket as standard input is served"""
        with socket.create_server(("127.0.0.1", EXPORTER)) as listener, self.start(listener) as service:
            for _ in range(3):
                with connect() as client:
                    self.assert_served(client)
            service.terminate()

    def test_two(self):
        """two listening sockets are both served"""
        with socket.create_server(("127.0.0.1", EXPORTER)) as listener:
            with socket.create_server(("127.0.0.2", EXPORTER)) as other:
                pass_both = (f"exec 3<&{listener.fileno()} 4<&{other.fileno()}; export LISTEN_PID=$$ LISTEN_FDS=2; "
                             'exec "$@"')
                with subprocess.Popen(["sh", "-c", pass_both, "sh", UNCORE, "export", "--http"],
                                      pass_fds=[listener.fileno(), other.fileno()], stdin=subprocess.DEVNULL,
                                      env={"UNCORE_SOCKET": str(self.node.socket)}, **as_user()) as service:
                    for address in ("127.0.0.1", "127.0.0.2"):
                        with socket.create_connection((address, EXPORTER), timeout=SECONDS) as client:
                            self.assert_served(client)
                    service.terminate()

    def test_other(self):
        """LISTEN_FDS of another process is not believed"""
        near, far = socket.socketpair()
        with near, far, self.start(far, LISTEN_FDS="1", LISTEN_PID="1") as service:
            far.close()
            self.assert_served(near)
            near.close()
            self.assertEqual(service.wait(SECONDS), 0)


    def test_missing(self):
        """where libmicrohttpd cannot be loaded, it is named, and another way"""
        (self.node.folder / "libmicrohttpd.so.12").touch()
        near, far = socket.socketpair()
        with near, far, self.start(far, LD_LIBRARY_PATH=str(self.node.folder), stderr=subprocess.PIPE) as service:
            said = service.communicate(timeout=SECONDS)[1].decode()
            self.assertEqual(service.returncode, 1)
        self.assertRegex(said, "^uncore export: --http needs GNU libmicrohttpd: .*libmicrohttpd.so.12: .*--output")


def drip(connection, stop):
    with contextlib.suppress(OSError):
        while not stop.wait(0.5):
            connection.sendall(b"X")


class Down(Case):
    title = "HTTP without uncored: "

    def test_down(self):
        """a scrape succeeds and says that there are no values"""
        self.node.serve_http()
        text = get(EXPORTER, "/metrics")
        self.assertEqual(value_of(text, "uncore_up"), 0)
        self.assertEqual(value_of(text, "uncore_down_info", reason="no_answer"), 1)


run_cases()
