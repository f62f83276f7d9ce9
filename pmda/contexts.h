/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmcd's clients. Each client is a context. The agent remembers its user, whether the site's rules
 * admit that user, and the counts below perfevent that the client was told.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pmda/view.h"

struct context {
	uint32_t uid, gid; /* UNCORE_UNKNOWN_USER: not known */
	int pid;           /* 0: not known */
	uint32_t *groups;  /* supplementary, as of when its process connected; may be NULL */
	uint32_t n_groups;
	bool knows_names; /* it was told names below perfevent */
	uint64_t *told;   /* counts below perfevent, as told last; perfevent_copy_counts() */
	enum admission admission; /* of contexts_review() */
	char refusal[1024];       /* uncored's sentence, if it is REFUSED */
};

/* The context of pmcd's @number. NULL: there is no memory. Valid until pmcd's next question. */
struct context *contexts_find(int number);

/* pmcd tells an attribute of the client: PMDA_ATTR_USERID and others. */
void contexts_learn(int number, int attribute, const char *value);

/* May this client be told the values of @view? UNDECIDED while there is no snapshot. */
enum admission contexts_review(struct context *context, const struct view *view);

/* The client has gone; its number may be reused. */
void contexts_end(int number);

/* Frees all contexts. */
void contexts_done(void);
