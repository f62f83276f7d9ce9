# SPDX-License-Identifier: BSD-3-Clause
"""`uncore export --http`, a process for each connection: what it answers to good, slow, long and hostile requests."""
import contextlib
import socket
import threading

from monitor import EXPORTER, SECONDS, Case, get, run_cases, value_of

GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
MOST_BYTES = 1 << 20


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
        self.node.accept()

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

    def test_refusals(self):
        """other requests are refused, with the reason"""
        for request, status in (
                (b"GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"GET /../etc/passwd HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "405 Method Not Allowed"),
                (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 HTTP Version Not Supported"),
                (b"GET /metrics\r\n\r\n", "400 Bad Request"),
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", "400 Bad Request"),
                (b"\0" * 100 + b"\r\n\r\n", "400 Bad Request"),
                (b"GET /metrics\0 HTTP/1.1\r\n\r\n", "404 Not Found"),
                (b"%s%n%d\n\n", "400 Bad Request")):
            with self.subTest(request=request):
                answer = self.ask(request)
                self.assertEqual(status_of(answer), f"HTTP/1.1 {status}")
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
        for filling in (b"A" * 9000, b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 10000,
                        b"GET /" + b"a" * 60000 + b" HTTP/1.1\r\n\r\n"):
            self.assertEqual(status_of(self.ask(filling)), "HTTP/1.1 431 Request Header Fields Too Large")

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
            self.assertEqual([service.wait(SECONDS) for service in self.node.acceptor.services], [0] * 8)

    def test_endless(self):
        """a client that never stops sending is ended"""
        with connect() as connection, contextlib.suppress(ConnectionError):
            while True:
                connection.sendall(b"X" * 65536)

    def test_crowd(self):
        """thirty clients at once are all answered"""
        answers = []
        clients = [threading.Thread(target=lambda: answers.append(self.ask(GET))) for _ in range(30)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual({status_of(answer) for answer in answers}, {"HTTP/1.1 200 OK"})
        self.assertEqual(len(answers), 30)


def drip(connection, stop):
    with contextlib.suppress(OSError):
        while not stop.wait(0.5):
            connection.sendall(b"X")


class Down(Case):
    title = "HTTP without uncored: "

    def test_down(self):
        """a scrape succeeds and says that there are no values"""
        self.node.accept()
        text = get(EXPORTER, "/metrics")
        self.assertEqual(value_of(text, "uncore_up"), 0)
        self.assertEqual(value_of(text, "uncore_down_info", reason="no_answer"), 1)


run_cases()
