/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a team: memory that processes share to count together (common/team.h). A process
 * without a team has a table, too (own-table.h). A shared table outlives every member. So it
 * contains no pointers, no locks of a C library, and no types whose size depends on one.
 *
 * Each member owns a *slot*, and with it a row of *cells*, one per region: its passages and their
 * time. No other process writes there while the member lives. The bytes belong to all members
 * together: a reading ends an *interval* of the team, and each interval is added to the *sums* of
 * the regions that were open in it; see interval.h.
 *
 * All processes of a user may write to its tables. So every value from a table is checked before it
 * becomes an index. Arrays have fixed sizes, and the table_*() functions return no place outside of
 * them. If another program overwrites a table, the only damage is wrong figures.
 *
 * The memory is sparse. A region takes 256 bytes, its sums one page for each 4 sockets, and a cell
 * with what belongs to it 128 bytes. No table is larger than TEAM_BYTES_MAX.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "common/page.h"
#include "common/team.h"

enum {
	TABLE_LAYOUT = 4, /* version of all below; another layout is another team */
	TABLE_MEMBERS_MAX = TEAM_SLOTS_MAX,
	TABLE_REGIONS_MAX = 1000,
	TABLE_OTHERS = TABLE_REGIONS_MAX - 1, /* one region for all names that have no room */
	TABLE_OTHERS_LISTED = 20,
	TABLE_OUTSIDE = TABLE_REGIONS_MAX, /* place of threads and bytes that are in no region */
	TABLE_PLACES,
	TABLE_POSTS = 32,      /* readings that may wait to be added */
	TABLE_NAME_BYTES = 64, /* of a region, with the final NUL */
	TABLE_STATES = 8,
	TABLE_ROWS = 4,  /* of a state */
	TABLE_UNITS = 3, /* kinds of work of a region */
	TABLE_UNIT_BYTES = 16,
	TABLE_EVENT_BYTES = 32,
	TABLE_WHY_BYTES = 256,
	TABLE_FAILURE_BYTES = 1024,
	TABLE_TITLE_BYTES = 2048, /* the longest text of a table */
};

/* Fields that other processes may read and write at any time: each access is whole, and orders no
 * other. */
#define LOAD(field)         __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* Where a lock keeps others from writing. */
#define ADD(field, amount) STORE(field, (field) + (amount))

/* Writes @value if the field is as @expected, which then is what it was. */
#define REPLACE(field, expected, value)                                                            \
	__atomic_compare_exchange_n(                                                               \
		&(field), &(expected), value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#define TABLE_MAGIC 0x756e636f74656d01ULL

/* --- bytes --- */

/* A reading of all sockets. */
struct table_post {
	uint64_t at_ns; /* atomic, see post.h: CLOCK_MONOTONIC, the middle of its sweeps */
	uint64_t begin_ns, end_ns; /* of all of them */
	uint64_t n_sockets;
	uint64_t rows_ns[TABLE_STATES]
			[TABLE_ROWS]; /* how long each row was open until then: state.h */
	struct uncore_sample sockets[PAGE_SOCKETS_MAX]; /* .sweep 0: it was not read */
};

/* What a region, or a row of a state, did in an interval. */
struct table_part {
	uint16_t place; /* TABLE_OUTSIDE: threads in no region */
	uint8_t is_open, is_alone;
	uint64_t own_ns;  /* of threads whose innermost region it was; of a row, its time */
	uint64_t open_ns; /* part of the interval in which it may have been open */
	/* its share of the bytes is from .before_ns to .before_ns + .own_ns of .total_ns */
	uint64_t before_ns, total_ns;
};

/* An interval, between two readings. It is complete before anything is added to the sums. */
struct table_interval {
	uint64_t from_ns;            /* 0: nothing was read before */
	uint64_t total_ns;           /* of all threads, and at least of all parts */
	uint32_t n_parts, n_sockets; /* .n_sockets: of .moved; 0: uncored began to count anew */
	struct uncore_delta moved[PAGE_SOCKETS_MAX]; /* .n_values 0: not read at both ends */
	struct table_post to;
	struct table_part parts[TABLE_PLACES];
};

/* The bytes of a region on one socket: the intervals in which it was open. */
struct table_socket {
	uint64_t open_ns, alone_ns; /* lengths of the intervals */
	uint64_t skew_ns, n_readings;
	struct table_sum {
		uint64_t all, alone, share;
		uint32_t quality, reserved;
	} metrics[UNCORE_METRICS_MAX];
};

/* There are two copies of each value, [0] and [1]: one is written while the other stays. */
struct table_sums {
	uint64_t number[2];  /* atomic: of the last interval in it; the higher one counts */
	uint64_t lost_ns[2]; /* time open that no reading covers */
	uint64_t n_sockets[2];
	struct table_socket sockets[PAGE_SOCKETS_MAX][2];
};

/* --- regions --- */

struct table_region {
	uint64_t hash; /* atomic: of the name; 0: no region yet */
	char name[TABLE_NAME_BYTES];
	char units[TABLE_UNITS][TABLE_UNIT_BYTES]; /* of work */
	uint64_t has_spans;      /* atomic: it ever had passages that no thread's stack holds */
	uint64_t has_title, row; /* atomic; .row: state.h */
	/* atomic, see misses.h: of all passages; passages that ended and were counted */
	uint64_t misses, n_counted;
	uint64_t has_sums;                 /* atomic: there is room for them */
	uint64_t unit_hashes[TABLE_UNITS]; /* atomic */
	uint64_t reserved[8];
};

/* --- members --- */

/* Time of calls of begin and end; see pace.h. */
struct table_cost {
	uint64_t n_calls, time_ns; /* atomic */
};

enum table_phase {
	TABLE_FREE,
	TABLE_JOINED,
	TABLE_LEFT,
	TABLE_DIED,
	TABLE_OBSERVES, /* takes one reading; is not a process of the team */
};

struct table_slot {
	uint64_t state;        /* atomic: incarnation << 8 | enum table_phase */
	int32_t pid, reserved; /* in its own pid namespace */
	int64_t rank;          /* -1: none */
	char cpus[64];         /* CPUs on which it may run: "0-3,8" */
	char padding[40];      /* the costs have a cache line of their own */
	struct table_cost reading, other;
	struct table_cost misses; /* calls of begin and end, and what counting added to them */
	char more_padding[80];
	/* atomic: bits of the cells that were ever used */
	uint64_t used[(TABLE_PLACES + 63) / 64];
};

/*
 * One region, as the threads of one member go through it. A time that goes on is kept as the sum of
 * its ends less the sum of its begins: at a time t it is .own_ns + .running * t. All wraps.
 */
struct table_cell {
	uint32_t lock;    /* atomic: odd while the rest is being written */
	uint32_t inside;  /* atomic: passages that are open */
	uint32_t running; /* threads whose innermost region it is */
	uint32_t reserved;
	uint64_t n_left;            /* passages that are not open any more */
	uint64_t time_ns, begun_ns; /* of passages that ended; sum of the begins of open ones */
	uint64_t own_ns;            /* of threads whose innermost region it is */
	uint64_t opened_ns;         /* the first thread came in */
	uint64_t stopped_ns;        /* a thread left, or went into another region: the last time */
};

struct table_work {
	double work[TABLE_UNITS];
	uint32_t n_failed;
	uint32_t n_abandoned; /* passages whose thread ended */
	uint64_t n_died;      /* ... whose process did, a former owner of the slot */
};

/* What of a cell is in the sums. */
struct table_seen {
	uint64_t n_left, own_ns, inside;
};

/* --- all --- */

struct table_header {
	uint64_t magic;
	uint32_t layout;
	uint32_t is_described;    /* atomic: the machine below is known */
	uint32_t ending;          /* atomic: see team.h */
	uint32_t is_reported;     /* atomic: the table has been reported */
	uint32_t n_expected;      /* members that the launcher announced; 0: not known */
	uint32_t sockets;         /* atomic: bits of the sockets that any member wants; 0: all */
	uint32_t n_joined;        /* atomic: members, so far */
	uint32_t n_slots;         /* atomic: slots 0 .. n_slots - 1 were ever taken */
	uint64_t begun_ns;        /* CLOCK_REALTIME: the first member joined */
	uint64_t ended_ns;        /* ... the last one left */
	uint64_t last_reading_ns; /* atomic: CLOCK_MONOTONIC, the last reading of any member */
	uint64_t last_look_ns;    /* atomic: the last look for dead members */
	uint64_t buried_ns;       /* atomic: CLOCK_MONOTONIC, an observer read what the dead held */
	uint64_t buried_after_ns; /* ... so long after a member was last known to live */
	uint64_t first_ns;        /* atomic: CLOCK_MONOTONIC, the first region was opened */
	uint64_t reading_ns;      /* atomic: about the median of a call that takes a reading */
	uint64_t readings_ns;     /* atomic: sum over all such calls */
	uint32_t overhead;        /* atomic: the first member's wish, see pace.h; 0: none yet */
	uint32_t other_overhead;  /* atomic: of another member, which differs; 0: none */
	uint32_t n_regions;       /* atomic: at least so many regions have names */
	uint64_t quantum;         /* bytes */
	/* of interval.h; atomic */
	uint64_t adder;            /* the member that adds intervals; 0: none */
	uint64_t n_posts, n_taken; /* posts so far; as many were there at the last look for them */
	uint64_t planned,
		added;        /* numbers of the last complete interval, and of the last added one */
	uint64_t seen_of;     /* ... and of the last one after which .seen was written */
	uint64_t ended_at_ns; /* the last interval ended then */
	uint64_t ended_from_ns; /* ... by a reading that began then */
	uint64_t n_anew;        /* intervals so far in which uncored began to count anew */
	uint64_t site_gap_ns;   /* least time between readings: the site holds back fresh reads */
	uint32_t failing, run;  /* .failing is atomic; 1: .failure is being written */
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
	char job[64], command[256];
	char failure[TABLE_FAILURE_BYTES]; /* the last one, a sentence */
	uint32_t n_packages;
	uint32_t packages[PAGE_SOCKETS_MAX]; /* the kernel's number of each socket */
	/* of a table in a file with a name: CLOCK_REALTIME when CLOCK_MONOTONIC was 0; else 0 */
	uint64_t boot_ns;
	/* CLOCK_MONOTONIC: uncored noticed that no member lived; 0: an observer did */
	uint64_t noticed_ns;
	char label[64];
	/* of misses.h */
	uint64_t misses_key; /* atomic: the event that members count; 0: not known yet */
	char misses_event[TABLE_EVENT_BYTES];
	uint64_t has_misses_why; /* atomic: a member writes the text below, or has done so */
	char misses_why[TABLE_WHY_BYTES]; /* why a thread does not count, a sentence */
};

struct table {
	struct table_header header;
	char padding[8192 - sizeof(struct table_header) - TABLE_STATES * 128];
	uint64_t states[TABLE_STATES][16]; /* see state.h */
	struct table_slot slots[TABLE_MEMBERS_MAX];
	struct table_region regions[TABLE_REGIONS_MAX];
	struct table_other {
		uint64_t hash; /* atomic, as of a region */
		char name[TABLE_NAME_BYTES];
	} others[TABLE_OTHERS_LISTED];
	struct table_post posts[TABLE_POSTS];
	struct table_interval intervals[2]; /* by the last bit of their number */
	struct table_cell cells[TABLE_MEMBERS_MAX][TABLE_PLACES];
	struct table_seen seen[TABLE_MEMBERS_MAX][TABLE_PLACES];
	struct table_work works[TABLE_MEMBERS_MAX][TABLE_REGIONS_MAX];
	struct table_sums sums[TABLE_PLACES];
	char titles[TABLE_REGIONS_MAX][TABLE_TITLE_BYTES]; /* what short names stand for */
};

static_assert(sizeof(struct uncore_sample) == 824, "uncore_sample");
static_assert(sizeof(struct uncore_delta) == 288, "uncore_delta");
static_assert(sizeof(struct table_region) == 256, "table_region");
static_assert(sizeof(struct table_slot) == 384, "table_slot");
static_assert(sizeof(struct table_cell) == 64, "table_cell");
static_assert(sizeof(struct table_header) < 8192, "table_header");
static_assert(sizeof(struct table) <= TEAM_BYTES_MAX, "table");

/* The size to ask uncored for: whole pages of any page size in use. */
uint64_t table_bytes(void);

/* An empty table for this process alone; for table_unmap(). NULL: out of memory. */
struct table *table_new(void);

/*
 * Maps @fd, of @size_bytes, and initialises the table if no member has. *@ret is for table_unmap().
 * -EBADMSG: it is not a table of this layout; errno of mmap(2).
 */
int table_map(int fd, uint64_t size_bytes, struct table **ret);
void table_unmap(struct table *table);

/* Describes the machine in the table, or compares it with the description there. A member adds the
 * sockets that it wants. -ESTALE: they differ. */
int table_describe(struct table *table, const struct uncore *handle, bool is_member);

/* The index of the region of this name, added if need be. TABLE_OTHERS: there are too many. */
unsigned table_find_or_add(struct table *table, const char *name);

/* The number of a unit of work of this region, added if need be. -ENOSPC: there are too many. */
int table_find_or_add_unit(struct table *table, unsigned region, const char *unit);

/* Is no other member inside of the region? A wrong answer, as of members that come and go at the
 * same moment, costs a reading or the sharpness of an interval, and no sum is wrong. */
bool table_is_only(const struct table *table, unsigned slot, unsigned region);

/* Keeps what a region's name is short for, cut to fit. The other way round "" if it has none. */
void table_keep_title(struct table *table, unsigned region, const char *title);
void table_read_title(const struct table *table, unsigned region, char ret[TABLE_TITLE_BYTES]);

/* The number of regions. */
unsigned table_count_regions(const struct table *table);

/* Keeps a sentence for the report, unless another member is writing one. */
void table_keep_failure(struct table *table, const char *sentence);

/* Keeps the reason why a metric is absent, unless a member has done so. */
void table_keep_why(struct table *table, unsigned metric, const char *why);

/*
 * Copies between a table and memory of this process. Other processes may write to the table
 * meanwhile: the copy may then be torn, but the behaviour is defined. @size_bytes is a multiple of
 * 8, and both places are aligned to 8.
 */
void table_copy(void *to, const void *from, size_t size_bytes);

/* Writes @text into a field of a table, cut to fit. */
void table_write_text(char *field, const char *text, size_t field_bytes);
#define TABLE_WRITE_TEXT(field, text) table_write_text(field, text, sizeof(field))

/* Copies a field of a table; "" if it is not plain text. */
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

/* Was the slot ever a member's? */
static inline bool table_has_member(const struct table *table, unsigned slot)
{
	const enum table_phase phase = table_phase(table, slot);

	return phase != TABLE_FREE && phase != TABLE_OBSERVES;
}

/* Was this cell ever used? To read another one would allocate its memory. */
static inline bool table_has_cell(const struct table *table, unsigned slot, unsigned place)
{
	return place == TABLE_OUTSIDE ||
	       (LOAD(table->slots[slot].used[place / 64]) >> place % 64 & 1);
}

static inline void table_use_cell(struct table *table, unsigned slot, unsigned place)
{
	__atomic_fetch_or(
		&table->slots[slot].used[place / 64], UINT64_C(1) << place % 64, __ATOMIC_SEQ_CST);
}

/* Bits of the sockets that are measured. */
static inline uint32_t table_sockets(const struct table *table)
{
	uint32_t mask = LOAD(table->header.sockets);

	return mask ? mask : UINT32_MAX;
}

/* The number of slots that were ever taken. */
static inline unsigned table_count_slots(const struct table *table)
{
	uint32_t n = __atomic_load_n(&table->header.n_slots, __ATOMIC_SEQ_CST);

	return n < TABLE_MEMBERS_MAX ? n : TABLE_MEMBERS_MAX;
}
