/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/report-place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/report/report-head.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/same-file.h"

enum {
	HEAD_BYTES = 65536,   /* bytes of a file that hold all before the list of members */
	NAMES_MOST = 10000,   /* numbers tried for one report */
	ATTEMPTS_MOST = 1000, /* attempts at one name, which others replace meanwhile */
};

/* The report to be placed. */
struct placed_report {
	const char *text;
	size_t size_bytes;
	struct report_head head;
	uint64_t since_ns; /* its processes began at this time or later */
	char *temporary;   /* owned: a file in the same folder, until it is moved; NULL: none */
};

static void report_done(struct placed_report *report)
{
	if (report->temporary)
		unlink(report->temporary);
	free(report->temporary);
}

int report_write_all(int fd, const char *text, size_t size_bytes)
{
	while (size_bytes) {
		ssize_t n = write(fd, text, size_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		size_bytes -= (size_t)n;
	}
	return 0;
}

/* Writes the report and a newline, and closes @fd. */
static int report_write_line(const struct placed_report *report, int fd)
{
	int r = report_write_all(fd, report->text, report->size_bytes);

	if (r == 0)
		r = report_write_all(fd, "\n", 1);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

/* --- what is there --- */

/* As long as it is open, no other file can get its inode number. */
static int open_other(const char *path, int access, struct stat *ret)
{
	_cleanup_close_ int fd = open(path, access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 || fstat(fd, ret) < 0 ? -errno : take_fd(&fd);
}

/* An empty file was created for a report that is not written yet; its age counts. */
static bool may_replace(const struct placed_report *report, int fd, const struct stat *status)
{
	_cleanup_free_ char *text = calloc(1, HEAD_BYTES + 1);
	struct report_head other = { .run = 0 };

	if (!text || !S_ISREG(status->st_mode) || pread(fd, text, HEAD_BYTES, 0) < 0)
		return false;
	if (*text && !report_head_read(text, &other))
		return false;
	if (!other.ended_ns)
		other.ended_ns = (uint64_t)status->st_mtim.tv_sec * 1000000000U +
				 (uint64_t)status->st_mtim.tv_nsec;
	return report_head_replaces(&report->head, report->since_ns, &other);
}

/* --- names --- */

/* The @n-th name of a report. NULL: out of memory. */
static char *nth_name(const char *path, unsigned n)
{
	char *name;

	if (n == 1)
		return strdup(path);
	return asprintf(&name, "%s.%u", path, n) < 0 ? NULL : name;
}

/* Moves @from to @to. -EEXIST: @to exists. Over NFS the answer to link(2) may be lost, and a second
 * attempt then finds the link of the first one. */
static int report_move(const char *from, const char *to)
{
	struct stat status;

	if (link(from, to) < 0) {
		if (errno != EEXIST)
			return -errno;
		if (stat(from, &status) < 0 || !same_file_is_at(to, status.st_dev, status.st_ino))
			return -EEXIST;
	}
	unlink(from);
	return 0;
}

/* Moves @from to the first free name of @path. */
static int move_to_any(const char *from, const char *path)
{
	int r = -EEXIST;

	for (unsigned n = 1; n <= NAMES_MOST && r == -EEXIST; n++) {
		_cleanup_free_ char *name = nth_name(path, n);

		r = name ? report_move(from, name) : -ENOMEM;
	}
	return r;
}

/* --- where no file can be moved into place --- */

/* The lock excludes other processes that do the same. */
static int write_over(const struct placed_report *report, const char *path)
{
	struct stat status;
	_cleanup_close_ int fd = open_other(path, O_RDWR, &status);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX) < 0)
		return -errno;
	if (!may_replace(report, fd, &status))
		return -EEXIST;
	return ftruncate(fd, 0) < 0 ? -errno : report_write_line(report, take_fd(&fd));
}

/* The new file is empty until it is written, but too new to be replaced by others. */
static int write_new(const struct placed_report *report, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), r;

	if (fd < 0)
		return -errno;
	r = report_write_line(report, fd);
	if (r < 0)
		unlink(path);
	return r;
}

/* For file systems without links. */
static int put_without_links(const struct placed_report *report, const char *path)
{
	int r = write_new(report, path);

	if (r == -EEXIST)
		r = write_over(report, path);
	return r == -EACCES ? -EEXIST : r;
}

/* --- the place --- */

/* Removes @other. If another report has come there meanwhile, that one gets a new name. */
static int remove_other(
	const struct placed_report *report, const char *path, const struct stat *other)
{
	_cleanup_free_ char *aside = NULL;

	if (asprintf(&aside, "%s-other", report->temporary) < 0) {
		aside = NULL;
		return -ENOMEM;
	}
	chmod(report->temporary, other->st_mode & 0777);
	if (rename(path, aside) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!same_file_is_at(aside, other->st_dev, other->st_ino))
		return move_to_any(aside, path);
	return unlink(aside) < 0 ? -errno : 0;
}

/* -EEXIST: the file there must stay. */
static int report_put_at(const struct placed_report *report, const char *path)
{
	int r = report_move(report->temporary, path);

	for (int i = 0; i < ATTEMPTS_MOST && r == -EEXIST; i++) {
		struct stat other;
		_cleanup_close_ int fd = open_other(path, O_RDONLY, &other);

		if (fd < 0 && fd != -ENOENT)
			return -EEXIST;
		if (fd >= 0 && !may_replace(report, fd, &other))
			return -EEXIST;
		r = fd >= 0 ? remove_other(report, path, &other) : 0;
		if (r == 0)
			r = report_move(report->temporary, path);
	}
	return r == 0 || r == -EEXIST ? r : put_without_links(report, path);
}

static int report_put(struct placed_report *report, const char *path, char **ret_elsewhere)
{
	int r = -EEXIST;

	for (unsigned n = 1; n <= NAMES_MOST && r == -EEXIST; n++) {
		_cleanup_free_ char *name = nth_name(path, n);

		r = name ? report_put_at(report, name) : -ENOMEM;
		if (r == 0 && n > 1)
			*ret_elsewhere = take_ptr(name);
	}
	return r;
}

char *report_name_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	const int n = slash ? (int)(slash + 1 - path) : 0, pid = getpid();
	char *name;

	if (asprintf(&name, "%.*s.uncore-%d-%" PRIx64, n, path, pid, clock_wall_ns()) < 0)
		return NULL;
	return name;
}

int report_open_beside(const char *path, char **ret_name)
{
	_cleanup_free_ char *name = NULL;
	int fd;

	*ret_name = NULL;
	do {
		free(name);
		name = report_name_beside(path);
		if (!name)
			return -ENOMEM;
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		return -errno;
	*ret_name = take_ptr(name);
	return fd;
}

static int write_beside(struct placed_report *report, const char *path)
{
	int fd = report_open_beside(path, &report->temporary);

	return fd < 0 ? fd : report_write_line(report, fd);
}

/* --- all --- */

/* A link of /dev or /proc may lead to a file into which others write, too. */
static int write_into(const struct placed_report *report, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);

	return fd < 0 ? -errno : report_write_line(report, fd);
}

static bool is_closed(int r)
{
	return r == -EACCES || r == -EPERM || r == -EROFS;
}

static int place_file(struct placed_report *report, const char *path, char **ret_elsewhere)
{
	int r = write_beside(report, path);

	if (r == 0)
		return report_put(report, path, ret_elsewhere);
	return is_closed(r) && access(path, F_OK) == 0 ? write_over(report, path) : r;
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The file to replace for a report at @path. NULL: @path must be written into. */
static const char *file_of(const char *path, char room[PATH_MAX])
{
	struct stat status;

	if (lstat(path, &status) < 0 || S_ISREG(status.st_mode))
		return path;
	if (!S_ISLNK(status.st_mode) || begins_with(path, "/dev/") || begins_with(path, "/proc/"))
		return NULL;
	return realpath(path, room) && stat(room, &status) == 0 && S_ISREG(status.st_mode) ? room
											   : NULL;
}

int report_place(const char *path, const char *text, uint64_t loaded_ns, char **ret_elsewhere)
{
	_cleanup_(report_done) struct placed_report report = { .text = text,
		.size_bytes = strlen(text) };
	char room[PATH_MAX];
	const char *file = file_of(path, room);

	*ret_elsewhere = NULL;
	report_head_read(text, &report.head);
	report.since_ns = loaded_ns < report.head.begun_ns ? loaded_ns : report.head.begun_ns;
	return file ? place_file(&report, file, ret_elsewhere) : write_into(&report, path);
}

void report_say_where(const char *path, const char *elsewhere)
{
	if (elsewhere)
		fprintf(stderr,
			"uncore: %s is there, and is not of an earlier run of this job step. The "
			"report is in %s.\n",
			path, elsewhere);
}
