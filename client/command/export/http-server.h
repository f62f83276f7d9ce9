/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread serves all clients, and no client can keep it: each has its time, and at most 64
 * connections are open. Where there are as many, a newcomer takes the place of the oldest request
 * that is incomplete.
 */
#pragma once

#include <stdint.h>

#include "client/command/export/export-body.h"
#include "client/command/export/http-connection.h"

enum { HTTP_CONNECTIONS_MAX = 64, HTTP_LISTENERS_MAX = 16 };

struct http_server {
	int listeners[HTTP_LISTENERS_MAX]; /* borrowed */
	unsigned n_listeners;
	uint64_t idle_ns;   /* ends when nobody has come for so long */
	uint64_t end_ns;    /* CLOCK_MONOTONIC; put off while there are connections */
	uint64_t looked_ns; /* when it last looked for newcomers */
	uint64_t n_accepted;
	int error; /* of accept(2): it ends, and a service manager starts it anew */
	struct export_body body;
	struct http_connection connections[HTTP_CONNECTIONS_MAX];
};

/*
 * Serves connections of the listeners, and @fd, a connection that is there already (-1: there is
 * none), which becomes the server's. Without listeners it ends with that one. No connection is lost
 * when it ends: where somebody else has the listeners, too, those in their queues stay there. 0;
 * negative errno of accept(2), -ENOMEM.
 */
int http_server_run(struct http_server *server, int fd);
