/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread serves all clients, and no client can block it: each has a deadline, and at most 64
 * connections are open. If all are in use, a new connection replaces the oldest one in the order of
 * enum http_state.
 */
#pragma once

#include <stdint.h>

#include "client/command/export/export-body.h"
#include "client/command/export/http-connection.h"

enum { HTTP_CONNECTIONS_MAX = 64, HTTP_LISTENERS_MAX = 16 };

struct http_server {
	int listeners[HTTP_LISTENERS_MAX]; /* borrowed */
	unsigned n_listeners;
	uint64_t idle_ns;   /* the server ends after this time without a connection */
	uint64_t end_ns;    /* CLOCK_MONOTONIC; put off while there are connections */
	uint64_t looked_ns; /* when it last looked for new connections */
	uint64_t n_accepted;
	int error; /* of accept(2): the server ends, and a service manager restarts it */
	struct export_body body;
	struct http_connection connections[HTTP_CONNECTIONS_MAX];
};

/*
 * Serves connections of the listeners, and @fd, an open connection (-1: none), which the server
 * then owns. Without listeners, the server ends with that connection. The end loses no connection:
 * those in the queue of a listener stay there if another process has that listener, too. 0;
 * negative errno of accept(2), -ENOMEM.
 */
int http_server_run(struct http_server *server, int fd);
