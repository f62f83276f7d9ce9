/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobs/record-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/jobs/job-json.h"
#include "client/jobs/job-time.h"
#include "common/macro.h"

enum { NAME_BYTES = JOB_ID_BYTES + JOB_TIME_MAX + LAUNCH_HOST_MAX, TWINS_MOST = 100 };

enum { TEXT_MOST = 1 << 20 }; /* bytes of a record */

/* Users may go through it, whatever the umask. */
static int open_folder(const char *path, int *ret_fd)
{
	bool is_new = mkdir(path, 0711) == 0;
	_cleanup_close_ int fd = -1;

	if (!is_new && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (is_new && fchmod(fd, 0711) < 0))
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int write_line(int fd, const char *text)
{
	struct iovec parts[] = { { (void *)text, strlen(text) }, { (void *)"\n", 1 } };
	ssize_t n = writev(fd, parts, ARRAY_SIZE(parts));

	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) + 1 ? 0 : -ENOSPC;
}

/* Nobody has the file yet who could write into it. */
static int write_aside(int folder_fd, const char *name, const struct run *run, const char *text)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (unlinkat(folder_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
	if (fd < 0)
		return -errno;
	r = write_line(fd, text);
	if (r < 0)
		return r;
	if (run->head.uid != UNCORE_UNKNOWN_USER && fchown(fd, run->head.uid, (gid_t)-1) < 0)
		return -errno;
	return fchmod(fd, 0440) < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Does the file hold @text and nothing else? */
static bool holds(int folder_fd, const char *name, const char *text)
{
	const size_t size_bytes = strlen(text) + 1;
	_cleanup_close_ int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	_cleanup_free_ char *held = calloc(size_bytes + 1, 1);

	return fd >= 0 && held && read(fd, held, size_bytes + 1) == (ssize_t)size_bytes &&
	       strncmp(held, text, size_bytes - 1) == 0;
}

/* Gives the file that was written aside a name that no other run has: @ret_name. */
static int name_it(int folder_fd, const char *aside, const struct run *run, const char *text,
	char ret_name[NAME_BYTES])
{
	char begun[JOB_TIME_MAX], *name = ret_name, number[16] = "";

	job_time_in_name(run->head.begun_real_ns, begun);
	for (int i = 2; i < TWINS_MOST; i++) {
		snprintf(name, NAME_BYTES, "%s@%s%s.json", run->head.id, begun, number);
		if (linkat(folder_fd, aside, folder_fd, name, 0) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
		if (holds(folder_fd, name, text))
			return 0;
		snprintf(number, sizeof number, ".%d", i);
	}
	return -EEXIST;
}

/* Every writer puts it so, and in a text of a record the quotes would be escaped. */
static bool is_complete(const char *text)
{
	return strstr(text, "\"complete\":true") != NULL;
}

/* Does @link lead to a record with figures, or to one that cannot be read? */
static bool leads_to_figures(int folder_fd, const char *link)
{
	_cleanup_close_ int fd = openat(folder_fd, link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	_cleanup_free_ char *text = calloc(TEXT_MOST + 1, 1);

	if (fd < 0 && errno == ENOENT)
		return false;
	return fd < 0 || !text || read(fd, text, TEXT_MOST) < 0 || is_complete(text);
}

/* Users do not know when their job began, but its id and where it ran. */
static int point_at(int folder_fd, const char *aside, const char *link, const char *name)
{
	if (symlinkat(name, folder_fd, aside) < 0 ||
		renameat(folder_fd, aside, folder_fd, link) < 0)
		return -errno;
	return 0;
}

static int write_in(int folder_fd, const struct run *run, const char *text)
{
	char aside[NAME_BYTES], host[LAUNCH_HOST_MAX], name[NAME_BYTES];
	int r;

	job_host(host); /* several may share the folder */
	snprintf(aside, sizeof aside, ".%s@%.100s", run->head.id, host);
	r = write_aside(folder_fd, aside, run, text);
	if (r == 0)
		r = name_it(folder_fd, aside, run, text, name);
	unlinkat(folder_fd, aside, 0);
	if (r < 0 || (!is_complete(text) && leads_to_figures(folder_fd, aside + 1)))
		return r;
	return point_at(folder_fd, aside, aside + 1, name);
}

int record_file_write(const char *folder, const struct run *run, const char *text)
{
	_cleanup_close_ int folder_fd = -1;
	int r = open_folder(folder, &folder_fd);

	if (r == 0)
		r = write_in(folder_fd, run, text);
	return r == 0 && fsync(folder_fd) < 0 ? -errno : r;
}
