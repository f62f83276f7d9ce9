/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one team of processes measured on one node, or several nodes joined: the one form that all
 * reports of regions have between the table in memory, a table for people, and JSON
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
};

/* One metric of one region on one socket. */
struct record_value {
	uint64_t count;
	uint32_t quality; /* UNCORE_ABSENT: .count means nothing */
	char *why;        /* of an absent value; owned; NULL otherwise */
	double sampling;  /* standard error, where only some stretches were measured; 0: all were;
			     NAN: not known */
};

/* Bytes that belong to a region itself where regions overlap (client/estimate); per metric. */
struct record_estimate {
	bool is_known; /* false: .why says why there is none */
	bool is_bound; /* the rate is 0, and .count an upper bound */
	double count;
	double error; /* standard; NAN: not known */
	char *why;    /* owned, or NULL */
};

struct record_socket {
	uint32_t socket;
	int64_t package;        /* the kernel's number of it; -1: not known */
	uint64_t window_ns;     /* sum of the times in which the region was open and measured */
	uint64_t skew_ns;       /* of the readings at both ends, summed: see struct uncore_delta */
	uint64_t quantum_bytes; /* by which rounding may make each count differ, summed; 0: exact */
	struct record_value values[UNCORE_METRICS_MAX];
};

struct record_work {
	char unit[RECORD_UNIT_BYTES]; /* "" ends the list */
	double amount;                /* of all ranks */
};

struct record_region {
	char name[RECORD_NAME_BYTES];
	uint64_t n_passages;  /* that ended, of all ranks, also the failed ones */
	uint64_t n_failed;    /* ... without figures */
	uint64_t n_open;      /* that had not ended when the record was made */
	uint64_t n_died;      /* that a process died inside */
	uint64_t n_ranks;     /* members that entered it */
	uint64_t time_ns;     /* of the ended passages, summed over threads and ranks */
	uint64_t lost_ns;     /* time in which it was open, but not measured (deaths, restarts) */
	uint64_t shared_ns;   /* of the window, the time in which other regions were open too */
	int64_t n_others;     /* of a job: others that were open meanwhile; -1: not known */
	uint64_t n_stretches; /* from the first rank in to the last one out */
	uint64_t n_measured;  /* ... that stand for all of them: the sockets' figures are scaled */
	uint32_t n_sockets;   /* 0: no figures */
	struct record_socket *sockets; /* owned; by socket */
	struct record_work work[RECORD_UNITS_MAX];
	struct record_estimate *estimates; /* owned; n_sockets x n_metrics, or NULL */
	/* Of several records joined, which may have several regions of a name (join.h): */
	uint32_t run;  /* of which run, from 1; 0: there is one, or it is of none */
	uint32_t node; /* of which record alone, from 1; 0: it is a sum of nodes */
};

/* A process of the team. */
struct record_member {
	int64_t rank; /* -1: none */
	int32_t pid;
	bool died;     /* without leaving the team */
	char cpus[64]; /* on which it may run, as a list: "0-3,8" (cut with "...") */
};

/*
 * What calls of begin and end took: those that read the counters, and of the others those that were
 * timed.
 */
struct record_cost {
	uint64_t n_reading, reading_ns;
	uint64_t n_timed, timed_ns;
};

struct record {
	char host[256];                 /* "": several, joined */
	char team[128];                 /* "": a process alone */
	char step[128];                 /* of a process alone: its job step's team; or "" */
	char job[64];                   /* the batch system's name of the job, or "" */
	char command[256];              /* of the reporting process */
	const char *rows;               /* what the table calls its rows; NULL: "region" */
	char version[32];               /* of uncored that wrote the record */
	char platform[UNCORE_NAME_MAX]; /* "": never connected */
	uint64_t generation[2];
	int64_t begun_ns, ended_ns; /* CLOCK_REALTIME: first join, end or present; 0: not known */
	uint32_t run;               /* of this team; later runs have higher numbers */
	uint32_t n_expected;        /* members that the launcher announced; 0: not known */
	uint32_t n_members;
	struct record_member *members; /* owned */
	struct record_cost cost;
	uint32_t n_metrics;
	char metrics[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char units[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char failure[1024]; /* the last failure, a sentence; "" */
	char warning[1536]; /* what limits the whole record, sentences; "" */
	uint32_t n_regions;
	struct record_region *regions; /* owned; in the order of their first begin */
};

/* Frees what @record owns, and empties it. */
void record_done(struct record *record);

struct record_list {
	struct record *records; /* owned */
	uint32_t n;
};

enum { RECORDS_MOST = 65536 }; /* in a list */

/* Takes @record, which is empty then. -E2BIG; -ENOMEM. */
int record_list_add(struct record_list *list, struct record *record);

/* Drops all records but the first @n. */
void record_list_cut(struct record_list *list, uint32_t n);

/* Frees what @list owns, and empties it. */
void record_list_done(struct record_list *list);

/* Of the members that the launcher announced for the team; 0 also where it announced none. */
uint32_t record_count_not_joined(const struct record *record);

/* Adds a sentence to what limits the record; cut where there is no room. */
_printf_(2, 3) void record_warn(struct record *record, const char *format, ...);
