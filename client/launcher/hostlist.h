/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of hosts as Slurm writes them: "n[01-03,7],login1", "r[1-2]n[1-4]". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { HOSTLIST_MOST = 65536, HOSTLIST_NAME_MAX = 256 };

struct hostlist {
	size_t n_names;
	char **names; /* owned; in the order of the list */
};

/* 0; -EINVAL: @text is not such a list; -E2BIG: more than HOSTLIST_MOST; -ENOMEM. */
int hostlist_parse(const char *text, struct hostlist *ret);

/* For a sentence behind such an error: what the text should be. */
const char *hostlist_wanted(int error);

/* Are both names of the same host? A name with a domain matches the name without it. */
bool hostlist_is_same(const char *name, const char *other);

void hostlist_done(struct hostlist *list);
