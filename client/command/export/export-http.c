/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/command/export/http-library.h"
#include "client/command/export/http-server.h"
#include "client/command/frame/command.h"
#include "common/number.h"

/* Most sites scrape more often than this, so each scrape finds the process of the last one. */
static const uint64_t IDLE_NS = UINT64_C(60000000000);

enum { FIRST_PASSED_FD = 3 };

/* The descriptors that were passed. */
struct passed {
	int first;
	unsigned n;
};

static uint64_t number_in(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t value;

	return text && number_parse_whole(text, 10, INT32_MAX, &value) ? value : 0;
}

static struct passed find_passed(void)
{
	uint64_t n = number_in("LISTEN_FDS");

	if (n && number_in("LISTEN_PID") == (uint64_t)getpid())
		return (struct passed){ FIRST_PASSED_FD, (unsigned)n };
	return (struct passed){ STDIN_FILENO, 1 };
}

/* @option: SO_TYPE or SO_ACCEPTCONN. -1: @fd is not a socket. */
static int http_ask_socket(int fd, int option)
{
	int value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &(socklen_t){ sizeof value }) == 0 ? value
											     : -1;
}

/* Notes listening sockets in @server, or the single connection in *@ret_fd. False: anything else
 * was passed. */
static bool take_passed(struct http_server *server, struct passed passed, int *ret_fd)
{
	*ret_fd = -1;
	if (passed.n > HTTP_LISTENERS_MAX)
		return false;
	for (int fd = passed.first; fd < passed.first + (int)passed.n; fd++) {
		if (http_ask_socket(fd, SO_TYPE) != SOCK_STREAM)
			return false;
		if (http_ask_socket(fd, SO_ACCEPTCONN) == 1 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
			server->listeners[server->n_listeners++] = fd;
		else
			*ret_fd = fd;
	}
	return *ret_fd < 0 || passed.n == 1;
}

static int http_serve(struct http_server *server, int fd, const struct export_wish *wish)
{
	int r;

	server->wish = *wish;
	r = http_server_run(server, fd);
	if (r < 0)
		fprintf(stderr, "uncore export: cannot serve: %s.\n", strerror(-r));
	return r < 0 ? EXIT_FAILED : 0;
}

int export_http(const struct export_wish *wish)
{
	static struct http_server server;
	const char *missing = http_library_load();
	int fd;

	if (missing) {
		fprintf(stderr,
			"uncore export: --http needs GNU libmicrohttpd: %s. Install it, or write a "
			"file for node_exporter by --output: see uncore-export(1).\n",
			missing);
		return EXIT_FAILED;
	}
	server.idle_ns = IDLE_NS;
	if (take_passed(&server, find_passed(), &fd))
		return http_serve(&server, fd, wish);
	fprintf(stderr,
		"uncore export: with --http a service manager passes 1 to %d listening sockets, or "
		"one connection, and none was found: see uncore-export(1).\n",
		HTTP_LISTENERS_MAX);
	return EXIT_USAGE;
}
