/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run of a job: a file, from its begin until its record is written. The file is changed in
 * place. Its first page says which parts of the rest are valid. One write(2) replaces this page as
 * a whole, so a process that dies leaves either the old state or the new one. No change needs more
 * room than the file has, so an end cannot fail in a full folder.
 *
 *	first page | samples of the begin, one for each socket | the record, as text
 *
 * A process holds a lock on the file (flock(2)) from the begin until there is a reading, and from
 * the end until the record is written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/jobstore/counts.h"
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

/* 1 to 64 bytes of plain text. */
bool job_key_is_valid(const char *key);

enum {
	RUN_WHY_MAX = 1024, /* bytes of a sentence, with the final NUL */
	RUN_TO_MAX = 1024,  /* ... of the path of a folder */
};

enum run_state {
	RUN_BEGINNING = 1, /* no reading yet, or the process that began it was killed */
	RUN_BEGUN,
	RUN_FAILED, /* the begin has no reading: .why */
	RUN_ENDED,  /* the record is there */
};

struct run_head {
	char magic[8];
	uint32_t state;
	uint32_t uid; /* UNCORE_UNKNOWN_USER: it was never begun */
	char id[JOB_ID_BYTES];
	char key[JOB_KEY_BYTES]; /* "": none */
	int64_t begun_real_ns;   /* CLOCK_REALTIME, to show; if never begun, of the end */
	uint64_t begun_ns;       /* CLOCK_MONOTONIC; 0: it was never begun */
	struct packages packages;
	struct counts_base base;
	uint32_t n_sockets; /* of the samples */
	uint32_t text_bytes;
	char platform[UNCORE_NAME_MAX];
	uint64_t generation[2];
	uint64_t daemon_started_ns;
	uint64_t quantum;
	char why[RUN_WHY_MAX];
	char to[RUN_TO_MAX]; /* of an end: absolute path of the folder for the record; "": none */
};

/* Did this release, or a compatible one, make it? */
bool run_head_is_whole(const struct run_head *head);

struct run {
	int fd; /* -1: not open */
	struct run_head head;
};

static inline bool run_is_open(const struct run *run)
{
	return run->head.state != RUN_ENDED;
}

void run_close(struct run *run);

/* Takes the open file from @run. */
static inline struct run run_take(struct run *run)
{
	const struct run taken = *run;

	run->fd = -1;
	return taken;
}

/*
 * Makes the file @name of @head, which is not open in the folder @folder_fd yet, with room for what
 * follows, and locks it. Errors of open(2), write(2) and fallocate(2).
 */
int run_create(int folder_fd, const char *name, const struct run_head *head, struct run *ret);

/* Opens a run. @access: O_RDWR, or O_RDONLY for a process that may have no permission for more.
 * -EBADMSG: another release made it; errors of open(2) and read(2). */
int run_open(int folder_fd, const char *name, int access, struct run *ret);

/* -EWOULDBLOCK: another process holds the lock. */
int run_lock(const struct run *run);

/* Writes the samples, run->head.n_sockets of them, and then the first page. */
int run_keep_reading(struct run *run, const struct uncore_sample samples[]);

/* Writes the first page. */
int run_keep_head(const struct run *run);

/* *@ret_samples is for free(3). -EBADMSG: another release wrote them. */
int run_read_samples(const struct run *run, struct uncore_sample **ret_samples);

/* Writes the record. The run has then ended. */
int run_end(struct run *run, const char *text);

/* *@ret_text, the record, is for free(3). */
int run_read_text(const struct run *run, char **ret_text);

/* --- all files of jobs: locks with a deadline, and writes that are whole --- */

/* Locks the file @fd (flock(2)). -ETIMEDOUT: another process held the lock until @deadline_ns. */
int file_lock(int fd, uint64_t deadline_ns);

/* 0; -ENOSPC: only a part was written; errors of pwrite(2). */
int file_write(int fd, const void *data, size_t size_bytes, off_t at);
