/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings at the ends of intervals, as `uncore stat -I` takes them, and the rates between the last
 * two. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/frame/total.h"
#include "client/command/top/course.h"
#include "client/reader/reader.h"

enum figures_parts { FIGURES_SOCKETS, FIGURES_NODES, FIGURES_CHANNELS, FIGURES_PARTS };

struct figures {
	struct reader reader;
	enum figures_parts wanted; /* of the next figures_take() */
	struct parts parts;
	struct readout before, now;
	bool is_begun;         /* an interval begins with .before */
	struct total interval; /* the last one */
	uint32_t n_sockets, n; /* of .shown, parts behind the sockets; 0: there is no interval */
	struct format_socket *shown;
	struct courses courses;
	char failure[512]; /* a sentence; "": nothing failed */
};

/*
 * Connects, unless there is a connection, and takes a reading. If there was one before, .shown has
 * what passed between the two. A failure closes the connection. 0, negative errno.
 */
int figures_take(struct figures *figures);

/* The interval that runs has no end: the next reading begins one. */
void figures_break(struct figures *figures);

/* Shows these parts from the next reading on. */
void figures_want(struct figures *figures, enum figures_parts wanted);

/* How uncored is doing; all 0 if there is no connection. */
struct uncore_daemon figures_daemon(const struct figures *figures);

void figures_done(struct figures *figures);
