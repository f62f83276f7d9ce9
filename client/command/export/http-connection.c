/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/http-connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/macro.h"

enum { DRAIN_MAX = 65536 };

void http_connection_begin(struct http_connection *connection, int fd, uint64_t number)
{
	http_connection_close(connection);
	connection->state = HTTP_RECEIVING;
	connection->fd = fd;
	connection->number = number;
	connection->deadline_ns = clock_deadline_ns(HTTP_STEP_NS);
	connection->n_received = connection->n_sent = connection->n_bytes = 0;
	connection->without_body = false;
}

void http_connection_close(struct http_connection *connection)
{
	if (connection->state != HTTP_FREE)
		close_fd(&connection->fd);
	free(take_ptr(connection->answer));
	connection->state = HTTP_FREE;
}

/* @n: what recv(2) or send(2) returned. False: the connection now waits, or it is closed. */
static bool has_moved(struct http_connection *connection, ssize_t n)
{
	bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);

	if (n <= 0 && !waits)
		http_connection_close(connection);
	return n > 0;
}

/* --- the answer --- */

/* Reads what is left. Closing a connection with unread bytes resets it, and the answer could be
 * lost. */
static void drain(struct http_connection *connection)
{
	char buffer[4096];
	ssize_t n;

	do {
		n = recv(connection->fd, buffer, sizeof buffer, MSG_DONTWAIT);
		if (!has_moved(connection, n))
			return;
		connection->n_received += (size_t)n;
	} while (connection->n_received < DRAIN_MAX);
	http_connection_close(connection);
}

static void begin_to_drain(struct http_connection *connection)
{
	free(take_ptr(connection->answer));
	shutdown(connection->fd, SHUT_WR);
	connection->state = HTTP_DRAINING;
	connection->deadline_ns = clock_deadline_ns(HTTP_DRAIN_NS);
	connection->n_received = 0;
	drain(connection);
}

static void send_more(struct http_connection *connection)
{
	while (connection->n_sent < connection->n_bytes) {
		ssize_t n = send(connection->fd, connection->answer + connection->n_sent,
			connection->n_bytes - connection->n_sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (!has_moved(connection, n))
			return;
		connection->n_sent += (size_t)n;
	}
	begin_to_drain(connection);
}

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

static size_t write_head(char head[], size_t size_bytes, enum http_status status, size_t n_bytes)
{
	return (size_t)snprintf(head, size_bytes,
		"HTTP/1.1 %d %s\r\n"
		"Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
		"Content-Length: %zu\r\n"
		"%sConnection: close\r\n\r\n",
		(int)status, phrase_of(status), n_bytes,
		status == HTTP_METHOD_NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "");
}

void http_connection_answer(struct http_connection *connection, enum http_status status,
	const char *body, size_t n_bytes)
{
	char head[512];
	size_t n_head = write_head(head, sizeof head, status, n_bytes);
	size_t n_body = connection->without_body ? 0 : n_bytes;

	connection->answer = malloc(n_head + n_body);
	if (!connection->answer) {
		http_connection_close(connection);
		return;
	}
	memcpy(connection->answer, head, n_head);
	memcpy(connection->answer + n_head, body, n_body);
	connection->n_bytes = n_head + n_body;
	connection->state = HTTP_SENDING;
	connection->deadline_ns = clock_deadline_ns(HTTP_STEP_NS);
	send_more(connection);
}

static void refuse(struct http_connection *connection, enum http_status status)
{
	char body[128];
	int n = snprintf(
		body, sizeof body, "%s. The counters are at /metrics.\n", phrase_of(status));

	http_connection_answer(connection, status, body, (size_t)n);
}

/* --- the request --- */

static void judge(struct http_connection *connection)
{
	enum http_status status = http_request_judge(
		connection->head, connection->n_received, &connection->without_body);

	if (status == HTTP_OK)
		connection->state = HTTP_ASKING;
	else
		refuse(connection, status);
}

/* The empty line that ends the head may have begun in the two bytes before the new ones. */
static void take_bytes(struct http_connection *connection, size_t n)
{
	size_t from = connection->n_received > 2 ? connection->n_received - 2 : 0;

	connection->n_received += n;
	if (http_request_is_whole(connection->head + from, connection->n_received - from))
		judge(connection);
	else if (connection->n_received == sizeof connection->head)
		refuse(connection, HTTP_HEAD_TOO_LARGE);
}

static void receive_more(struct http_connection *connection)
{
	while (connection->state == HTTP_RECEIVING) {
		ssize_t n = recv(connection->fd, connection->head + connection->n_received,
			sizeof connection->head - connection->n_received, MSG_DONTWAIT);

		if (!has_moved(connection, n))
			return;
		take_bytes(connection, (size_t)n);
	}
}

void http_connection_go_on(struct http_connection *connection)
{
	if (connection->state == HTTP_RECEIVING)
		receive_more(connection);
	else if (connection->state == HTTP_SENDING)
		send_more(connection);
	else if (connection->state == HTTP_DRAINING)
		drain(connection);
}

void http_connection_expire(struct http_connection *connection)
{
	if (connection->state == HTTP_RECEIVING)
		refuse(connection, HTTP_REQUEST_TIMEOUT);
	else
		http_connection_close(connection);
}
