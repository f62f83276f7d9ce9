/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmicrohttpd serves all clients in one thread, and no client can block it: each has a deadline,
 * which bytes that trickle in do not put off. Beyond 64 connections new ones replace the oldest, in
 * the order of enum http_state. A reading is taken in the same thread, at most once a second:
 * nobody has anything else to wait for.
 */
#pragma once

#include <stdint.h>

#include "client/command/export/export.h"

struct MHD_Daemon;

/* libmicrohttpd may accept some connections of each listener at once, before others make room. */
enum {
	HTTP_CONNECTIONS_MAX = 64,
	HTTP_PLACES = HTTP_CONNECTIONS_MAX + 16,
	HTTP_LISTENERS_MAX = 16
};

enum http_state {
	HTTP_FREE,      /* there is no client */
	HTTP_ENDING,    /* it was shut down, and libmicrohttpd closes it in its next turn */
	HTTP_RECEIVING, /* the request is incomplete */
	HTTP_SENDING,   /* the client has not taken all of the answer */
};

struct http_client {
	enum http_state state;
	int fd;               /* libmicrohttpd's */
	uint64_t deadline_ns; /* while receiving and sending */
	uint64_t turn;        /* in which that began */
	struct MHD_Connection *connection;
};

struct http_server {
	int listeners[HTTP_LISTENERS_MAX]; /* borrowed; they do not block */
	unsigned n_listeners;
	uint64_t idle_ns; /* the server ends after this time without a connection */
	uint64_t end_ns;  /* CLOCK_MONOTONIC; put off while there are connections */
	uint64_t turn;    /* of libmicrohttpd, from 1 */
	struct export_wish wish;
	char *text; /* of the newest reading; NULL: there is none; owned */
	size_t n_bytes;
	uint64_t made_ns;                               /* when .text was complete */
	struct MHD_Daemon *daemons[HTTP_LISTENERS_MAX]; /* one for each listener */
	unsigned n_daemons, n_clients;
	bool has_closed; /* a connection, in the last turn */
	struct http_client clients[HTTP_LISTENERS_MAX * HTTP_PLACES];
};

/*
 * Serves connections of the listeners, and @fd, an open connection (-1: none), which the server
 * then owns. Without listeners, the server ends with that connection. The end loses no connection:
 * those in the queue of a listener stay there if another process has that listener, too. 0, or
 * -ENOMEM.
 */
int http_server_run(struct http_server *server, int fd);
