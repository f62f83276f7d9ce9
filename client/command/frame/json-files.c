/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/json-files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/records/names.h"
#include "client/records/read.h"
#include "common/macro.h"

enum { WHY_MAX = 128 };

/* NAME.json, or NAME.json.2 if a report found the first name taken. */
static bool is_json(const char *name)
{
	size_t n = strlen(name), end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end < n && end && name[end - 1] == '.')
		n = end - 1;
	return n > strlen(".json") &&
	       strncmp(name + n - strlen(".json"), ".json", strlen(".json")) == 0;
}

bool json_file_may_be_of(const char *name, const char *id)
{
	const size_t n = strcspn(name, "@");

	return !name[n] || (strlen(id) == n && strncmp(name, id, n) == 0);
}

/* --- a file in a folder --- */

static int json_files_leave_out(char ret_why[WHY_MAX], const char *why)
{
	snprintf(ret_why, WHY_MAX, "%s", why);
	return -EPERM;
}

/* What all files of a folder have in common. */
struct found_in {
	const struct json_files *files;
	const char *path;
	int fd;
	struct names names; /* owned; of the files */
	void (*take)(const struct json_file *file, void *argument);
	void *argument;
};

/* Follows a link only within the folder. A link to elsewhere could show a trusted file under a
 * wrong name. Neither a pipe nor a terminal may make the command wait. -EALREADY: the link leads to
 * another of the files. */
static int open_found(
	const struct found_in *folder, const char *name, int *ret_fd, char ret_why[WHY_MAX])
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	const int folder_fd = folder->fd;
	char target[NAME_MAX + 2];
	struct stat status;
	ssize_t n;

	*ret_fd = openat(folder_fd, name, flags);
	if (*ret_fd >= 0)
		return 0;
	if (errno != ELOOP)
		return -errno;
	n = readlinkat(folder_fd, name, target, sizeof target);
	if (n < 0)
		return -errno;
	if ((size_t)n == sizeof target || memchr(target, '/', (size_t)n))
		return json_files_leave_out(ret_why, "it is a link out of the folder");
	target[n] = '\0';
	if (names_have(&folder->names, target))
		return fstatat(folder_fd, name, &status, 0) < 0 && errno == ELOOP
			       ? json_files_leave_out(ret_why, "it is a link that leads to itself")
			       : -EALREADY;
	*ret_fd = openat(folder_fd, target, flags);
	if (*ret_fd < 0 && errno == ELOOP)
		return json_files_leave_out(ret_why, "it is a link to a link");
	return *ret_fd < 0 ? -errno : 0;
}

/* What others may write is not its owner's word. The group of a user's file is often the user's own
 * (umask 002), but root's files have no such group but root's. */
static bool is_open_to_others(const struct stat *status)
{
	if (status->st_uid == 0 && status->st_gid != 0 && status->st_mode & S_IWGRP)
		return true;
	return status->st_mode & S_IWOTH;
}

static int json_files_check(const struct json_files *files, int fd, char ret_why[WHY_MAX])
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return json_files_leave_out(ret_why, "it is not a regular file");
	if (!trust_has(files->trust, status.st_uid)) {
		snprintf(ret_why, WHY_MAX, "it belongs to user %u, whom only --trust %u trusts",
			status.st_uid, status.st_uid);
		return -EPERM;
	}
	if (is_open_to_others(&status)) {
		snprintf(ret_why, WHY_MAX,
			"others than its owner, user %u, may write it (its mode is %04o)",
			status.st_uid, status.st_mode & 07777);
		return -EPERM;
	}
	return (uintmax_t)status.st_size > files->most_bytes ? -EFBIG : 0;
}

static int read_found(
	const struct found_in *folder, const char *name, char **ret_text, char ret_why[WHY_MAX])
{
	const struct json_files *files = folder->files;
	_cleanup_close_ int fd = -1;
	int r = open_found(folder, name, &fd, ret_why);

	if (r == 0)
		r = json_files_check(files, fd, ret_why);
	if (r == 0)
		r = record_read_fd(fd, files->most_bytes, ret_text);
	if (r == -EFBIG)
		snprintf(ret_why, WHY_MAX, "it has more than %zu bytes", files->most_bytes);
	else if (r < 0 && r != -EPERM && r != -EALREADY)
		snprintf(ret_why, WHY_MAX, "it cannot be read: %s", strerror(-r));
	return r;
}

/* --- all --- */

static bool json_files_take_found(const struct found_in *folder, const char *name)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	char why[WHY_MAX] = "";
	int r;

	if (asprintf(&path, "%s/%s", folder->path, name) < 0) {
		path = NULL;
		return false;
	}
	r = read_found(folder, name, &text, why);
	if (r == -EALREADY)
		return true;
	if (r == 0)
		folder->take(&(struct json_file){ path, name, text }, folder->argument);
	else if (!folder->files->again)
		fprintf(stderr, "%s: %s is left out: %s.\n", folder->files->title, path,
			*why ? why : strerror(-r));
	return r == 0;
}

static int json_files_compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

struct listed {
	bool any; /* there is a file *.json, wanted or not */
	size_t n_tables;
	const char **sorted; /* owned; the names, which belong to the folder */
};

/* Of a folder of 100,000 records, one job has few: others are neither sorted nor read. */
static int json_files_list(struct found_in *folder, DIR *dir, struct listed *ret)
{
	struct dirent *entry;

	while (errno = 0, entry = readdir(dir)) {
		ret->n_tables += !!strstr(entry->d_name, ".table-");
		if (!is_json(entry->d_name))
			continue;
		ret->any = true;
		if (folder->files->wants && !folder->files->wants(entry->d_name, folder->argument))
			continue;
		if (names_add(&folder->names, entry->d_name) < 0)
			return -ENOMEM;
	}
	if (errno)
		return -errno;
	ret->sorted = calloc(folder->names.n + 1U, sizeof *ret->sorted);
	if (!ret->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < folder->names.n; i++)
		ret->sorted[i] = folder->names.all[i];
	qsort(ret->sorted, folder->names.n, sizeof *ret->sorted, json_files_compare);
	return 0;
}

static bool each_of_folder(struct found_in *folder)
{
	struct listed listed = { .any = false };
	DIR *dir = opendir(folder->path);
	int r = dir ? json_files_list(folder, dir, &listed) : -errno;
	bool whole = r == 0 && listed.any;

	if (!whole && !folder->files->again)
		fprintf(stderr, "%s: %s %s.\n", folder->files->title, folder->path,
			r < 0 ? strerror(-r) : "has no files *.json");
	if (listed.n_tables && !folder->files->again)
		fprintf(stderr,
			"%s: %s also has files *.table-* of processes that run or ended without a "
			"report, %zu in number: give their names to see what is in them.\n",
			folder->files->title, folder->path, listed.n_tables);
	if (dir)
		folder->fd = dirfd(dir);
	for (uint32_t i = 0; r == 0 && i < folder->names.n; i++)
		whole &= json_files_take_found(folder, listed.sorted[i]);
	free(listed.sorted);
	names_done(&folder->names);
	if (dir)
		closedir(dir);
	return whole;
}

bool json_files_each(const struct json_files *files,
	void (*take)(const struct json_file *file, void *argument), void *argument)
{
	struct stat status;
	bool whole = true;

	for (int i = 0; i < files->n; i++) {
		const char *path = files->paths[i];

		if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			whole &= each_of_folder(&(struct found_in){
				.files = files, .path = path, .take = take, .argument = argument });
		else
			take(&(struct json_file){ .path = path }, argument);
	}
	return whole;
}
