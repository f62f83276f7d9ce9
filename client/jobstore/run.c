/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/text.h"

enum {
	HEAD_BYTES = 4096,
	/* Enough for a record, unless it has many long reasons. */
	TEXT_BYTES = 2048,
	TEXT_BYTES_OF_SOCKET = 2048,
};

static const char MAGIC[8] = "uncjob1";

/* Of an ID. Spelled out, so that the locale does not matter. */
static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

/* Independent of the umask of a batch system: a site may open the folder to a group. */
enum { MODE = 0640 };

static_assert(sizeof(struct run_head) <= HEAD_BYTES, "one page");

bool job_id_is_valid(const char *id)
{
	size_t n = strnlen(id, JOB_ID_BYTES);

	return n > 0 && n < JOB_ID_BYTES && *id != '.' && strspn(id, ALLOWED) == n;
}

bool job_key_is_valid(const char *key)
{
	size_t n = strnlen(key, JOB_KEY_BYTES);

	return n > 0 && n < JOB_KEY_BYTES && text_is_plain(key);
}

void run_close(struct run *run)
{
	close_fd(&run->fd);
}

static off_t text_at(const struct run_head *head)
{
	return (off_t)(HEAD_BYTES + head->n_sockets * sizeof(struct uncore_sample));
}

/* --- writing --- */

/* Folders that are not in memory may have no way to reserve room. */
static int reserve(const struct run *run)
{
	off_t size_bytes = text_at(&run->head) + TEXT_BYTES +
			   (off_t)run->head.n_sockets * TEXT_BYTES_OF_SOCKET;

	if (fallocate(run->fd, FALLOC_FL_KEEP_SIZE, 0, size_bytes) < 0 && errno != EOPNOTSUPP)
		return -errno;
	return 0;
}

int run_keep_head(const struct run *run)
{
	char page[HEAD_BYTES] = "";

	memcpy(page, &run->head, sizeof run->head);
	return file_write(run->fd, page, sizeof page, 0);
}

int run_create(int folder_fd, const char *name, const struct run_head *head, struct run *ret)
{
	_cleanup_(run_close) struct run run = { .head = *head };
	int r;

	run.fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, MODE);
	if (run.fd < 0)
		return -errno;
	memcpy(run.head.magic, MAGIC, sizeof MAGIC);
	r = fchmod(run.fd, MODE) < 0 ? -errno : run_lock(&run);
	if (r == 0)
		r = reserve(&run);
	if (r == 0)
		r = run_keep_head(&run);
	if (r < 0)
		return r;
	*ret = run_take(&run);
	return 0;
}

int run_lock(const struct run *run)
{
	return flock(run->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

int run_keep_reading(struct run *run, const struct uncore_sample samples[])
{
	int r = reserve(run);

	if (r == 0)
		r = file_write(run->fd, samples, run->head.n_sockets * sizeof *samples, HEAD_BYTES);
	return r < 0 ? r : run_keep_head(run);
}

int run_end(struct run *run, const char *text)
{
	const size_t size_bytes = strlen(text);
	int r = file_write(run->fd, text, size_bytes, text_at(&run->head));

	if (r < 0)
		return r;
	run->head.state = RUN_ENDED;
	run->head.text_bytes = (uint32_t)size_bytes;
	return run_keep_head(run);
}

/* --- reading --- */

static int read_at(int fd, void *data, size_t size_bytes, off_t at)
{
	ssize_t n = pread(fd, data, size_bytes, at);

	if (n < 0)
		return -errno;
	return (size_t)n == size_bytes ? 0 : -EBADMSG;
}

bool run_head_is_whole(const struct run_head *head)
{
	return memcmp(head->magic, MAGIC, sizeof MAGIC) == 0 && head->state >= RUN_BEGINNING &&
	       head->state <= RUN_ENDED && memchr(head->id, '\0', sizeof head->id) &&
	       memchr(head->key, '\0', sizeof head->key) &&
	       memchr(head->why, '\0', sizeof head->why) &&
	       memchr(head->platform, '\0', sizeof head->platform) &&
	       memchr(head->to, '\0', sizeof head->to) && head->n_sockets <= PACKAGES_MAX &&
	       head->packages.n <= PACKAGES_MAX;
}

int run_open(int folder_fd, const char *name, int access, struct run *ret)
{
	/* O_NONBLOCK: a pipe in the folder must not block the process. */
	const int flags = access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	_cleanup_(run_close) struct run run = { .fd = openat(folder_fd, name, flags) };
	int r;

	if (run.fd < 0)
		return -errno;
	r = read_at(run.fd, &run.head, sizeof run.head, 0);
	if (r == 0 && !run_head_is_whole(&run.head))
		r = -EBADMSG;
	if (r < 0)
		return r;
	*ret = run_take(&run);
	return 0;
}

int run_read_samples(const struct run *run, struct uncore_sample **ret_samples)
{
	const uint32_t n = run->head.n_sockets;
	_cleanup_free_ struct uncore_sample *samples = calloc(n + 1, sizeof *samples);
	int r = samples ? read_at(run->fd, samples, n * sizeof *samples, HEAD_BYTES) : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (samples[i].size != sizeof *samples)
			r = -EBADMSG;
	if (r == 0)
		*ret_samples = take_ptr(samples);
	return r;
}

int run_read_text(const struct run *run, char **ret_text)
{
	_cleanup_free_ char *text = calloc((size_t)run->head.text_bytes + 1, 1);
	int r = text ? read_at(run->fd, text, run->head.text_bytes, text_at(&run->head)) : -ENOMEM;

	if (r == 0)
		*ret_text = take_ptr(text);
	return r;
}

/* --- files of jobs --- */

/* Interval between two attempts: flock(2) itself has no time limit. */
static const struct timespec LOOK_AGAIN = { .tv_nsec = 2000000 };

int file_lock(int fd, uint64_t deadline_ns)
{
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_now_ns() > deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&LOOK_AGAIN, NULL);
	}
	return 0;
}

int file_write(int fd, const void *data, size_t size_bytes, off_t at)
{
	ssize_t n = pwrite(fd, data, size_bytes, at);

	if (n < 0)
		return -errno;
	return (size_t)n == size_bytes ? 0 : -ENOSPC;
}
