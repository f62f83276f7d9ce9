/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run of a job: a file of the folder (folder.h). It is replaced as a whole: the new file is
 * written under another name, put on the disk and renamed. So a process that dies leaves either the
 * old state or the new one. run_close_open() alone writes into a file that is there.
 *
 *	head | samples of the begin, one for each socket | the record, as text
 *
 * A process holds a lock on the file (flock(2)) from the begin until there is a reading, and from
 * the end until the record is written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/jobstore/packages.h"
#include "client/libuncore/uncore.h"

/*
 * The names of jobs and of their runs. An ID becomes a file name, so it is 1 to 64 letters, digits,
 * and "._+-", and does not begin with ".". The KEY of a run distinguishes runs of one ID.
 */
enum {
	JOB_ID_BYTES = 65,  /* with the final NUL */
	JOB_KEY_BYTES = 65, /* ... */
};

bool job_id_is_valid(const char *id);
#define JOB_ID_WANTED "an ID has 1 to 64 letters, digits and ._+-, and does not begin with a point"

/* 1 to 64 bytes of plain text. */
bool job_key_is_valid(const char *key);

enum {
	RUN_WHY_MAX = 1024,               /* bytes of a sentence, with the final NUL */
	RUN_TO_MAX = 1024,                /* ... of the path of a folder */
	RUN_NAME_MAX = JOB_ID_BYTES + 56, /* ... of the name of a file */
};

enum run_state {
	RUN_FOREIGN,   /* another release made the file, or it cannot be read */
	RUN_BEGINNING, /* no reading yet, or the process that began it was killed */
	RUN_BEGUN,
	RUN_FAILED, /* the begin has no reading: .why */
	RUN_ENDED,  /* the record is there */
	RUN_CUT,    /* the ID was begun again before its end: .why. Without a record at first */
};

struct run_head {
	char magic[8];
	uint32_t state;
	uint32_t uid; /* UNCORE_UNKNOWN_USER: it was never begun */
	char id[JOB_ID_BYTES];
	char key[JOB_KEY_BYTES]; /* "": none */
	int64_t begun_real_ns;   /* CLOCK_REALTIME, to show; if never begun, of the end */
	uint64_t begun_ns;       /* CLOCK_MONOTONIC; 0: it was never begun */
	uint64_t ended_ns;       /* the same; 0: not yet */
	struct packages packages;
	uint32_t n_sockets; /* of the samples */
	uint32_t text_bytes;
	char platform[UNCORE_NAME_MAX];
	uint64_t generation[2];
	uint64_t quantum;
	char why[RUN_WHY_MAX];
	char to[RUN_TO_MAX]; /* of an end: absolute path of the folder for the record; "": none */
};

/* What the name of the file says. */
enum run_kind {
	RUN_IS_OPEN = 1,    /* ID@BEGIN */
	RUN_IS_ENDED = 2,   /* ID@BEGIN.ended: not known to be written; that of its begin is void */
	RUN_IS_WRITTEN = 4, /* .ID@BEGIN.ended */
};

struct run {
	int fd; /* holds the lock; -1: none */
	enum run_kind kind;
	char base[RUN_NAME_MAX]; /* ID@BEGIN */
	uint32_t owner;          /* of the file */
	struct run_head head;
	struct uncore_sample *samples; /* owned; NULL: there are none that can be read back */
	char *text;                    /* owned: the record; NULL: there is none */
};

void run_done(struct run *run);

/* Sets .base by .head. */
void run_set_base(struct run *run);

void run_name(const struct run *run, enum run_kind kind, char ret_name[RUN_NAME_MAX]);

/* False: this is not the name of a run. Sets .kind, .base and .head.id. */
bool run_parse_name(const char *name, struct run *ret);

/* Opens the file of the run with the names of @named. -EBADMSG: another release made it; errors of
 * open(2) and read(2). */
int run_open(int folder_fd, const struct run *named, struct run *ret);

/* -EWOULDBLOCK: another process holds the lock. */
int run_lock(const struct run *run);

/* Makes the file of that @kind, or replaces it, and locks it instead of the one before. Errors of
 * open(2), write(2), fsync(2) and rename(2). The caller holds the lock on the folder. */
int run_write(int folder_fd, struct run *run, enum run_kind kind);

/* Writes the head alone into the file of an open run, and gives it the name of that @kind. This
 * needs no room. The same caller; errors of open(2), write(2) and rename(2). */
int run_close_open(int folder_fd, const struct run *run, enum run_kind kind);
