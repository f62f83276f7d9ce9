/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One table of a team, as uncored keeps it: a memfd that uncored never maps, reads or writes.
 *
 * The name of the memfd holds what uncored knows about the table. The kernel shows the name as the
 * target of the link /proc/PID/fd/N, and nobody can change it. So it comes back from the service
 * manager's store together with the descriptor. The manager's own name for the table is short,
 * because the manager passes all names in one string of the environment, which may have 128 KiB.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/team.h"

enum { TEAM_PLACES_MAX = 512 };

struct team {
	int fd;
	unsigned place; /* its number in the service manager's store */
	bool is_kept;   /* the manager has it, or there is no manager */
	uint32_t uid, run, layout;
	uint64_t account; /* of the uid at its last request; at first the uid */
	uint64_t bytes;
	uint64_t used_bytes; /* of memory, at the last team_measure() */
	uint64_t made_ns;
	uint64_t alive_ns; /* when it was last found alive; 0: not by this process */
	uint64_t ended_ns; /* when it was first found ended; 0: it was alive at the last look */
	uint64_t met[TEAM_PLACES_MAX / 64]; /* bits of the places of tables of this uid that were
					       alive while this one was */
	char other[TEAM_NAME_BYTES];        /* the first of these; "": none */
	uint64_t again_ns;                  /* the last look took long, and counts until then */
	bool is_dear;                       /* takes too long to look at, so it counts as ended */
	char name[TEAM_NAME_BYTES];
};

/* May a table have @size_bytes? */
bool team_may_have(uint64_t size_bytes);

/* Makes team->fd, for team->uid, ->run, ->layout, ->made_ns, ->name and ->bytes. Errno of
 * memfd_create(2), ftruncate(2), fcntl(2). */
int team_make_memfd(struct team *team);

/* Reads these fields back from a memfd; ret->fd is @fd. False: @fd is not a memfd that
 * team_make_memfd() made and sealed. */
bool team_read_memfd(int fd, struct team *ret);

/* Finds out how much memory the table takes. */
void team_measure(struct team *team);

/* Has its last member reported it (common/team.h), or did nobody fill it? */
bool team_is_reported(struct team *team);

/* The two were alive at the same time: both count the same bytes. */
void team_meet(struct team *team, struct team *other);
unsigned team_count_others(const struct team *team);

/* Is the table alive? If not, notes when that was first found. */
bool team_is_alive(struct team *team, uint64_t now_ns);
