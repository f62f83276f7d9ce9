/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/jobstore/lock.h"
#include "common/clock.h"
#include "common/macro.h"

/* Begins with two points, because ".counts" is the name of a written run with the ID "counts". */
static const char COUNTS[] = "..counts";

/* After the counts, from the second page on: the list of written runs. */
enum { WRITTEN_AT = 4096 };

struct written {
	char id[72];
	uint64_t inode; /* 0: an older release wrote this */
	char unused[48];
};

static_assert(sizeof(struct written) == 128, "as in all releases");

enum { WRITTEN_END = WRITTEN_AT + FOLDER_WRITTEN_MAX * sizeof(struct written) };

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

static void free_names(struct dirent **entries, int n)
{
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
}

/* Is @name the name of a run of @id that is aside? @id NULL: of any ID. */
static bool is_aside(const char *name, const char *id)
{
	size_t n = id ? strlen(id) : strcspn(name, "@");

	return *name == '.' && (!id || strncmp(name + 1, id, n) == 0) &&
	       name[n + (id ? 1 : 0)] == '@';
}

static void put_aside_name(
	const char *id, const struct stat *status, char ret_name[FOLDER_NAME_MAX])
{
	snprintf(ret_name, FOLDER_NAME_MAX, ".%s@%ju", id, (uintmax_t)status->st_ino);
}

static void written_name(const char *id, char ret_name[FOLDER_NAME_MAX])
{
	snprintf(ret_name, FOLDER_NAME_MAX, ".%s", id);
}

void folder_names_done(struct folder_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct folder_names){ .n = 0 };
}

typedef bool (*is_wanted_fn)(const char *name, const char *id);

static bool has_an_id(const char *name, const char *id)
{
	(void)id;
	return job_id_is_valid(name);
}

static bool is_any_run(const char *name, const char *id)
{
	return job_id_is_valid(name) || is_aside(name, id);
}

/* Copies the names that are wanted from the entries. */
static int take_names(struct dirent *const entries[], int n, is_wanted_fn is_wanted, const char *id,
	struct folder_names *names)
{
	names->names = calloc((size_t)n + 1, sizeof *names->names);
	if (!names->names)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (!is_wanted(name, id))
			continue;
		names->names[names->n] = strdup(name);
		if (!names->names[names->n++])
			return -ENOMEM;
	}
	return 0;
}

static int list(const struct folder *folder, is_wanted_fn is_wanted, const char *id,
	struct folder_names *ret)
{
	struct dirent **entries;
	int n = scandirat(folder->fd, ".", &entries, NULL, alphasort), r;

	*ret = (struct folder_names){ .n = 0 };
	if (n < 0)
		return -errno;
	r = take_names(entries, n, is_wanted, id, ret);
	free_names(entries, n);
	if (r < 0)
		folder_names_done(ret);
	return r;
}

int folder_list(const struct folder *folder, const char *id, struct folder_names *ret)
{
	return list(folder, id ? is_aside : has_an_id, id, ret);
}

int folder_list_all(const struct folder *folder, struct folder_names *ret)
{
	return list(folder, is_any_run, NULL, ret);
}

/* --- counting anew --- */

/* A run of another release counts as one that may use every package. */
static void count_run(struct folder *folder, const char *name)
{
	struct run run = { .fd = -1 };
	int r = run_look(folder->fd, name, &run);

	if (r == -ENOENT)
		return;
	folder->counts.n_runs++;
	if (r < 0)
		counts_open(&folder->counts, &(struct packages){ .n = 0 });
	else if (run_is_open(&run))
		counts_open(&folder->counts, &run.head.packages);
	else
		folder->counts.n_ended++;
	run_close(&run);
}

/* Removes written runs: new counts do not list them. */
static void forget_written(struct folder *folder, struct dirent *const entries[], int n)
{
	for (int i = 0; i < n; i++)
		if (*entries[i]->d_name == '.' && job_id_is_valid(entries[i]->d_name + 1))
			unlinkat(folder->fd, entries[i]->d_name, 0);
}

static int count_anew(struct folder *folder, bool all_new)
{
	struct counts *counts = &folder->counts;
	struct dirent **entries;
	int n = scandirat(folder->fd, ".", &entries, NULL, NULL);

	if (n < 0)
		return -errno;
	if (all_new)
		forget_written(folder, entries, n);
	counts->n_runs = counts->n_aside = counts->n_ended = 0;
	for (uint32_t i = 0; i < counts->n_rows; i++)
		counts->rows[i].n_open = 0;
	for (int i = 0; i < n; i++) {
		if (job_id_is_valid(entries[i]->d_name))
			count_run(folder, entries[i]->d_name);
		if (is_aside(entries[i]->d_name, NULL)) {
			counts->n_runs++;
			counts->n_aside++;
			counts->n_ended++;
		}
	}
	free_names(entries, n);
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
		return folder->counts.is_changing ? count_anew(folder, false) : 0;
	counts_init(&folder->counts, clock_now_ns());
	if (fallocate(folder->counts_fd, 0, 0, WRITTEN_END) < 0 && errno != EOPNOTSUPP)
		return -errno;
	return count_anew(folder, true);
}

int folder_lock(struct folder *folder, uint64_t deadline_ns)
{
	int r = lock_until(folder->fd, deadline_ns);

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
	ssize_t n;

	folder->counts.is_changing = is_changing;
	n = pwrite(folder->counts_fd, &folder->counts, sizeof folder->counts, 0);
	if (n < 0)
		return -errno;
	return n == sizeof folder->counts ? 0 : -ENOSPC;
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

/* Keeps a later run of the ID, which may have the name now. */
static void forget_oldest(const struct folder *folder, const struct written *oldest)
{
	const struct stat status = { .st_ino = oldest->inode };
	char name[FOLDER_NAME_MAX];

	if (!job_id_is_valid(oldest->id))
		return;
	written_name(oldest->id, name);
	if (!oldest->inode || has_name(folder, name, &status))
		unlinkat(folder->fd, name, 0);
}

/* Replaces the oldest written run. counts.n_written includes this run already. */
static int keep_written(struct folder *folder, const char *id, const struct stat *status)
{
	const uint64_t place = (folder->counts.n_written - 1) % FOLDER_WRITTEN_MAX;
	const off_t at = WRITTEN_AT + (off_t)(place * sizeof(struct written));
	struct written oldest = { .id = "" }, newest = { .inode = status->st_ino };
	char name[FOLDER_NAME_MAX];

	if (pread(folder->counts_fd, &oldest, sizeof oldest, at) < 0)
		return -errno;
	forget_oldest(folder, &oldest);
	strcpy(newest.id, id);
	if (pwrite(folder->counts_fd, &newest, sizeof newest, at) != sizeof newest)
		return -ENOSPC;
	written_name(id, name);
	return renameat(folder->fd, id, folder->fd, name) < 0 ? -errno : 0;
}

/* An older release may not have counted it as ended. */
static void uncount_ended(struct counts *counts)
{
	counts->n_runs--;
	if (counts->n_ended)
		counts->n_ended--;
}

int folder_note_written(struct folder *folder, const struct run *run)
{
	const char *id = run->head.id;
	char name[FOLDER_NAME_MAX];
	struct stat status;
	bool is_latest;
	int r;

	if (fstat(run->fd, &status) < 0)
		return -errno;
	is_latest = has_name(folder, id, &status);
	/* Stored first: if this process dies, no other run gets the place of this one. */
	folder->counts.n_written += is_latest;
	r = folder_begin_change(folder);
	if (r < 0)
		return r;
	put_aside_name(id, &status, name);
	if (is_latest) {
		r = keep_written(folder, id, &status);
		uncount_ended(&folder->counts);
	} else if (unlinkat(folder->fd, name, 0) == 0) {
		folder->counts.n_aside--;
		uncount_ended(&folder->counts);
	}
	return r < 0 ? r : folder_end_change(folder);
}

int folder_open_written(const struct folder *folder, const char *id, struct run *ret)
{
	char name[FOLDER_NAME_MAX];

	written_name(id, name);
	return run_open(folder->fd, name, ret);
}
