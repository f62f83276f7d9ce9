/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a team: what processes that count together share (common/team.h). A process alone
 * has one, too, in memory of its own. It outlives every member, so nothing in it is a pointer, a
 * lock of a C library, or of a size that depends on one.
 *
 * Each member owns a *slot*, and with it a row of *cells*, one per region: its passages and their
 * time. Nobody else writes there while the member lives. The bytes of a region belong to all
 * members together; stretch.h says how they are written.
 *
 * All processes of a user may write to its tables. So whatever is read from a table is checked
 * before it becomes an index: arrays have fixed sizes, and table_*() functions give no place
 * outside of them. A table that another program overwrites gives wrong figures, and no more.
 *
 * The memory is sparse. A region takes 256 bytes, a record one page for each 5 sockets, and a cell
 * 64 bytes: 1000 regions of 576 members with two sockets take 41 MB, and no table more than
 * TEAM_BYTES_MAX.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/estimate/estimate.h"
#include "client/libuncore/uncore.h"
#include "common/page.h"
#include "common/team.h"

enum {
	TABLE_LAYOUT = 1, /* of all below: members of another layout are another team */
	TABLE_MEMBERS_MAX = TEAM_SLOTS_MAX,
	TABLE_REGIONS_MAX = 1000,
	/* One for each region, one to write for each member, and one that is lost for each member
	 * that is killed while it changes one. */
	TABLE_RECORDS = TABLE_REGIONS_MAX + TABLE_MEMBERS_MAX + 512,
	TABLE_NAME_BYTES = 64, /* of a region, with the final NUL */
	TABLE_UNITS = 3,       /* kinds of work of a region */
	TABLE_UNIT_BYTES = 16,
	TABLE_FAILURE_BYTES = 1024,
};

/* --- bytes --- */

/* Where the sums of a socket end: its last reading. */
struct table_reading {
	uint64_t generation[2];
	uint64_t sweep; /* 0: there was none */
	uint64_t begin_ns, end_ns;
	struct table_count {
		uint64_t count;
		uint32_t quality;
		uint32_t reserved;
	} values[UNCORE_METRICS_MAX];
};

struct table_socket {
	uint64_t window_ns;
	uint64_t skew_ns;
	uint64_t shared_ns;  /* of the window: other regions were open, too */
	uint64_t n_readings; /* whose differences were added */
	struct table_count sums[UNCORE_METRICS_MAX];
	uint64_t shared[UNCORE_METRICS_MAX]; /* of the sums: other regions were open, too */
	uint64_t opened[UNCORE_METRICS_MAX]; /* the sums when the present stretch began */
	double squares[UNCORE_METRICS_MAX];  /* of what the measured stretches moved, each */
	struct table_reading last;
};

/* The bytes of one region, of all members. Never changed once a region's word names it. */
struct table_record {
	uint64_t n_stretches; /* from an opening to the next close */
	uint64_t n_measured;  /* ... that began with a reading */
	uint64_t lost_ns;     /* open, but without a reading at the end */
	uint32_t n_sockets;   /* with sums; 0: none */
	uint32_t is_measured; /* the stretch that is open began with a reading */
	struct table_socket sockets[PAGE_SOCKETS_MAX];
};

/* --- regions --- */

struct table_region {
	uint64_t hash;   /* atomic: of the name; 0: there is no such region yet */
	uint64_t word;   /* atomic: see stretch.h */
	uint64_t n_died; /* atomic: passages of dead members whose slot others have now */
	uint64_t reserved[5];
	char name[TABLE_NAME_BYTES];
	char units[TABLE_UNITS][TABLE_UNIT_BYTES]; /* of work */
	char padding[80];
};

/* --- members --- */

/* What calls of begin and end took; cost.h. */
struct table_cost {
	uint64_t n_calls, time_ns; /* atomic */
};

enum table_phase { TABLE_FREE, TABLE_JOINED, TABLE_LEFT, TABLE_DIED };

struct table_slot {
	uint64_t state;       /* atomic: incarnation << 8 | enum table_phase */
	uint32_t spare;       /* the record that this member writes next; 0: none */
	uint32_t is_changing; /* the spare record may already be a region's */
	int32_t pid;          /* in its own pid namespace */
	uint32_t n_threads;   /* atomic: that have begun a region, and live */
	int64_t rank;         /* -1: none */
	char cpus[64];        /* on which it may run: "0-3,8" */
	char padding[32];     /* the costs have a cache line of their own */
	struct table_cost reading, other;
	char more_padding[96];
};

struct table_cell {
	uint32_t lock;    /* atomic: odd while the rest is being written */
	uint32_t inside;  /* atomic: threads */
	uint64_t n_ended; /* passages; the failed ones, too */
	uint32_t n_failed;
	uint32_t n_abandoned; /* whose thread ended */
	uint64_t time_ns;     /* of those that ended */
	uint64_t begun_ns;    /* sum of the times at which those that are open began; wraps */
	double work[TABLE_UNITS];
};

/* Time that a member's threads spent in regions that they began inside of this one. */
struct table_nest {
	uint32_t lock;              /* atomic: odd while the rest is being written */
	uint32_t inside;            /* threads */
	uint64_t time_ns, begun_ns; /* as in a cell */
	uint64_t reserved;
};

/* --- what regions that overlap moved --- */

/* The moment at which the team was last looked at for the estimate; observe.h. */
struct table_observed {
	uint64_t at_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t generation[2];
	uint64_t n_died;    /* members, so far */
	uint64_t n_threads; /* of all members */
	uint64_t own_ns[ESTIMATE_REGIONS_MAX];
	struct {
		uint64_t counts[UNCORE_METRICS_MAX];
		uint64_t qualities[UNCORE_METRICS_MAX];
	} sockets[PAGE_SOCKETS_MAX];
};

enum { TABLE_ESTIMATE_BYTES = 5 << 20 }; /* the most that estimate_bytes() asks for */

/* --- all --- */

struct table_header {
	uint64_t magic;
	uint32_t layout;
	uint32_t is_described;    /* atomic: the machine below is known */
	uint32_t ending;          /* atomic: see team.h */
	uint32_t is_reported;     /* atomic: somebody was told what is in the table */
	uint32_t n_records;       /* atomic: that were ever handed out */
	uint32_t n_expected;      /* members, as the launcher says; 0: it does not */
	uint32_t every;           /* each so-manyth stretch of a region is measured; 0: each */
	uint32_t sockets;         /* atomic: bits of those that any member wants; 0: all */
	uint32_t n_joined;        /* atomic: members, so far */
	uint32_t n_slots;         /* atomic: that were ever taken: the first ones */
	uint64_t begun_ns;        /* CLOCK_REALTIME: the first member joined */
	uint64_t ended_ns;        /* ... the last one left */
	uint64_t last_reading_ns; /* atomic: CLOCK_MONOTONIC, the last reading of any member */
	uint64_t last_look_ns;    /* atomic: the last time that somebody looked for the dead */
	uint64_t quantum;         /* bytes */
	uint64_t observer;        /* atomic: the member that observes (observe.c); 0: none */
	uint64_t gap_ns;          /* atomic: readings for the estimate are so far apart */
	uint64_t site_gap_ns;     /* ... because the site holds back fresh reads */
	uint64_t sweep_ns;        /* by the observer alone: what a sweep takes, smoothed */
	uint64_t observation_ns;  /* ... and CPU time of an observation */
	uint32_t failing;         /* atomic, 1: .failure is being written */
	uint32_t run;
	/* the machine */
	uint32_t n_sockets, n_metrics;
	uint64_t generation[2];
	char platform[UNCORE_NAME_MAX];
	char names[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char units[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char whys[UNCORE_METRICS_MAX][UNCORE_TEXT_MAX]; /* of absent metrics */
	/* the team */
	char name[TEAM_NAME_BYTES];
	char host[256];
	char job[64];
	char command[256];
	char failure[TABLE_FAILURE_BYTES]; /* the last one, a sentence */
	/* since 0.2; an older member leaves 0 */
	uint32_t n_packages;
	uint32_t packages[PAGE_SOCKETS_MAX]; /* the kernel's number of each socket */
};

struct table {
	struct table_header header;
	char padding[8192 - sizeof(struct table_header)];
	struct table_slot slots[TABLE_MEMBERS_MAX];
	struct table_region regions[TABLE_REGIONS_MAX];
	struct table_cell cells[TABLE_MEMBERS_MAX][TABLE_REGIONS_MAX];
	struct table_nest nests[TABLE_MEMBERS_MAX][ESTIMATE_REGIONS_MAX];
	struct table_observed observed; /* by the observer alone */
	uint64_t estimate[TABLE_ESTIMATE_BYTES / sizeof(uint64_t)];
	struct table_record records[TABLE_RECORDS]; /* the first is none */
};

static_assert(sizeof(struct table_region) == 256, "table_region");
static_assert(sizeof(struct table_slot) == 256, "table_slot");
static_assert(sizeof(struct table_cell) == 64, "table_cell");
static_assert(sizeof(struct table_nest) == 32, "table_nest");
static_assert(sizeof(struct table_header) < 8192, "table_header");
static_assert(sizeof(struct table) <= TEAM_BYTES_MAX, "table");

/* The bytes to ask uncored for: whole pages of any size in use. */
uint64_t table_bytes(void);

/* A table for this process alone, empty; for table_unmap(). NULL: out of memory. */
struct table *table_new(void);

/*
 * Maps @fd, of @size_bytes, and begins the table if nobody has. *@ret is for table_unmap().
 * -EBADMSG: it is no table of this layout; errno of mmap(2).
 */
int table_map(int fd, uint64_t size_bytes, struct table **ret);
void table_unmap(struct table *table);

/* Describes the machine in the table, or checks that it is described alike. -ESTALE: it is not. */
int table_describe(struct table *table, const struct uncore *handle);

/* The index of the region of this name, which is added if need be. -ENOSPC: there are too many. */
int table_find_or_add(struct table *table, const char *name);

/* The number of the unit in which work in this region is told; added if need be. -ENOSPC. */
int table_find_or_add_unit(struct table *table, unsigned region, const char *unit);

/* How many regions there are. */
unsigned table_count_regions(const struct table *table);

/* Keeps a sentence for the report, unless another member is keeping one now. */
void table_keep_failure(struct table *table, const char *sentence);

/* Keeps why a metric is absent, if no member has. */
void table_keep_why(struct table *table, unsigned metric, const char *why);

/*
 * Copies between a table, where others may write at the same time, and memory of this process. The
 * copy may be torn, but the behaviour is defined. @size_bytes is a multiple of 8, and both places
 * are aligned to 8.
 */
void table_copy(void *to, const void *from, size_t size_bytes);

/* Writes @text into a field of a table, cut where it does not fit. */
void table_write_text(char *field, const char *text, size_t field_bytes);
#define TABLE_WRITE_TEXT(field, text) table_write_text(field, text, sizeof(field))

/* Copies a field of a table; "": it is no plain text. */
void table_read_text(char *ret_text, const char *field, size_t field_bytes);
#define TABLE_READ_TEXT(ret_text, field)                                                           \
	({                                                                                         \
		static_assert(sizeof(ret_text) >= sizeof(field), "text");                          \
		table_read_text(ret_text, field, sizeof(field));                                   \
	})

static inline enum table_phase table_phase(const struct table *table, unsigned slot)
{
	return (enum table_phase)(
		__atomic_load_n(&table->slots[slot].state, __ATOMIC_SEQ_CST) & 0xff);
}

/* Is a thread of this member inside the region, as far as is known? Looks at no cell of a slot that
 * nobody has, because looking would make memory of it. */
static inline bool table_is_inside(const struct table *table, unsigned slot, unsigned region)
{
	return table_phase(table, slot) == TABLE_JOINED &&
	       __atomic_load_n(&table->cells[slot][region].inside, __ATOMIC_SEQ_CST);
}

/* Bits of the sockets that are measured. */
static inline uint32_t table_sockets(const struct table *table)
{
	uint32_t mask = __atomic_load_n(&table->header.sockets, __ATOMIC_RELAXED);

	return mask ? mask : UINT32_MAX;
}

/* How many slots were ever taken. */
static inline unsigned table_count_slots(const struct table *table)
{
	uint32_t n = __atomic_load_n(&table->header.n_slots, __ATOMIC_SEQ_CST);

	return n < TABLE_MEMBERS_MAX ? n : TABLE_MEMBERS_MAX;
}
