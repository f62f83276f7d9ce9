/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agent remembers of pmcd's clients, each of which is a context: who it is, whether the
 * site's rules let it be told what uncored says, and what it was told of the names below perfevent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pmda/view.h"

struct context {
	uint32_t uid, gid; /* UNCORE_UNKNOWN_USER: nobody has said */
	int pid;           /* 0: nobody has said */
	uint32_t *groups;  /* supplementary, as its process had them when it came; may be NULL */
	uint32_t n_groups;
	bool knows_names; /* below perfevent */
	uint64_t *told;   /* the counts there that it was told last; perfevent_copy_counts() */
	enum admission admission; /* of contexts_review() */
	char refusal[1024];       /* uncored's sentence, if it is REFUSED */
};

/* Of pmcd's number. NULL: there is no memory. It stays where it is until the next question. */
struct context *contexts_find(int number);

/* pmcd says who the client is: PMDA_ATTR_USERID, and others. */
void contexts_learn(int number, int attribute, const char *value);

/* May this client be told what @view has? UNDECIDED while there is no snapshot. */
enum admission contexts_review(struct context *context, const struct view *view);

/* The client has gone; its number may come again. */
void contexts_end(int number);

/* ... and so has the agent. */
void contexts_done(void);
