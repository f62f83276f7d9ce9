/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers names in the order in which they come, by a hash. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct names {
	bool of_hosts; /* a domain does not count for the hash */
	uint32_t n;
	char **all; /* owned */
	uint32_t n_slots;
	uint32_t *slots; /* owned; number of a name + 1; 0: free */
};

/* The number of this name, which is @names->n before a name that is new. -ENOMEM. */
int64_t names_add(struct names *names, const char *name);

bool names_have(const struct names *names, const char *name);

/* Is this host among those of hosts, with or without its domain? */
bool names_have_host(const struct names *names, const char *host);

void names_done(struct names *names);
