/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins records of several nodes into one. Regions and metrics are matched by name, and sockets of
 * one number become one (join-sockets.h). If runs.h finds several runs, or records that are in no
 * run, the total has a region of the same name for each of them, and these are not summed.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "client/launcher/hostlist.h"
#include "client/records/machines.h"
#include "client/records/names.h"
#include "client/records/runs.h"
#include "client/report/ranks.h"

/* A region on one node. */
struct join_part {
	uint32_t record;                    /* its place in the list */
	uint32_t n_sockets;                 /* with figures; 0: none */
	const struct record_region *region; /* of that record; NULL: it was folded */
	uint64_t open_ns;                   /* how long it was open there and measured */
};

struct join_region {
	uint32_t name, group; /* the order of the regions: by name, then by run */
	bool lacks_work;      /* has more units of work than the sum has room for */
	uint32_t n_parts;
	struct join_part *parts; /* owned; in the order of the records */
	uint32_t n_metrics;
	double *counts;     /* owned; of the first n_metrics, of each part; NAN: not known */
	struct ranks ranks; /* owned; of all nodes, as far as they are known */
};

struct join {
	uint32_t n_records;
	struct record *records; /* owned */
	struct runs runs;       /* owned */
	uint32_t n_apart;       /* number of records that are in no run */
	uint32_t *places;       /* owned; of those: the place among those of the machine, from 1 */
	struct names hosts;     /* owned */
	struct names names, rows;    /* owned; of the regions, and of names and groups */
	struct record total;         /* without a host */
	struct join_region *regions; /* owned; as those of the total */
	bool lacks_metric;           /* the nodes have more metrics than the sum has room for */
	bool is_folded;              /* see join_fold() */
	uint32_t n_ranks;            /* at most, in all regions; see JOIN_RANKS_MOST */
};

/* Takes the records of @list, at least one, also on failure. @is_one_run: as runs_find() has found.
 * 0; -ENOMEM. */
int join_records(struct record_list *list, bool is_one_run, struct join *ret);

/*
 * For many nodes: adds one record to @join, which begins empty, and keeps little of it: no regions.
 * join_end_folding() returns -EXDEV if the records are not of one run. Both: 0; -E2BIG; -ENOMEM.
 */
int join_fold(struct join *join, struct record *record);
int join_end_folding(struct join *join);

/* Does the total have one region of each name, a sum of all nodes? */
static inline bool join_is_sum(const struct join *join)
{
	return join->runs.n_runs == 1 && !join->n_apart;
}

/* A host's name without its domain, cut, as plain text. */
void join_short_host(const struct record *record, char *ret_host, size_t size_bytes);

/* Tags for regions of the same name: "#2" is the second run; "@n01#2" the second record of this
 * host that is in no run; "" the only sum. */
enum { JOIN_TAG_MAX = 40 };
void join_tag(const struct join *join, const struct record_region *region, char ret[JOIN_TAG_MAX]);

/* A region of the total, with a name that is unique. It borrows all that it has. */
struct record_region join_row(const struct join *join, uint32_t region);
void join_write_name(const struct join *join, uint32_t region, char *ret_text); /* as a cell */

/* Joins the parts of a record other than regions: processes, metrics, times and cost. */
void join_head(const struct record *record, bool first, struct join *join);

void join_done(struct join *join);

enum { JOIN_RANKS_MOST = 1 << 22 }; /* of more, there is nothing */

/* What a part counted; NAN: not known. */
static inline double join_count(const struct join_region *region, uint32_t part, uint32_t metric)
{
	return metric < region->n_metrics
		       ? region->counts[part * (size_t)region->n_metrics + metric]
		       : NAN;
}

struct join_imbalance {
	double ratio;                 /* largest / mean over the nodes; NAN: not known */
	const struct record *largest; /* the node */
};

struct join_imbalance join_imbalance(const struct join *join, uint32_t region, uint32_t metric);

/* Is there a record of this host, with or without its domain? */
static inline bool join_has_host(const struct join *join, const char *name)
{
	return names_have_host(&join->hosts, name);
}

/* --- notes: what makes the sum too small or too large, one sentence per line --- */

/* Finds records that repeat others, and says so. */
struct twins {
	struct names seen; /* owned */
	struct note_kind kind;
};
bool notes_is_twin(struct twins *twins, const struct record *record);

/* Drops each record that repeats another one. */
void notes_leave_out_twins(struct record_list *list, FILE *out);

/* Writes the last line. */
void twins_done(struct twins *twins);

/* Writes all notes, also on runs, and on records that are in no run. */
void notes_write(const struct join *join, FILE *out);

/* "#2: 3 nodes, ", the time and the name of a run */
void notes_write_run(const struct join *join, uint32_t run, FILE *out);

/* "2026-11-21T22:45:01.123Z to an unknown time" */
void notes_write_span(FILE *out, int64_t begun_ns, int64_t ended_ns);

/* "user 1000" */
void notes_write_user(FILE *out, int64_t uid);

/* Writes which hosts of @expected have no record, and returns how many. */
size_t notes_write_missing(const struct join *join, const struct hostlist *expected, FILE *out);

/* --- output. @notes: the lines above. --- */

enum { JOIN_HOST_MOST = 16 };   /* characters of a host name in a cell */
enum { JOIN_PRINT_LINES = 60 }; /* lines of nodes that are printed by default, at most */

/* For people. @nodes: print each region of each node, even if they are many. 0; -ENOMEM. */
int join_print(FILE *out, const struct join *join, const char *notes, bool nodes);

/* Is it one run of a batch system's job? */
static inline bool join_is_job(const struct join *join)
{
	return join->total.rows && *join->total.job && join_is_sum(join) &&
	       join->total.n_regions == 1;
}

/* Parts of this output: such a job's heading and a line for each of its sockets; the ranks that
 * stand out, if any does. */
int join_print_job(FILE *out, const struct join *join, bool nodes);
void join_print_ranks(FILE *out, const struct join *join);

/*
 * As the members of an open object (uncore-report(5)): the records as they were read, their sum,
 * the imbalance, the notes, and the hosts of @expected that have no record. For a page, of each
 * node only its name and what each region counted there.
 */
void join_json(struct jsonwriter *json, const struct join *join, const struct hostlist *expected,
	const char *notes, bool is_page);

/* For pages, the member "rank_bins": for each region which of JOIN_BINS + 1 places between 0 and
 * the most have ranks, and how many. */
enum { JOIN_BINS = 240 };
void join_json_bins(struct jsonwriter *json, const struct join *join);

/* As CSV (client/report/csv.h): a line for each node, region, socket and metric, and for each unit
 * of work. */
void record_csv(FILE *out, const struct join *join);

/* Parts of this output. @run: the number of its run; 0: none, or it is not known. */
void record_csv_titles(FILE *out);
void record_csv_lines(FILE *out, const struct record *record, uint32_t run);
