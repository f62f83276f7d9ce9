/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/macro.h"

int folder_open(const char *path)
{
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : folder_look(path);
}

int folder_look(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Interval between two attempts: flock(2) itself has no time limit. */
static const struct timespec LOOK_AGAIN = { .tv_nsec = 2000000 };

int folder_lock(int fd, uint64_t deadline_ns)
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

void folder_unlock(int folder_fd)
{
	flock(folder_fd, LOCK_UN);
}

int folder_write(int folder_fd, struct run *run, enum run_kind kind, uint64_t deadline_ns)
{
	int r = folder_lock(folder_fd, deadline_ns);

	if (r < 0)
		return r;
	r = run_write(folder_fd, run, kind);
	folder_unlock(folder_fd);
	return r;
}

/* --- reading --- */

void folder_runs_done(struct folder_runs *runs)
{
	while (runs->n)
		run_done(&runs->all[--runs->n]);
	free(take_ptr(runs->all));
}

/* The locale does not matter. */
static int compare_file_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* A begin of one time before the other; the same order each time. */
static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->head.begun_real_ns != y->head.begun_real_ns)
		return x->head.begun_real_ns < y->head.begun_real_ns ? -1 : 1;
	return strcmp(x->base, y->base);
}

/* Also one that cannot be read: it may be anybody's, and on any socket. */
static int take_run(int folder_fd, const struct run *named, struct folder_runs *runs)
{
	struct run *run;
	int r = array_room(&runs->all, runs->n, sizeof *runs->all);

	if (r < 0)
		return r;
	run = &runs->all[runs->n];
	r = run_open(folder_fd, named, run);
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		*run = *named;
		run->head.uid = UNCORE_UNKNOWN_USER;
		sscanf(strchr(run->base, '@'), "@%" SCNd64 ".%" SCNu64, &run->head.begun_real_ns,
			&run->head.begun_ns);
	}
	close_fd(&run->fd);
	runs->n++;
	return 0;
}

/* Its end is there, too: the process died before it removed the begin. */
static bool is_void(const struct run *named, const struct dirent *next)
{
	char ended[RUN_NAME_MAX];

	run_name(named, RUN_IS_ENDED, ended);
	return named->kind == RUN_IS_OPEN && next && strcmp(next->d_name, ended) == 0;
}

struct wanted {
	unsigned kinds;
	const char *id; /* NULL: all */
};

static int take_runs(int folder_fd, struct dirent *const *names, size_t n,
	const struct wanted *wanted, struct folder_runs *runs)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct run named;

		if (!run_parse_name(names[i]->d_name, &named) ||
			is_void(&named, i + 1 < n ? names[i + 1] : NULL))
			continue;
		runs->n_open += named.kind == RUN_IS_OPEN;
		runs->n_ended += named.kind == RUN_IS_ENDED;
		if ((named.kind & wanted->kinds) &&
			(!wanted->id || strcmp(named.head.id, wanted->id) == 0))
			r = take_run(folder_fd, &named, runs);
	}
	return r;
}

int folder_read(int folder_fd, unsigned kinds, const char *id, struct folder_runs *ret)
{
	struct dirent **names;
	char path[32];
	int n, r;

	*ret = (struct folder_runs){ .n = 0 };
	snprintf(path, sizeof path, "/proc/self/fd/%d", folder_fd); /* musl has no scandirat(3) */
	n = scandir(path, &names, NULL, compare_file_names);
	if (n < 0)
		return -errno;
	r = take_runs(folder_fd, names, (size_t)n, &(struct wanted){ kinds, id }, ret);
	while (n)
		free(names[--n]);
	free(names);
	if (r < 0)
		folder_runs_done(ret);
	else if (ret->n)
		qsort(ret->all, ret->n, sizeof *ret->all, compare_runs);
	return r;
}

static void drop_foreign(struct folder_runs *runs)
{
	size_t n = 0;

	for (size_t i = 0; i < runs->n; i++)
		if (runs->all[i].head.state != RUN_FOREIGN)
			runs->all[n++] = runs->all[i];
	runs->n = n;
}

int folder_read_open(const char *path, size_t most, struct folder_runs *ret)
{
	_cleanup_close_ int fd = folder_look(path);
	int r = fd < 0 ? fd : 0;

	*ret = (struct folder_runs){ .n = 0 };
	if (r == 0)
		r = folder_read(fd, RUN_IS_OPEN, NULL, ret);
	drop_foreign(ret);
	if (ret->n <= most)
		return r;
	while (ret->n > most)
		run_done(&ret->all[--ret->n]);
	return -E2BIG;
}

/* --- which run --- */

static uint64_t end_of(const struct run *run)
{
	return run->kind == RUN_IS_OPEN ? UINT64_MAX : run->head.ended_ns;
}

const struct run *folder_last(const struct folder_runs *runs, const char *id, unsigned kinds)
{
	const struct run *last = NULL;

	for (size_t i = 0; i < runs->n; i++) {
		const struct run *run = &runs->all[i];

		if ((run->kind & kinds) && strcmp(run->head.id, id) == 0 &&
			(!last || end_of(run) >= end_of(last)))
			last = run;
	}
	return last;
}

/* --- who else was there --- */

/* A run that has ended and was never begun is only a record. */
static bool file_was_there(const struct run *other, uint64_t since_ns)
{
	return (other->kind == RUN_IS_OPEN || other->head.begun_ns) && end_of(other) > since_ns;
}

int64_t folder_others(const struct folder_runs *runs, const struct run *run, uint32_t package)
{
	const uint64_t since_ns = run->head.begun_ns;
	uint64_t first_ns = UINT64_MAX;
	size_t n_written = 0;
	int64_t n = 0;

	for (size_t i = 0; i < runs->n; i++) {
		const struct run *other = &runs->all[i];

		if (other->kind == RUN_IS_WRITTEN) {
			n_written++;
			first_ns = end_of(other) < first_ns ? end_of(other) : first_ns;
		}
		n += strcmp(other->base, run->base) != 0 && file_was_there(other, since_ns) &&
		     packages_have(&other->head.packages, package);
	}
	return n_written >= FOLDER_WRITTEN_MAX && first_ns > since_ns ? -ENODATA : n;
}

/* --- written runs --- */

static int compare_file_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The end of the @nth last of the written runs; 0: there are fewer. */
static uint64_t nth_last(const struct folder_runs *runs, size_t nth)
{
	_cleanup_free_ uint64_t *ends = calloc(runs->n + 1, sizeof *ends);
	size_t n = 0;

	for (size_t i = 0; ends && i < runs->n; i++)
		if (runs->all[i].kind == RUN_IS_WRITTEN)
			ends[n++] = end_of(&runs->all[i]);
	if (!ends || n < nth)
		return 0;
	qsort(ends, n, sizeof *ends, compare_file_times);
	return ends[n - nth];
}

void folder_prune(int folder_fd, const struct folder_runs *runs)
{
	const uint64_t last_ns = nth_last(runs, FOLDER_WRITTEN_LAST);
	const uint64_t most_ns = nth_last(runs, FOLDER_WRITTEN_MAX);
	uint64_t first_ns = UINT64_MAX; /* the begin of the first of the open ones */
	char name[RUN_NAME_MAX];

	for (size_t i = 0; i < runs->n; i++)
		if (runs->all[i].kind == RUN_IS_OPEN && runs->all[i].head.begun_ns < first_ns)
			first_ns = runs->all[i].head.begun_ns;
	for (size_t i = 0; i < runs->n; i++) {
		const struct run *run = &runs->all[i];

		if (run->kind != RUN_IS_WRITTEN ||
			end_of(run) >= (end_of(run) <= first_ns ? last_ns : most_ns))
			continue;
		run_name(run, RUN_IS_WRITTEN, name);
		unlinkat(folder_fd, name, 0);
	}
}

int folder_note_written(int folder_fd, const struct run *run)
{
	char open[RUN_NAME_MAX], ended[RUN_NAME_MAX], written[RUN_NAME_MAX];

	if (run->kind == RUN_IS_OPEN) { /* the folder had no room for the end */
		int r = run_close_open(folder_fd, run, RUN_IS_WRITTEN);

		return r == -ENOENT ? 0 : r;
	}
	run_name(run, RUN_IS_OPEN, open);
	run_name(run, RUN_IS_ENDED, ended);
	run_name(run, RUN_IS_WRITTEN, written);
	unlinkat(folder_fd, open, 0);
	return renameat(folder_fd, ended, folder_fd, written) < 0 ? -errno : 0;
}
