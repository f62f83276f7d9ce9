/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams with a table that uncored keeps: those that run, and those that ended and were not
 * reported. */
#pragma once

#include <stdint.h>

#include "client/report/record.h"

struct kept {
	struct record record;
	unsigned n_living; /* processes; 0: it has ended */
};

/* Which teams. */
struct kept_choice {
	uint32_t uid;     /* UNCORE_UNKNOWN_USER: the caller's */
	const char *name; /* NULL: any */
};

struct kept_list {
	struct kept *teams; /* owned */
	uint32_t n;
	uint32_t n_unreadable;    /* tables of another release, or corrupt */
	char why_unreadable[768]; /* the last one, a sentence */
};

/*
 * All teams of @choice that any process has joined, the oldest first. 0; negative errno:
 * uncore_error_text() has the sentence, or it is -ENOMEM. *@ret is for kept_done() in any case.
 */
int kept_get(const struct kept_choice *choice, struct kept_list *ret);
void kept_done(struct kept_list *list);

/* Makes uncored forget the teams of @list that have ended. Errors as kept_get(). */
int kept_forget(const struct kept_choice *choice, const struct kept_list *list);
