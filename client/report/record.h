/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurements of one team of processes on one node, or of several nodes joined. All reports of
 * regions use this form, between the table in memory, a table for people, and JSON
 * (uncore-report(5)). Nothing here reads a counter.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"

enum {
	RECORD_SCHEMA = 1,      /* version of the JSON */
	RECORD_UNITS_MAX = 4,   /* kinds of work of one region */
	RECORD_UNIT_BYTES = 16, /* with the final NUL */
	RECORD_NAME_BYTES = 64, /* of a region, with the final NUL */
	RECORD_FAILURE_BYTES = 1024,
	RECORD_WARNING_BYTES = 1536,
};

/*
 * One metric of one region on one socket. While regions overlap, the count holds the bytes of all
 * of them. uncore-numbers(7) explains the terms, client/region/interval.h how they come about.
 *
 *     alone <= share <= count
 */
struct record_value {
	uint64_t count;
	uint64_t share, alone;
	bool has_share;   /* of a region; else the two are meaningless */
	uint32_t quality; /* UNCORE_ABSENT: the numbers are meaningless */
	char *why;        /* reason if absent; owned; else NULL */
};

/* Of several sockets as one: what does not follow from their counts and windows, which are sums. */
struct record_sums {
	uint32_t n; /* sockets */
	struct record_sum {
		double bound, rate, rate_bound;
	} of[UNCORE_METRICS_MAX];
};

struct record_socket {
	uint32_t socket;
	int64_t package;        /* the kernel's number of it; -1: not known */
	uint64_t window_ns;     /* sum of the times in which the region was open and measured */
	uint64_t skew_ns;       /* sum over the readings at both ends: see struct uncore_delta */
	uint64_t quantum_bytes; /* bound of the rounding error of each count, summed; 0: exact */
	int64_t n_others;       /* of a job: other jobs that were open meanwhile; -1: not known */
	int64_t early_ns, late_ns; /* of a job on a node: how far the window extends beyond it */
	int64_t age_ns;            /* ... and of one that goes on: how old the last reading is */
	struct record_value values[UNCORE_METRICS_MAX];
	struct record_sums *sums; /* owned; NULL: it is one socket */
};

struct record_work {
	char unit[RECORD_UNIT_BYTES]; /* "" ends the list */
	double amount;                /* of all ranks */
	double predicted;             /* bytes of each; 0: nobody predicts it */
};

/* What the team's own threads missed in the last-level cache, or another event of UNCORE_MISSES,
 * while the region was their innermost. Neither event nor reason: nobody asked for it. */
struct record_misses {
	char event[32]; /* "": there is none */
	uint64_t count;
	char *absent; /* why there is no count, a sentence; owned, or NULL */
};

/* Of the time of a member: it ended inside. */
#define RECORD_NOT_KNOWN_NS UINT64_MAX

struct record_region {
	char name[RECORD_NAME_BYTES];
	char *title;         /* owned: what the name is short for; NULL: nothing */
	uint64_t n_passages; /* ended passages of all ranks, also failed ones */
	uint64_t n_failed;   /* ended passages without figures */
	uint64_t n_open;     /* passages that were open when the record was made */
	uint64_t n_died;     /* passages inside which a process died */
	uint64_t n_ranks;    /* members that entered it */
	uint64_t time_ns;    /* of the ended passages, summed over threads and ranks */
	uint64_t *member_ns; /* owned; of each member, over its threads, also of open passages so
			      * far; 0: it did not enter. NULL: not known */
	uint64_t lost_ns;    /* time in which it was open, but not measured (deaths, restarts) */
	uint64_t shared_ns;  /* part of the window in which other regions were open too */
	int64_t n_others;    /* those of the socket that had most, or -1 */
	bool is_row;         /* of a state (client/region/state.h) */
	uint32_t n_sockets;  /* 0: no figures */
	struct record_socket *sockets; /* owned; by socket */
	struct record_work work[RECORD_UNITS_MAX];
	struct record_misses misses;
	/* Only if several records are joined, with several regions of one name (join.h): */
	uint32_t run;  /* number of its run, from 1; 0: the only run, or none */
	uint32_t node; /* number of its only record, from 1; 0: a sum of nodes */
};

/* A process of the team. */
struct record_member {
	int64_t rank; /* -1: none */
	int32_t pid;
	bool died;     /* ended without leaving the team */
	uint32_t slot; /* in the table of which the record is made; else 0 */
	char cpus[64]; /* CPUs on which it may run: "0-3,8" (cut with "...") */
};

/*
 * The time of calls of begin and end: of those that read the counters, and of the timed ones among
 * the others.
 */
struct record_cost {
	uint64_t n_reading, reading_ns;
	uint64_t n_timed, timed_ns;
	uint64_t n_misses, misses_ns; /* timed calls, and what counting misses added to them */
};

/* What a batch system says of a job on a node, which is a record with one region. */
struct record_batch {
	int64_t uid;    /* -1: not known */
	double seconds; /* NAN: not known */
	char exit[64];
	uint64_t monotonic_ns; /* tells records apart that are equal in all else */
	uint32_t n_unused;     /* sockets that the job could not use */
};

struct record {
	char host[256];                 /* "": several hosts, joined */
	char team[128];                 /* "": a process alone */
	char step[128];                 /* of a process alone: name of its job step; or "" */
	char job[65];                   /* the batch system's name of the job, or "" */
	char label[64];                 /* that the user gave the run, or "" */
	char command[256];              /* of the reporting process */
	const char *rows;               /* "job": of a batch system's job; NULL: of regions */
	struct record_batch batch;      /* of a batch system's job */
	unsigned line;                  /* of the table: characters; 0: as its stream has */
	char version[32];               /* of uncored that wrote the record */
	char platform[UNCORE_NAME_MAX]; /* "": never connected */
	uint64_t generation[2];
	uint32_t machine; /* among joined records: its number (client/records/machines.h) */
	uint32_t beside;  /* ... and that of the record, from 1, that is taken instead; 0: none */
	uint32_t step_number;       /* ... and that of its job step (client/records/steps.h) */
	int64_t begun_ns, ended_ns; /* CLOCK_REALTIME: first join, end or present; 0: not known */
	uint32_t run;               /* of this team; later runs have higher numbers */
	uint32_t n_expected;        /* members that the launcher announced; 0: not known */
	uint32_t n_members;
	struct record_member *members; /* owned; NULL also if they were left out of a sum */
	uint32_t n_died;               /* of those left out */
	struct record_cost cost;
	uint32_t n_metrics;
	char metrics[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char units[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char *failure; /* the last failure, a sentence; owned, or NULL */
	char *warning; /* caveats on the whole record, sentences; owned, or NULL */
	uint32_t n_regions;
	struct record_region *regions; /* owned; in the order of their first begin */
	struct record_region *outside; /* owned: of threads that were in none, or sockets that a
					* job could not use; only its sockets matter. NULL: there
					* are none, or they are not known */
};

/* Is it of a job on one node? What is written of it has no processes, and nothing derived. */
static inline bool record_is_short(const struct record *record)
{
	return record->rows && *record->host;
}

/* Has it no figures? The failure says why. */
static inline bool record_is_incomplete(const struct record *record)
{
	return record->rows && record->failure;
}

/* The time in which it was open, as far as it is known. */
int64_t record_first_ns(const struct record *record);
int64_t record_last_ns(const struct record *record);

/* Frees what @record owns, and empties it. */
void record_done(struct record *record);

/* And what is outside of them. The rest stays. */
void record_drop_regions(struct record *record);

struct record_list {
	struct record *records; /* owned */
	uint32_t n;
};

enum { RECORDS_MOST = 65536 }; /* in a list */

/* Moves @record into the list, and empties it. -E2BIG; -ENOMEM. */
int record_list_add(struct record_list *list, struct record *record);

/* Drops all records but the first @n. */
void record_list_cut(struct record_list *list, uint32_t n);

/* Frees what @list owns, and empties it. */
void record_list_done(struct record_list *list);

/* How many members that the launcher announced did not join; 0 also if it announced none. */
uint32_t record_count_not_joined(const struct record *record);

/* How many members ended without leaving. */
uint32_t record_count_died(const struct record *record);

/* Adds a sentence to the warning of the record; cut if there is no room. */
_printf_(2, 3) void record_warn(struct record *record, const char *format, ...);

/* Is part of the region's traffic not in its counts? */
bool record_has_hole(const struct record_region *region);
