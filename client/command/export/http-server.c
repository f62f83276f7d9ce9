/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/http-server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "client/command/export/http-library.h"
#include "common/clock.h"
#include "common/macro.h"

/* How long a client may take to send its request, and again to take the answer. */
static const uint64_t STEP_NS = UINT64_C(2000000000);

static const uint64_t FRESH_NS = UINT64_C(1000000000); /* of a reading's text */

/* Bytes. Prometheus sends a request of some 300. */
static const size_t HEAD_MAX = 8192;

enum { LEFT_MAX = 65536 };

/* --- clients --- */

static size_t http_places(const struct http_server *server)
{
	return (size_t)server->n_daemons * HTTP_PLACES;
}

/* There is one, because no daemon has more clients than HTTP_PLACES. */
static struct http_client *http_find_place(struct http_server *server)
{
	struct http_client *client = server->clients;

	while (client->state != HTTP_FREE)
		client++;
	return client;
}

static bool has_deadline(const struct http_client *client)
{
	return client->state == HTTP_RECEIVING || client->state == HTTP_SENDING;
}

static void http_begin_step(
	struct http_server *server, struct http_client *client, enum http_state state)
{
	client->state = state;
	client->turn = server->turn;
	client->deadline_ns = clock_deadline_ns(STEP_NS);
}

static struct http_client *http_begin_client(
	struct http_server *server, struct MHD_Connection *connection)
{
	struct http_client *client = http_find_place(server);

	client->connection = connection;
	client->fd =
		http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	http_begin_step(server, client, HTTP_RECEIVING);
	server->n_clients++;
	return client;
}

static void http_end_client(struct http_client *client)
{
	client->state = HTTP_ENDING;
	shutdown(client->fd, SHUT_RDWR);
}

/* libmicrohttpd has no answer for this, and its timeout counts from the last byte. */
static void http_expire(struct http_client *client)
{
	static const char answer[] = "HTTP/1.1 408 Request Timeout\r\n"
				     "Content-Length: 0\r\nConnection: close\r\n\r\n";

	if (client->state == HTTP_RECEIVING)
		send(client->fd, answer, sizeof answer - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	http_end_client(client);
}

static void http_expire_all(struct http_server *server)
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < http_places(server); i++) {
		struct http_client *client = &server->clients[i];

		if (has_deadline(client) && client->deadline_ns <= now_ns)
			http_expire(client);
	}
}

/* What a client had sent is only read in the turn after the one that accepted it. */
static bool may_make_room(const struct http_server *server, const struct http_client *client)
{
	return has_deadline(client) && client->turn < server->turn;
}

/* NULL: there is none. */
static struct http_client *find_who_makes_room(struct http_server *server)
{
	struct http_client *best = NULL;

	for (size_t i = 0; i < http_places(server); i++) {
		struct http_client *client = &server->clients[i];

		if (may_make_room(server, client) &&
			(!best || client->state < best->state ||
				(client->state == best->state &&
					client->deadline_ns < best->deadline_ns)))
			best = client;
	}
	return best;
}

static unsigned http_count_open(const struct http_server *server)
{
	unsigned n = 0;

	for (size_t i = 0; i < http_places(server); i++)
		n += server->clients[i].state > HTTP_ENDING;
	return n;
}

static void http_make_room(struct http_server *server)
{
	struct http_client *client;

	for (unsigned n = http_count_open(server); n > HTTP_CONNECTIONS_MAX; n--) {
		client = find_who_makes_room(server);
		if (!client)
			return;
		http_end_client(client);
	}
}

/* Closing a connection with unread bytes resets it, and the answer could be lost. */
static void read_what_is_left(int fd)
{
	char buffer[4096];

	for (unsigned i = 0; i < LEFT_MAX / sizeof buffer; i++)
		if (recv(fd, buffer, sizeof buffer, MSG_DONTWAIT) <= 0)
			return;
}

static void http_notice(void *argument, struct MHD_Connection *connection, void **its_client,
	enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = argument;
	struct http_client *client = *its_client;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*its_client = http_begin_client(server, connection);
		return;
	}
	read_what_is_left(client->fd);
	client->state = HTTP_FREE;
	server->n_clients--;
	server->has_closed = true;
}

/* --- answers --- */

static http_result http_answer(
	struct MHD_Connection *connection, unsigned status, const char *text, size_t n_bytes)
{
	struct MHD_Response *response =
		http.create_response_from_buffer(n_bytes, (void *)text, MHD_RESPMEM_MUST_COPY);
	http_result r;

	if (!response)
		return MHD_NO;
	http.add_response_header(
		response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
	http.add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		http.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	r = http.queue_response(connection, status, response);
	http.destroy_response(response);
	return r;
}

static http_result http_refuse(struct MHD_Connection *connection, unsigned status)
{
	static const char text[] = "The counters are at /metrics, for GET and HEAD.\n";

	return http_answer(connection, status, text, sizeof text - 1);
}

/* A host may come before the path, and a server has to accept that: RFC 9112, section 3.2.2. */
static bool is_metrics(const char *url)
{
	static const char scheme[] = "http://";
	const char *path =
		strncmp(url, scheme, strlen(scheme)) == 0 ? strchr(url + strlen(scheme), '/') : url;

	return path && strcmp(path, "/metrics") == 0;
}

/* Sets no text if memory runs out. */
static void http_read_text(struct http_server *server)
{
	_cleanup_(export_reading_done) struct export_reading reading;
	FILE *out;

	export_reading_take(&server->wish, &reading);
	free(take_ptr(server->text));
	out = open_memstream(&server->text, &server->n_bytes);
	if (out)
		export_prometheus(out, &reading);
	if (out && fclose(out) == EOF)
		free(take_ptr(server->text));
	server->made_ns = clock_now_ns();
}

/* One reading answers all requests within a second. Without a text the connection closes. */
static http_result give_metrics(struct http_server *server, struct http_client *client)
{
	if (!server->text || clock_now_ns() - server->made_ns >= FRESH_NS)
		http_read_text(server);
	http_begin_step(server, client, HTTP_SENDING);
	return server->text
		       ? http_answer(client->connection, MHD_HTTP_OK, server->text, server->n_bytes)
		       : MHD_NO;
}

static http_result http_respond(void *argument, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *n_upload,
	void **request)
{
	struct http_server *server = argument;
	struct http_client *client =
		http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	(void)version;
	(void)upload;
	(void)n_upload;
	(void)request;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return http_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
	return is_metrics(url) ? give_metrics(server, client)
			       : http_refuse(connection, MHD_HTTP_NOT_FOUND);
}

/* --- the loop --- */

/* @listener: -1: none. False: there is no memory, or no descriptor. */
static bool http_start(struct http_server *server, int listener)
{
	struct MHD_OptionItem items[] = {
		{ MHD_OPTION_CONNECTION_LIMIT, HTTP_PLACES, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)HEAD_MAX, NULL },
		{ MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)http_notice, server },
		{ listener < 0 ? MHD_OPTION_END : MHD_OPTION_LISTEN_SOCKET, listener, NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned flags = MHD_USE_EPOLL | (listener < 0 ? MHD_USE_NO_LISTEN_SOCKET : 0);
	struct MHD_Daemon *daemon = http.start_daemon(flags, 0, NULL, NULL, http_respond, server,
		MHD_OPTION_ARRAY, items, MHD_OPTION_END);

	if (daemon)
		server->daemons[server->n_daemons++] = daemon;
	return daemon;
}

static bool http_start_all(struct http_server *server, int fd)
{
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	if (fd >= 0)
		return http_start(server, -1) && http.add_connection(server->daemons[0], fd,
							 &nobody, sizeof nobody) == MHD_YES;
	for (unsigned i = 0; i < server->n_listeners; i++)
		if (!http_start(server, server->listeners[i]))
			return false;
	return true;
}

/* Does not close the listeners, which are borrowed. */
static void http_stop_all(struct http_server *server)
{
	for (unsigned i = 0; i < server->n_daemons; i++) {
		if (server->n_listeners)
			http.quiesce_daemon(server->daemons[i]);
		http.stop_daemon(server->daemons[i]);
	}
}

static uint64_t http_next_deadline(const struct http_server *server)
{
	uint64_t next_ns = server->end_ns;

	for (size_t i = 0; i < http_places(server); i++) {
		const struct http_client *client = &server->clients[i];

		if (has_deadline(client) && client->deadline_ns < next_ns)
			next_ns = client->deadline_ns;
	}
	return next_ns;
}

/*
 * Has libmicrohttpd work that no descriptor announces? When it had all connections that it may
 * have, and one has closed, it watches its listener again in its next turn only.
 */
static bool http_is_pending(const struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (server->has_closed)
		return true;
	for (unsigned i = 0; i < server->n_daemons; i++)
		if (http.get_timeout(server->daemons[i], &ms) == MHD_YES && ms == 0)
			return true;
	return false;
}

static void http_wait_for_work(struct http_server *server)
{
	struct pollfd fds[HTTP_LISTENERS_MAX];
	const uint64_t left_ns = clock_left_ns(http_next_deadline(server), 0);
	const int patience_ms = (int)((left_ns + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS);

	for (unsigned i = 0; i < server->n_daemons; i++)
		fds[i] = (struct pollfd){ .fd = http.get_daemon_info(server->daemons[i],
							    MHD_DAEMON_INFO_EPOLL_FD)
							->epoll_fd,
			.events = POLLIN };
	poll(fds, server->n_daemons, http_is_pending(server) ? 0 : patience_ms);
}

static void http_take_turn(struct http_server *server)
{
	http_wait_for_work(server);
	server->turn++;
	server->has_closed = false;
	for (unsigned i = 0; i < server->n_daemons; i++)
		http.run(server->daemons[i]);
	http_expire_all(server); /* what came while uncored was asked has been read */
	http_make_room(server);
}

/* The server looks for new connections once more when its time is over, because a thread that waits
 * for a CPU may miss that whole time. */
static void serve_until_idle(struct http_server *server)
{
	uint64_t looked_ns;

	do {
		looked_ns = clock_now_ns();
		http_take_turn(server);
		if (server->n_clients)
			server->end_ns = clock_deadline_ns(server->idle_ns);
	} while (server->n_listeners ? server->end_ns > looked_ns : server->n_clients > 0);
}

int http_server_run(struct http_server *server, int fd)
{
	bool is_started = http_start_all(server, fd);

	server->end_ns = clock_deadline_ns(server->idle_ns);
	if (is_started)
		serve_until_idle(server);
	http_stop_all(server);
	free(take_ptr(server->text));
	return is_started ? 0 : -ENOMEM;
}
