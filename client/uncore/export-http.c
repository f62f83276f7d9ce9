/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of one request: systemd accepts connections, and starts this for each of them. The time
 * for each step is bounded, so a client that is slow, or says nothing, does not keep a process.
 */
#include "client/uncore/export-http.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "client/uncore/command.h"
#include "client/uncore/export-prometheus.h"
#include "client/uncore/export-reading.h"
#include "client/uncore/http-request.h"
#include "common/clock.h"
#include "common/macro.h"

enum { CONNECTION = STDIN_FILENO, DRAIN_MAX = 65536 };
static const uint64_t STEP_NS = UINT64_C(5000000000), DRAIN_NS = UINT64_C(1000000000);

struct answer {
	enum http_status status;
	bool without_body;
	char *body; /* owned */
	size_t n_bytes;
};

static void answer_done(struct answer *answer)
{
	free(take_ptr(answer->body));
}

/* --- bytes, in time --- */

static bool wait_until_ready(short events, uint64_t deadline_ns)
{
	struct pollfd connection = { .fd = CONNECTION, .events = events };
	uint64_t now_ns = clock_now_ns();

	if (now_ns >= deadline_ns)
		return false;
	return poll(&connection, 1, 1 + (int)((deadline_ns - now_ns) / 1000000)) != 0;
}

/* Bytes received; 0: the client has ended; -ETIMEDOUT; another negative errno. */
static ssize_t receive(char *buffer, size_t n_bytes, uint64_t deadline_ns)
{
	ssize_t n;

	do {
		if (!wait_until_ready(POLLIN, deadline_ns))
			return -ETIMEDOUT;
		n = recv(CONNECTION, buffer, n_bytes, MSG_DONTWAIT);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : n;
}

/* What cannot be sent in time, or to a client that has gone, is dropped. */
static void send_all(const char *bytes, size_t n_bytes, uint64_t deadline_ns)
{
	while (n_bytes && wait_until_ready(POLLOUT, deadline_ns)) {
		ssize_t n = send(CONNECTION, bytes, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		bytes += n < 0 ? 0 : n;
		n_bytes -= n < 0 ? 0 : (size_t)n;
	}
}

/* Closing a connection whose bytes were not all read resets it, and the answer could be lost. */
static void drain(void)
{
	uint64_t deadline_ns = clock_deadline_ns(DRAIN_NS);
	char buffer[4096];
	ssize_t n = 1;

	shutdown(CONNECTION, SHUT_WR);
	for (size_t total = 0; n > 0 && total < DRAIN_MAX; total += (size_t)n)
		n = receive(buffer, sizeof buffer, deadline_ns);
}

/* --- the request --- */

/* False: the client has gone, and wants no answer. */
static bool receive_request(struct answer *ret)
{
	uint64_t deadline_ns = clock_deadline_ns(STEP_NS);
	char head[HTTP_HEAD_MAX];
	size_t used = 0;

	while (!http_request_is_whole(head, used)) {
		ssize_t n;

		if (used == sizeof head) {
			ret->status = HTTP_HEAD_TOO_LARGE;
			return true;
		}
		n = receive(head + used, sizeof head - used, deadline_ns);
		if (n == -ETIMEDOUT)
			ret->status = HTTP_REQUEST_TIMEOUT;
		if (n <= 0)
			return n == -ETIMEDOUT;
		used += (size_t)n;
	}
	ret->status = http_request_judge(head, used, &ret->without_body);
	return true;
}

/* --- the answer --- */

static const char *phrase_of(enum http_status status)
{
	static const struct {
		enum http_status status;
		const char *phrase;
	} phrases[] = {
		{ HTTP_OK, "OK" },
		{ HTTP_BAD_REQUEST, "Bad Request" },
		{ HTTP_NOT_FOUND, "Not Found" },
		{ HTTP_METHOD_NOT_ALLOWED, "Method Not Allowed" },
		{ HTTP_REQUEST_TIMEOUT, "Request Timeout" },
		{ HTTP_HEAD_TOO_LARGE, "Request Header Fields Too Large" },
		{ HTTP_VERSION_NOT_SUPPORTED, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "";
}

static void write_metrics(FILE *out, const char *socket_path)
{
	_cleanup_(export_reading_done) struct export_reading reading;

	export_reading_take(socket_path, true, &reading);
	export_prometheus(out, &reading);
}

static int make_body(const char *socket_path, struct answer *answer)
{
	FILE *out = open_memstream(&answer->body, &answer->n_bytes);

	if (!out)
		return -ENOMEM;
	if (answer->status == HTTP_OK)
		write_metrics(out, socket_path);
	else
		fprintf(out, "%s. The counters are at /metrics.\n", phrase_of(answer->status));
	return fclose(out) == EOF ? -ENOMEM : 0;
}

static void send_answer(const struct answer *answer)
{
	uint64_t deadline_ns = clock_deadline_ns(STEP_NS);
	char head[512];
	int n = snprintf(head, sizeof head,
		"HTTP/1.1 %d %s\r\n"
		"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
		"Content-Length: %zu\r\n"
		"%sConnection: close\r\n\r\n",
		(int)answer->status, phrase_of(answer->status), answer->n_bytes,
		answer->status == HTTP_METHOD_NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "");

	send_all(head, (size_t)n, deadline_ns);
	if (!answer->without_body)
		send_all(answer->body, answer->n_bytes, deadline_ns);
	drain();
}

static bool is_connection(void)
{
	int type;

	return getsockopt(CONNECTION, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof type }) ==
		       0 &&
	       type == SOCK_STREAM;
}

int export_http(const char *socket_path)
{
	_cleanup_(answer_done) struct answer answer = { .body = NULL };

	if (!is_connection()) {
		fputs("uncore export: with --http, standard input is a connection: systemd passes "
		      "one to a service of a socket with Accept=yes.\n",
			stderr);
		return EXIT_USAGE;
	}
	if (!receive_request(&answer))
		return 0;
	if (make_body(socket_path, &answer) < 0) {
		fputs("uncore export: out of memory.\n", stderr);
		return EXIT_FAILED;
	}
	send_answer(&answer);
	return 0;
}
