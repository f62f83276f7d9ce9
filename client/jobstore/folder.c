/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"

/* Begins with two points, because ".counts" is the name of a written run with the ID "counts". */
static const char COUNTS[] = "..counts";

int folder_open(const char *path, struct folder *ret)
{
	*ret = (struct folder){ .fd = -1, .counts_fd = -1 };
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	return folder_look(path, ret);
}

int folder_look(const char *path, struct folder *ret)
{
	*ret = (struct folder){ .fd = -1, .counts_fd = -1 };
	ret->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return ret->fd < 0 ? -errno : 0;
}

void folder_close(struct folder *folder)
{
	close_fd(&folder->counts_fd);
	close_fd(&folder->fd);
}

/* --- names --- */

static unsigned kind_of(const char *name)
{
	if (job_id_is_valid(name))
		return FOLDER_ID;
	if (*name != '.')
		return 0;
	if (job_id_is_valid(name + 1))
		return FOLDER_WRITTEN;
	return strchr(name, '@') ? FOLDER_ASIDE : 0;
}

bool folder_is_aside(const char *name, const char *id)
{
	const size_t n = strlen(id);

	return *name == '.' && strncmp(name + 1, id, n) == 0 && name[n + 1] == '@';
}

static void put_aside_name(
	const char *id, const struct stat *status, char ret_name[FOLDER_NAME_MAX])
{
	snprintf(ret_name, FOLDER_NAME_MAX, ".%s@%ju", id, (uintmax_t)status->st_ino);
}

void folder_names_done(struct folder_names *names)
{
	while (names->n)
		free(names->all[--names->n]);
	free(take_ptr(names->all));
}

int folder_list(const struct folder *folder, unsigned kinds, struct folder_names *ret)
{
	char path[32];
	int n;

	*ret = (struct folder_names){ .n = 0 };
	snprintf(path, sizeof path, "/proc/self/fd/%d", folder->fd); /* musl has no scandirat(3) */
	n = scandir(path, &ret->all, NULL, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		struct dirent *entry = ret->all[i];

		if (kind_of(entry->d_name) & kinds)
			ret->all[ret->n++] = entry;
		else
			free(entry);
	}
	return 0;
}

/* --- counting anew --- */

/* A run of another release counts as one that may use every package. */
static void count_run(struct folder *folder, const char *name)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = run_open(folder->fd, name, O_RDONLY, &run);

	if (r == -ENOENT)
		return;
	folder->counts.n_runs++;
	if (r < 0)
		counts_note(&folder->counts, COUNTS_OPEN, &(struct packages){ .n = 0 });
	else if (run_is_open(&run))
		counts_note(&folder->counts, COUNTS_OPEN, &run.head.packages);
	else
		folder->counts.n_ended++;
}

static int count_anew(struct folder *folder)
{
	_cleanup_(folder_names_done) struct folder_names names;
	struct counts *counts = &folder->counts;
	int r = folder_list(folder, FOLDER_ID | FOLDER_ASIDE, &names);

	if (r < 0)
		return r;
	counts->n_runs = counts->n_aside = counts->n_ended = 0;
	for (uint32_t i = 0; i < counts->n_rows; i++)
		counts->rows[i].n_open = 0;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.all[i]->d_name;

		if (kind_of(name) == FOLDER_ID) {
			count_run(folder, name);
			continue;
		}
		counts->n_runs++;
		counts->n_aside++;
		counts->n_ended++;
	}
	return folder_end_change(folder);
}

/* --- the lock --- */

static int read_counts(struct folder *folder)
{
	ssize_t n;

	if (folder->counts_fd < 0)
		folder->counts_fd =
			openat(folder->fd, COUNTS, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (folder->counts_fd < 0)
		return -errno;
	n = pread(folder->counts_fd, &folder->counts, sizeof folder->counts, 0);
	if (n < 0)
		return -errno;
	if (n == sizeof folder->counts && counts_are_valid(&folder->counts))
		return folder->counts.is_changing ? count_anew(folder) : 0;
	counts_init(&folder->counts, clock_now_ns());
	return count_anew(folder);
}

int folder_lock(struct folder *folder, uint64_t deadline_ns)
{
	int r = file_lock(folder->fd, deadline_ns);

	if (r < 0)
		return r;
	r = read_counts(folder);
	if (r < 0)
		folder_unlock(folder);
	return r;
}

void folder_unlock(struct folder *folder)
{
	flock(folder->fd, LOCK_UN);
}

static int write_counts(struct folder *folder, bool is_changing)
{
	folder->counts.is_changing = is_changing;
	return file_write(folder->counts_fd, &folder->counts, sizeof folder->counts, 0);
}

int folder_begin_change(struct folder *folder)
{
	return write_counts(folder, true);
}

int folder_end_change(struct folder *folder)
{
	return write_counts(folder, false);
}

/* --- changes --- */

int folder_put_aside(struct folder *folder, const char *id, const struct run *run)
{
	char name[FOLDER_NAME_MAX];
	struct stat status;

	if (fstat(run->fd, &status) < 0)
		return -errno;
	put_aside_name(id, &status, name);
	if (renameat(folder->fd, id, folder->fd, name) < 0)
		return -errno;
	folder->counts.n_aside++;
	return 0;
}

static bool has_name(const struct folder *folder, const char *name, const struct stat *status)
{
	struct stat named;

	return fstatat(folder->fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       named.st_ino == status->st_ino;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Removes the oldest of the written runs if they are too many. */
static int drop_oldest(const struct folder *folder)
{
	_cleanup_(folder_names_done) struct folder_names names;
	struct timespec least = { 0 };
	const char *oldest = NULL;
	int r = folder_list(folder, FOLDER_WRITTEN, &names);

	if (r < 0 || names.n <= FOLDER_WRITTEN_MAX)
		return r;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.all[i]->d_name;
		struct stat status;

		if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
			(oldest && !is_before(&status.st_mtim, &least)))
			continue;
		least = status.st_mtim;
		oldest = name;
	}
	return oldest && unlinkat(folder->fd, oldest, 0) < 0 ? -errno : 0;
}

static int keep_written(const struct folder *folder, const char *id)
{
	char name[FOLDER_NAME_MAX];

	snprintf(name, sizeof name, ".%s", id);
	return renameat(folder->fd, id, folder->fd, name) < 0 ? -errno : drop_oldest(folder);
}

int folder_note_written(struct folder *folder, const struct run *run)
{
	const char *id = run->head.id;
	char name[FOLDER_NAME_MAX];
	struct stat status;
	int r;

	if (fstat(run->fd, &status) < 0)
		return -errno;
	put_aside_name(id, &status, name);
	r = folder_begin_change(folder);
	if (r < 0)
		return r;
	if (has_name(folder, id, &status))
		r = keep_written(folder, id);
	else if (unlinkat(folder->fd, name, 0) == 0)
		folder->counts.n_aside--;
	else
		return folder_end_change(folder);
	folder->counts.n_runs--;
	folder->counts.n_ended--;
	return r < 0 ? r : folder_end_change(folder);
}

int folder_open_written(const struct folder *folder, const char *id, struct run *ret)
{
	char name[FOLDER_NAME_MAX];

	snprintf(name, sizeof name, ".%s", id);
	return run_open(folder->fd, name, O_RDWR, ret);
}
