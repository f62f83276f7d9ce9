/* SPDX-License-Identifier: BSD-3-Clause */
/* The records that `uncore report` and `uncore job report` find in files. */
#pragma once

#include "client/command/frame/json-files.h"
#include "client/command/report/arrays.h"
#include "client/command/report/report-options.h"
#include "client/records/join.h"

struct found_files;

/* Who reads the files. */
struct found_reader {
	size_t most_bytes; /* of a file in a folder */
	bool may_fold;     /* its output needs nothing of single nodes */
	void *owner;       /* of the functions */
	bool (*wants)(const struct found_files *found, const char *name); /* a file in a folder */
	void (*read)(struct found_files *found, const struct json_file *file);
	/* Takes a record of another job than .options has; NULL: it is dropped. */
	void (*meet)(const struct found_files *found, struct record *record);
};

/* Records are kept as they are until there are many. */
struct found_files {
	const struct report_options *options;
	struct found_reader reader;
	struct predictions predictions; /* those of .options, and which ones fit */
	struct record_list list;
	struct join join; /* of many records, folded */
	struct twins twins;
	struct arrays arrays;
	char *notes; /* owned; what twins.kind.out writes */
	size_t notes_bytes;
	size_t n_regions;
	bool again;  /* files are read once more */
	int error;   /* of folding */
	bool failed; /* something could not be read */
};

/* *@ret is for found_done() in any case. 0; -ENOMEM. */
int found_begin(const struct report_options *options, const struct found_reader *reader,
	struct found_files *ret);
void found_done(struct found_files *found);

/* Can all files be read twice? A pipe is read once; the caller keeps what @kept had, or NULL. */
bool found_can_read_again(const struct report_options *options, const char *kept);

void found_read_all(struct found_files *found);

/* Takes the records of the list from @first on. 0; -E2BIG; -ENOMEM. */
int found_take(struct found_files *found, uint32_t first);

/* Ends the reading: .join is folded, and of one run, or .list has all records. 0; -ENOMEM. */
int found_end(struct found_files *found);
