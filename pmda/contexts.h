/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agent remembers of pmcd's clients, each of which is a context: who it is, whether the
 * site's policy lets it be told what uncored says, and what it was told of the names below
 * perfevent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pmda/view.h"

struct context {
	uint32_t uid, gid; /* UNCORE_UNKNOWN_USER: nobody has said */
	int pid;           /* 0: nobody has said */
	bool knows_names;  /* below perfevent */
	uint64_t *told;    /* the counts there at that time, or later; perfevent_copy_counts() */
	enum admission admission;
	unsigned asked;     /* the connection of the view that answered; 0: none */
	uint64_t asked_ns;  /* ... and when: CLOCK_MONOTONIC */
	char refusal[1024]; /* uncored's sentence */
};

/* Of pmcd's number. NULL: there is no memory. It stays where it is until the next question. */
struct context *contexts_find(int number);

/* pmcd says who the client is: PMDA_ATTR_USERID, and others. */
void contexts_learn(int number, int attribute, const char *value);

/*
 * May this client be told what @view has? Asks uncored once for each connection of the view, which
 * ends when the policy becomes another one that keeps people out; a refusal stands for a second,
 * for nothing ends when the policy lets more people in. Without a snapshot the last answer stands:
 * there is nothing to tell then but what the client was told already.
 */
enum admission contexts_review(struct context *context, struct view *view);

/* The client has gone; its number may come again. */
void contexts_end(int number);

/* ... and so has the agent. */
void contexts_done(void);
