/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of the newest reading. A thread takes the readings, so a client waits for uncored only
 * if it asked for the metrics. One reading answers all requests within a second.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/command/export/export.h"

struct export_body {
	struct export_wish wish;
	int done_fd; /* readable: export_body_finish() is next */
	bool is_busy;
	pthread_t thread;
	uint64_t made_ns; /* when .text was complete */
	char *text;       /* NULL: there is none; owned */
	size_t n_bytes;
	char *next_text; /* the thread's, while it runs; owned */
	size_t next_n_bytes;
};

/* 0, or a negative errno. */
int export_body_init(struct export_body *body, const struct export_wish *wish);

/* Is .text at most a second old? */
bool export_body_is_fresh(const struct export_body *body);

/* Begins a reading, unless one is under way. */
void export_body_begin(struct export_body *body);

/* Puts the finished reading into .text. NULL: there was no memory for it. */
void export_body_finish(struct export_body *body);

/* Waits for a reading that is under way. */
void export_body_done(struct export_body *body);
