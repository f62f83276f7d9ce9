/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a team: memory that processes share to count together (common/team.h). A process
 * without a team has a table, too (own-table.h). A shared table outlives every member. So it
 * contains no pointers, no locks of a C library, and no types whose size depends on one.
 *
 * Each member owns a *slot*, and with it a row of *cells*, one per region: its passages and their
 * time. No other process writes there while the member lives. The bytes of a region belong to all
 * members together; see stretch.h.
 *
 * All processes of a user may write to its tables. So every value from a table is checked before it
 * becomes an index. Arrays have fixed sizes, and the table_*() functions return no place outside of
 * them. If another program overwrites a table, the only damage is wrong figures.
 *
 * The memory is sparse. A region takes 256 bytes, a record one page for each 3 sockets, and a cell
 * 64 bytes: 1000 regions of 576 members with two sockets take 46 MB, and no table more than
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
	TABLE_LAYOUT = 3, /* version of all below; another layout is another team */
	TABLE_MEMBERS_MAX = TEAM_SLOTS_MAX,
	TABLE_REGIONS_MAX = 1000,
	TABLE_OTHERS = TABLE_REGIONS_MAX - 1, /* one region for all names that have no room */
	TABLE_OTHERS_LISTED = 20,
	/* One for each region, one spare for each member, and one that is lost for each member that
	 * is killed while it changes one. */
	TABLE_RECORDS = TABLE_REGIONS_MAX + TABLE_MEMBERS_MAX + 512,
	TABLE_NAME_BYTES = 64, /* of a region, with the final NUL */
	TABLE_STATES = 8,
	TABLE_UNITS = 3, /* kinds of work of a region */
	TABLE_UNIT_BYTES = 16,
	TABLE_EVENT_BYTES = 32,
	TABLE_WHY_BYTES = 256,
	TABLE_FAILURE_BYTES = 1024,
	TABLE_TITLE_BYTES = 2048, /* the longest text of a table */
};

#define TABLE_MAGIC 0x756e636f74656d01ULL

/* --- bytes --- */

/* The last reading of a socket: its sums end there. */
struct table_reading {
	uint64_t generation[2];
	uint64_t sweep; /* 0: there was none */
	uint64_t begin_ns, end_ns;
	uint64_t sole;   /* the region that was alone from then on, if others stay as they were */
	uint64_t others; /* entries into other regions before it, or ALONE_NOT; see alone.h */
	struct table_count {
		uint64_t count;
		uint32_t quality;
		uint32_t reserved;
	} values[UNCORE_METRICS_MAX];
};

struct table_socket {
	uint64_t window_ns;
	uint64_t skew_ns;
	uint64_t alone_ns;   /* part of the window in which the region was alone (alone.h) */
	uint64_t n_readings; /* number of differences that were added */
	struct table_count sums[UNCORE_METRICS_MAX];
	uint64_t alone[UNCORE_METRICS_MAX];   /* part of the sums: the region was alone */
	uint64_t foreign[UNCORE_METRICS_MAX]; /* ... another region was alone, a nested one */
	/* of windows with gaps (window.h); .alone_windows of a state's row: all that they moved */
	uint64_t stale[UNCORE_METRICS_MAX]; /* moved in windows that say little; not in the sums */
	double mixed[UNCORE_METRICS_MAX];   /* part of the sums: in gaps while others were open */
	uint64_t alone_windows[UNCORE_METRICS_MAX]; /* part of .alone: in windows with gaps */
	float least[UNCORE_METRICS_MAX];            /* ... the least of a window for each stretch */
	struct table_reading last;
};

/* The bytes of one region, of all members. Read-only once a region's word names the record. */
struct table_record {
	uint64_t lost_ns; /* time open that no reading covers */
	/* the region at the last reading, see window.h */
	uint64_t n_stretches, n_gaps, n_idle, gap_ns;
	/* windows with gaps */
	uint64_t n_windows, windows_ns, window_stretches, stale_stretches;
	/* windows with gaps in which no other region was open */
	uint64_t alone_windows, alone_stretches, alone_window_ns, alone_gaps, alone_gap_ns;
	uint32_t n_sockets; /* with sums; 0: none */
	uint32_t was_open;  /* at the last reading */
	struct table_socket sockets[PAGE_SOCKETS_MAX];
};

/* --- regions --- */

struct table_region {
	uint64_t hash;   /* atomic: of the name; 0: no region yet */
	uint64_t word;   /* atomic: see stretch.h */
	uint64_t n_died; /* atomic: passages of dead members whose slot was reused */
	/* atomic: see window.h */
	uint64_t n_stretches;        /* from the first member in to the last one out */
	uint64_t gap_ns;             /* sum of the gaps between them */
	uint64_t opened_ns, left_ns; /* CLOCK_MONOTONIC: begin and end of the last stretch */
	uint64_t usual_ns;           /* about the median of a stretch; 0: not known yet */
	char name[TABLE_NAME_BYTES];
	char units[TABLE_UNITS][TABLE_UNIT_BYTES]; /* of work */
	uint64_t n_gaps;                           /* atomic: that have ended */
	uint64_t n_idle;         /* atomic: how often a window went on without a member */
	uint64_t has_spans;      /* atomic: passages that no thread's stack holds */
	uint64_t has_title, row; /* atomic; .row: state.h */
	/* atomic, see misses.h: of all passages; passages that ended and were counted */
	uint64_t misses, n_counted, reserved[3];
};

/* --- members --- */

/* Time of calls of begin and end; see cost.h. */
struct table_cost {
	uint64_t n_calls, time_ns; /* atomic */
};

enum table_phase {
	TABLE_FREE,
	TABLE_JOINED,
	TABLE_LEFT,
	TABLE_DIED,
	TABLE_OBSERVES, /* takes one reading; is not a process of the team (member_observe()) */
};

struct table_slot {
	uint64_t state;       /* atomic: incarnation << 8 | enum table_phase */
	uint32_t spare;       /* this member's spare record; 0: none */
	uint32_t is_changing; /* the spare may already be a region's record */
	int32_t pid;          /* in its own pid namespace */
	uint32_t n_threads;   /* atomic: threads that began a region and live */
	int64_t rank;         /* -1: none */
	char cpus[64];        /* CPUs on which it may run: "0-3,8" */
	char padding[32];     /* the costs have a cache line of their own */
	struct table_cost reading, other;
	uint64_t passages;        /* atomic: see alone.h */
	struct table_cost misses; /* calls of begin and end, and what counting added to them */
	char more_padding[72];
};

struct table_cell {
	uint32_t lock;    /* atomic: odd while the rest is being written */
	uint32_t inside;  /* atomic: threads */
	uint64_t n_ended; /* passages, also failed ones */
	uint32_t n_failed;
	uint32_t n_abandoned; /* passages whose thread ended */
	uint64_t time_ns;     /* of the passages that ended */
	uint64_t begun_ns;    /* sum of the begin times of open passages; wraps */
	double work[TABLE_UNITS];
};

/* Time that a member's threads spent in regions that they began inside this one. */
struct table_nest {
	uint32_t lock;              /* atomic: odd while the rest is being written */
	uint32_t inside;            /* threads */
	uint64_t time_ns, begun_ns; /* as in a cell */
	uint64_t passages;          /* atomic: see alone.h */
};

/* --- what regions that overlap moved --- */

/* State of the team at the last observation for the estimate; see observe.h. */
struct table_observed {
	uint64_t at_ns; /* CLOCK_MONOTONIC; 0: not yet */
	uint64_t generation[2];
	uint64_t n_died;    /* members, so far */
	uint64_t n_threads; /* of all members */
	uint64_t own_ns[ESTIMATE_REGIONS_MAX];
	uint64_t n_entries[ESTIMATE_EDGES_MAX], n_inside[ESTIMATE_EDGES_MAX]; /* threads */
	struct {
		uint64_t counts[UNCORE_METRICS_MAX];
		uint64_t qualities[UNCORE_METRICS_MAX];
	} sockets[PAGE_SOCKETS_MAX];
};

/* Traffic while no region was open; see outside.h. */
enum table_kind { TABLE_CALL, TABLE_GAP, TABLE_PAUSE, TABLE_KINDS };

/* One metric on one socket, in bytes and ns. NAN: not known. */
struct table_series {
	double bytes;
	double squares; /* sum of bytes^2; of calls and pauses, divided by the time */
	double most;    /* in a gap; of calls and pauses, rate of a piece */
	double piece;   /* of the next piece, so far */
};

struct table_outside {
	/* the last reading */
	uint64_t at_ns;   /* CLOCK_MONOTONIC; 0: none yet */
	uint64_t entered; /* see alone.h; ALONE_NOT: a region was open */
	uint64_t was_call;
	uint64_t generation[2];
	struct {
		uint64_t counts[UNCORE_METRICS_MAX];
	} sockets[PAGE_SOCKETS_MAX];
	struct table_times {
		uint64_t n, time_ns;
		uint64_t n_pieces;
		uint64_t piece_ns; /* of the next piece, so far */
		struct table_series series[PAGE_SOCKETS_MAX][UNCORE_METRICS_MAX];
	} kinds[TABLE_KINDS];
};

enum { TABLE_ESTIMATE_BYTES = 12 << 20 }; /* the most that estimate_bytes() asks for */

/* --- all --- */

struct table_header {
	uint64_t magic;
	uint32_t layout;
	uint32_t is_described;    /* atomic: the machine below is known */
	uint32_t ending;          /* atomic: see team.h */
	uint32_t is_reported;     /* atomic: the table has been reported */
	uint32_t n_records;       /* atomic: records handed out so far */
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
	uint32_t overhead;        /* atomic: the first member's wish, see window.h; 0: none yet */
	uint32_t other_overhead;  /* atomic: of another member, which differs; 0: none */
	uint32_t wants_pair;      /* atomic: see window.h */
	uint64_t n_edges;         /* atomic: readings at which no region was open */
	uint32_t n_regions;       /* atomic: at least so many regions have names */
	uint64_t quantum;         /* bytes */
	uint64_t observer;        /* atomic: the member that observes (observe.c); 0: none */
	uint64_t gap_ns;          /* atomic: gap between readings for the estimate */
	uint64_t site_gap_ns;     /* least gap_ns, because the site holds back fresh reads */
	uint64_t sweep_ns;        /* written only by the observer: time of a sweep, smoothed */
	uint64_t observation_ns;  /* ... and CPU time of an observation */
	uint32_t failing, run;    /* .failing is atomic; 1: .failure is being written */
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
	struct table_cell cells[TABLE_MEMBERS_MAX][TABLE_REGIONS_MAX];
	struct table_nest nests[TABLE_MEMBERS_MAX][ESTIMATE_REGIONS_MAX];
	struct table_observed observed; /* written by the observer */
	struct table_outside outside;   /* ... also */
	char others[TABLE_OTHERS_LISTED][TABLE_NAME_BYTES];
	uint64_t estimate[TABLE_ESTIMATE_BYTES / sizeof(uint64_t)];
	struct table_record records[TABLE_RECORDS];        /* number 0 means no record */
	char titles[TABLE_REGIONS_MAX][TABLE_TITLE_BYTES]; /* what short names stand for */
};

static_assert(sizeof(struct table_region) == 256, "table_region");
static_assert(sizeof(struct table_slot) == 256, "table_slot");
static_assert(sizeof(struct table_cell) == 64, "table_cell");
static_assert(sizeof(struct table_nest) == 32, "table_nest");
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

/* Is a thread of this member inside the region, as far as is known? Reads no cell of an unused
 * slot, because that would allocate its memory. */
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

/* The number of slots that were ever taken. */
static inline unsigned table_count_slots(const struct table *table)
{
	uint32_t n = __atomic_load_n(&table->header.n_slots, __ATOMIC_SEQ_CST);

	return n < TABLE_MEMBERS_MAX ? n : TABLE_MEMBERS_MAX;
}
