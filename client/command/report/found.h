/* SPDX-License-Identifier: BSD-3-Clause */
/* The records that `uncore report` and `uncore job report` find in files. */
#pragma once

#include "client/command/report/arrays.h"
#include "client/command/report/met.h"
#include "client/command/report/report-options.h"
#include "client/records/join.h"

/* Records are kept as they are until there are many. */
struct found_files {
	const struct report_options *options;
	struct predictions predictions; /* those of .options, and which ones fit */
	struct record_list list;
	struct join join; /* of many records, folded; at the end of all */
	struct twins twins;
	struct arrays arrays;
	struct met_jobs met;
	char *notes; /* owned; what twins.kind.out writes */
	size_t notes_bytes;
	size_t n_regions;
	bool may_fold; /* the output needs nothing of single nodes */
	bool again;    /* files are read once more */
	bool others;   /* ... those of other jobs on .join's hosts; nothing is said */
	int error;     /* -ENOMEM; of folding */
	bool failed;   /* something could not be read */
};

/* *@ret is for found_done() in any case. 0; -ENOMEM. */
int found_begin(const struct report_options *options, struct found_files *ret);
void found_done(struct found_files *found);

/* Reads all files; of those in folders the ones whose names are right. */
void found_read_all(struct found_files *found);

/* Takes the records of the list from @first on. 0; -E2BIG; -ENOMEM. */
int found_take(struct found_files *found, uint32_t first);

/* Leaves one run of the job in the list: the one with the key, or the last; the notes name the
 * others. @ret_n: how many runs are left; 0: there is none with this key. 0; -ENOMEM. */
int found_choose_run(struct found_files *found, uint32_t *ret_n);
