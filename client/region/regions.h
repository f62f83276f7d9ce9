/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions of this process: its membership in a team, its connection, and its data on each
 * region. passage.c uses them; snapshot.c makes a record of them.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "client/region/counter.h"
#include "client/region/meter.h"
#include "client/region/state.h"
#include "client/region/team.h"
#include "client/trace/ring.h"

enum {
	REGION_NAME_MAX = TABLE_NAME_BYTES,
	REGION_DEPTH_MAX = 32,
	REGION_BUCKETS = 256,
};

/* One region, as this process knows it. */
struct region {
	struct region *next; /* in its bucket; atomic */
	char name[REGION_NAME_MAX];
	unsigned index;             /* in the table */
	pthread_mutex_t lock;       /* protects this process's cell and all below; held briefly */
	unsigned n_given_up;        /* how often all of its passages were given up */
	unsigned n_leaving;         /* threads that said that they are about to leave */
	uint64_t usual_ns, last_ns; /* of its passages; see pace.h */
	struct failure failure;     /* of the last begin that took a reading */
};

struct span;

/* Passages that no thread's stack holds; see span.c. */
struct spans {
	pthread_mutex_t lock;
	struct span *list; /* owned; NULL: there was none yet */
	uint32_t free;     /* the first free place in it */
};

/* What the process is in; see own-state.c. */
struct states {
	pthread_mutex_t lock; /* held during a change */
	bool is_over;         /* the process exits */
	struct own_state {
		char name[REGION_NAME_MAX];
		uint32_t n_threads;     /* inside */
		struct state_turn turn; /* the last one; .now: UNCORE_STATE_LEFT before the first */
	} list[TABLE_STATES];
};

/* All regions of one process. */
struct regions {
	struct team team;
	struct meter meter;
	struct spans spans;
	struct states states;
	struct trace_file *trace; /* NULL: none is wanted */
	struct counter_wish misses;
	struct regions *inherited; /* in a forked child: the parent's, which it must not touch */
	pthread_mutex_t lock;      /* held to add a region, and to count threads */
	struct region *buckets[REGION_BUCKETS]; /* by name; read without the lock */
	struct region *others;                  /* the names that have no room; atomic */
};

/* A passage begins or ends. @lane: of a span, or of a state, above those of spans; else 0. */
static inline void regions_trace(const struct regions *regions, enum trace_kind kind,
	unsigned region, uint64_t time_ns, uint64_t lane)
{
	if (regions->trace)
		trace_note(regions->trace, kind, time_ns, region, lane);
}

/* The regions of this process, made at the first call. NULL: out of memory. */
struct regions *regions_get(void);

/* The regions of this process. NULL: there are none yet. */
struct regions *regions_now(void);

/* Between these two calls no thread makes this process's regions and thereby joins a team. The
 * first call waits for a thread that is doing so. False: out of memory. */
bool regions_hold(void);
void regions_release(void);

/* The region of this name, added if need be; names that have no room share one. -EINVAL: it cannot
 * be a name; -ENOMEM; each with a sentence. One that is known is not checked again. */
int regions_find_or_add(struct regions *regions, const char *name, struct region **ret);

/* Does the region have this name, or is this one of the names that share it? */
bool regions_has_name(struct regions *regions, const struct region *region, const char *name);

/* This process exits: it takes part in no state any more. */
void regions_leave_states(struct regions *regions);

/* Threads that end from now on do not call the library, which may be unloaded: one that is a static
 * part of a module goes with it. */
void regions_forget_threads(void);

/* -EINVAL, with a sentence that begins with @what: @text is not UTF-8 of 1 to @size_bytes - 1 bytes
 * without control characters. */
int region_check_text(const char *what, const char *text, size_t size_bytes);

static inline int region_check_name(const char *name)
{
	return region_check_text("A region's name", name, REGION_NAME_MAX);
}

/* Keeps the failure @r, with the calling thread's sentence, for the report. Returns @r. */
static inline int regions_remember(struct regions *regions, int r)
{
	if (r < 0)
		table_keep_failure(regions->team.table, uncore_error_text());
	return r;
}

/* Sets the sentence. Returns -ENOMEM. */
int regions_no_memory(void);

/* What a program calls is @function with the regions of the process. */
#define REGIONS_CALL(function, ...)                                                                \
	({                                                                                         \
		_keeps_errno_;                                                                     \
		struct regions *regions_ = regions_get();                                          \
		regions_ ? regions_remember(regions_, function(regions_, __VA_ARGS__))             \
			 : regions_no_memory();                                                    \
	})
