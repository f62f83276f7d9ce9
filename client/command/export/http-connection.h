/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client's connection, for one request and its answer. No function waits for the client: each
 * goes on as far as it can at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/command/export/http-request.h"

/* In the order in which they make room for a new connection. */
enum http_state {
	HTTP_FREE,      /* there is no connection */
	HTTP_DRAINING,  /* the answer has been sent; the client has not closed yet */
	HTTP_RECEIVING, /* the request is incomplete */
	HTTP_SENDING,   /* the client has not taken all of the answer */
	HTTP_ASKING,    /* for the metrics: http_connection_answer() is next; never makes room */
};

/* How long a client may take to send its request, again to take the answer, and then to close. */
static const uint64_t HTTP_STEP_NS = UINT64_C(2000000000), HTTP_DRAIN_NS = UINT64_C(1000000000);

struct http_connection {
	enum http_state state;
	int fd;
	uint64_t number; /* a later connection has a higher number */
	uint64_t deadline_ns;
	bool without_body;
	size_t n_received; /* bytes of the head; while draining, of what is thrown away */
	size_t n_sent, n_bytes;
	char *answer; /* head and body; owned */
	char head[HTTP_HEAD_MAX];
};

/* Closes the connection that was in this place, and begins one with @fd, which it then owns. */
void http_connection_begin(struct http_connection *connection, int fd, uint64_t number);

/* Goes on after the client has sent or taken something, or has closed. */
void http_connection_go_on(struct http_connection *connection);

/* Answers a request with @body. Without memory for the answer, the connection closes. */
void http_connection_answer(struct http_connection *connection, enum http_status status,
	const char *body, size_t n_bytes);

/* The deadline has passed: answers with a timeout, or closes. */
void http_connection_expire(struct http_connection *connection);

void http_connection_close(struct http_connection *connection);
