/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/text.h"

static const char MAGIC[8] = "uncjob3";

/* Of an ID. Spelled out, so that the locale does not matter. */
static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

/* The name of a file that is not whole yet. */
static const char NEW[] = "..new";

static const char ENDED[] = ".ended";

/* Whatever the umask of a batch system is: a site may open the folder to a group. */
enum { MODE = 0640 };

enum { TEXT_MOST = 1 << 20 };

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

void run_done(struct run *run)
{
	close_fd(&run->fd);
	free(take_ptr(run->samples));
	free(take_ptr(run->text));
}

/* --- names --- */

/* Two boots may have the same monotonic time, and two runs the same real time. */
void run_set_base(struct run *run)
{
	const struct run_head *head = &run->head;

	snprintf(run->base, sizeof run->base, "%s@%" PRId64 ".%" PRIu64, head->id,
		head->begun_real_ns, head->begun_ns ? head->begun_ns : head->ended_ns);
}

void run_name(const struct run *run, enum run_kind kind, char ret_name[RUN_NAME_MAX])
{
	snprintf(ret_name, RUN_NAME_MAX, "%s%.*s%s", kind == RUN_IS_WRITTEN ? "." : "",
		RUN_NAME_MAX - 8, run->base, kind == RUN_IS_OPEN ? "" : ENDED);
}

bool run_parse_name(const char *name, struct run *ret)
{
	const bool is_hidden = *name == '.';
	const char *base = name + is_hidden, *at = strchr(base, '@');
	size_t n = strlen(base);
	const bool has_ended = n > strlen(ENDED) && strcmp(base + n - strlen(ENDED), ENDED) == 0;

	n -= has_ended ? strlen(ENDED) : 0;
	*ret = (struct run){ .fd = -1, .kind = has_ended ? RUN_IS_ENDED : RUN_IS_OPEN };
	if (!at || at - base >= JOB_ID_BYTES || n >= sizeof ret->base || (is_hidden && !has_ended))
		return false;
	if (is_hidden)
		ret->kind = RUN_IS_WRITTEN;
	memcpy(ret->base, base, n);
	memcpy(ret->head.id, base, (size_t)(at - base));
	return job_id_is_valid(ret->head.id);
}

/* --- writing --- */

static int run_write_whole(int fd, const struct run *run)
{
	struct iovec parts[] = {
		{ (void *)&run->head, sizeof run->head },
		{ run->samples, run->head.n_sockets * sizeof *run->samples },
		{ run->text, run->head.text_bytes },
	};
	ssize_t n = writev(fd, parts, ARRAY_SIZE(parts));

	if (n < 0)
		return -errno;
	if ((size_t)n != parts[0].iov_len + parts[1].iov_len + parts[2].iov_len)
		return -ENOSPC;
	return fchmod(fd, MODE) < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* The file is new, so that no other user has it open. */
static int run_open_new(int folder_fd)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int fd;

	if (unlinkat(folder_fd, NEW, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(folder_fd, NEW, flags, MODE);
	return fd < 0 ? -errno : fd;
}

int run_write(int folder_fd, struct run *run, enum run_kind kind)
{
	_cleanup_close_ int fd = run_open_new(folder_fd);
	char name[RUN_NAME_MAX];
	int r = fd < 0 ? fd : 0;

	memcpy(run->head.magic, MAGIC, sizeof MAGIC);
	run->head.n_sockets = run->samples ? run->head.n_sockets : 0;
	run->head.text_bytes = run->text ? (uint32_t)strlen(run->text) : 0;
	run_name(run, kind, name);
	if (r == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = -errno;
	if (r == 0)
		r = run_write_whole(fd, run);
	if (r == 0 && (renameat(folder_fd, NEW, folder_fd, name) < 0 || fsync(folder_fd) < 0))
		r = -errno;
	if (r < 0) {
		unlinkat(folder_fd, NEW, 0);
		return r;
	}
	close_fd(&run->fd);
	run->fd = take_fd(&fd);
	run->kind = kind;
	return 0;
}

int run_close_open(int folder_fd, const struct run *run, enum run_kind kind)
{
	_cleanup_close_ int fd = -1;
	struct run_head head = run->head;
	char open[RUN_NAME_MAX], name[RUN_NAME_MAX];

	memcpy(head.magic, MAGIC, sizeof MAGIC);
	head.text_bytes = 0;
	run_name(run, RUN_IS_OPEN, open);
	run_name(run, kind, name);
	fd = openat(folder_fd, open, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || pwrite(fd, &head, sizeof head, 0) < 0 ||
		renameat(folder_fd, open, folder_fd, name) < 0)
		return -errno;
	return 0;
}

/* --- reading --- */

static bool is_whole(const struct run_head *head)
{
	return memcmp(head->magic, MAGIC, sizeof MAGIC) == 0 && head->state >= RUN_BEGINNING &&
	       head->state <= RUN_CUT && memchr(head->id, '\0', sizeof head->id) &&
	       memchr(head->key, '\0', sizeof head->key) &&
	       memchr(head->why, '\0', sizeof head->why) &&
	       memchr(head->platform, '\0', sizeof head->platform) &&
	       memchr(head->to, '\0', sizeof head->to) && head->n_sockets <= PACKAGES_MAX &&
	       head->packages.n <= PACKAGES_MAX && head->text_bytes <= TEXT_MOST;
}

static int read_part(int fd, void *data, size_t size_bytes)
{
	ssize_t n = read(fd, data, size_bytes);

	if (n < 0)
		return -errno;
	return (size_t)n == size_bytes ? 0 : -EBADMSG;
}

/* A file that was cut has no samples, or no text. */
static int read_rest(struct run *run)
{
	const uint32_t n = run->head.n_sockets, size_bytes = run->head.text_bytes;
	bool is_same = true;

	run->samples = calloc(n + 1, sizeof *run->samples);
	run->text = calloc((size_t)size_bytes + 1, 1);
	if (!run->samples || !run->text)
		return -ENOMEM;
	is_same = read_part(run->fd, run->samples, n * sizeof *run->samples) == 0;
	for (uint32_t i = 0; is_same && i < n; i++)
		is_same = run->samples[i].size == sizeof *run->samples;
	if (!n || !is_same)
		free(take_ptr(run->samples));
	if (!size_bytes || !is_same || read_part(run->fd, run->text, size_bytes) < 0)
		free(take_ptr(run->text));
	return 0;
}

static int read_whole(struct run *run, const char *base)
{
	struct stat status;
	int r = read_part(run->fd, &run->head, sizeof run->head);

	if (r == 0 && !is_whole(&run->head))
		r = -EBADMSG;
	if (r < 0)
		return r;
	run_set_base(run);
	/* A copy has the name of another run. */
	if (run->head.state < RUN_ENDED && strcmp(run->base, base) != 0)
		return -EBADMSG;
	strcpy(run->base, base);
	if (fstat(run->fd, &status) < 0)
		return -errno;
	run->owner = status.st_uid;
	return read_rest(run);
}

int run_open(int folder_fd, const struct run *named, struct run *ret)
{
	/* O_NONBLOCK: a pipe in the folder must not block the process. */
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	_cleanup_(run_done) struct run run = { .kind = named->kind };
	char name[RUN_NAME_MAX];
	int r;

	run_name(named, named->kind, name);
	run.fd = openat(folder_fd, name, flags);
	if (run.fd < 0)
		return -errno;
	r = read_whole(&run, named->base);
	if (r < 0)
		return r;
	*ret = run;
	run = (struct run){ .fd = -1 };
	return 0;
}

/* --- locks --- */

int run_lock(const struct run *run)
{
	return flock(run->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}
