/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/http-server.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/macro.h"

/* A listener's connections that one turn accepts before it serves the others again. */
enum { ACCEPT_MAX = 256 };

/* Indexes in the array for poll(2). */
enum {
	DONE,
	LISTENERS,
	CONNECTIONS = LISTENERS + HTTP_LISTENERS_MAX,
	FDS = CONNECTIONS + HTTP_CONNECTIONS_MAX
};

/* --- places --- */

/* The place for a new connection; -1: all connections wait for the metrics. */
static int find_place(const struct http_server *server)
{
	int best = 0;

	for (int i = 1; i < HTTP_CONNECTIONS_MAX; i++) {
		const struct http_connection *a = &server->connections[best];
		const struct http_connection *b = &server->connections[i];

		if (b->state < a->state || (b->state == a->state && b->number < a->number))
			best = i;
	}
	return server->connections[best].state == HTTP_ASKING ? -1 : best;
}

static void begin(struct http_server *server, int place, int fd)
{
	struct http_connection *connection = &server->connections[place];

	server->end_ns = clock_deadline_ns(server->idle_ns);
	http_connection_begin(connection, fd, ++server->n_accepted);
	http_connection_go_on(connection);
}

/* --- new connections --- */

/* Other errors belong to a connection that failed before it was accepted: accept(2). */
static bool is_the_servers(int error)
{
	static const int errors[] = { EBADF, EINVAL, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOTSOCK,
		EOPNOTSUPP };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i] == error)
			return true;
	return false;
}

/* False: the queue is empty, there is no place, or the server has failed. */
static bool accept_one(struct http_server *server, int listener)
{
	int fd, place = find_place(server);

	if (place < 0)
		return false;
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		begin(server, place, fd);
	else if (is_the_servers(errno))
		server->error = -errno;
	return fd >= 0 || (errno != EAGAIN && !server->error);
}

static void accept_some(struct http_server *server, int listener)
{
	for (unsigned i = 0; i < ACCEPT_MAX && accept_one(server, listener); i++)
		;
}

/* --- one turn --- */

/* Without memory for a text, their connections close. */
static void answer_askers(struct http_server *server)
{
	const struct export_body *body = &server->body;

	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
		struct http_connection *connection = &server->connections[i];

		if (connection->state != HTTP_ASKING)
			continue;
		if (body->text)
			http_connection_answer(connection, HTTP_OK, body->text, body->n_bytes);
		else
			http_connection_close(connection);
	}
}

/* Is any connection in @least or a later state? */
static bool any_from(const struct http_server *server, enum http_state least)
{
	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		if (server->connections[i].state >= least)
			return true;
	return false;
}

/* A client that asks for the metrics has sent its whole request, so the server waits neither for
 * more bytes nor for their end. */
static bool is_watched(const struct http_connection *connection)
{
	return connection->state != HTTP_FREE && connection->state != HTTP_ASKING;
}

static void serve_askers(struct http_server *server)
{
	if (export_body_is_fresh(&server->body))
		answer_askers(server);
	else if (any_from(server, HTTP_ASKING))
		export_body_begin(&server->body);
}

static void serve_connections(struct http_server *server, const struct pollfd fds[FDS])
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
		struct http_connection *connection = &server->connections[i];

		if (fds[CONNECTIONS + i].revents)
			http_connection_go_on(connection);
		if (is_watched(connection) && connection->deadline_ns <= now_ns)
			http_connection_expire(connection);
	}
}

static void take_turn(struct http_server *server, const struct pollfd fds[FDS])
{
	if (fds[DONE].revents) {
		export_body_finish(&server->body);
		answer_askers(server);
	}
	serve_connections(server, fds);
	for (unsigned i = 0; i < server->n_listeners; i++)
		if (fds[LISTENERS + i].revents)
			accept_some(server, server->listeners[i]);
	serve_askers(server);
}

/* --- waiting --- */

static uint64_t next_deadline(const struct http_server *server)
{
	uint64_t next_ns = server->end_ns;

	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
		const struct http_connection *connection = &server->connections[i];

		if (is_watched(connection) && connection->deadline_ns < next_ns)
			next_ns = connection->deadline_ns;
	}
	return next_ns;
}

static int milliseconds_until(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();

	return deadline_ns <= now_ns ? 0 : 1 + (int)((deadline_ns - now_ns) / 1000000);
}

static void fill_in(const struct http_server *server, struct pollfd fds[FDS])
{
	unsigned n_listeners = find_place(server) >= 0 ? server->n_listeners : 0;

	for (size_t i = 0; i < FDS; i++)
		fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	fds[DONE].fd = server->body.done_fd;
	for (unsigned i = 0; i < n_listeners; i++)
		fds[LISTENERS + i].fd = server->listeners[i];
	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++) {
		const struct http_connection *connection = &server->connections[i];

		if (is_watched(connection))
			fds[CONNECTIONS + i].fd = connection->fd;
		if (connection->state == HTTP_SENDING)
			fds[CONNECTIONS + i].events = POLLOUT;
	}
}

/* Only a signal makes poll(2) fail. Then nothing is known to be ready. */
static void wait_for_work(struct http_server *server, struct pollfd fds[FDS])
{
	fill_in(server, fds);
	server->looked_ns = clock_now_ns();
	if (poll(fds, FDS, milliseconds_until(next_deadline(server))) < 0)
		for (size_t i = 0; i < FDS; i++)
			fds[i].revents = 0;
}

/* The server looks for new connections once more when its time is over, because a thread that waits
 * for a CPU may miss that whole time. */
static bool has_ended(struct http_server *server)
{
	bool in_use = any_from(server, HTTP_DRAINING) || server->body.is_busy;

	if (in_use)
		server->end_ns = clock_deadline_ns(server->idle_ns);
	if (server->error || in_use)
		return server->error;
	return !server->n_listeners || server->end_ns <= server->looked_ns;
}

int http_server_run(struct http_server *server, int fd)
{
	struct pollfd fds[FDS];

	server->end_ns = clock_deadline_ns(server->idle_ns);
	if (fd >= 0)
		begin(server, 0, fd);
	serve_askers(server);
	while (!has_ended(server)) {
		wait_for_work(server, fds);
		take_turn(server, fds);
	}
	for (size_t i = 0; i < HTTP_CONNECTIONS_MAX; i++)
		http_connection_close(&server->connections[i]);
	return server->error;
}
