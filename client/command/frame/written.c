/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/written.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "client/report/report-place.h"

enum { LINKS_MOST = 40, BUFFER_BYTES = 65536, SELF_BYTES = 32 }; /* links: as the kernel */

/* --- what is said --- */

const char *written_why(int error)
{
	return error == -EBUSY ? "another command writes into it" : strerror(-error);
}

const char *written_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "stdout" : path;
}

void written_complain(const char *command, const char *path, int error)
{
	fprintf(stderr, "%s: cannot write to %s: %s.\n", command, written_name(path),
		written_why(error));
}

/* --- which file --- */

/* The length of the folder's part of a path, with its slash. */
static int folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

/* Reads the link @fd, whose name is *@path, and puts what it names in the place of *@path. */
static int written_follow(int fd, char **path)
{
	char text[PATH_MAX], *next;
	const ssize_t n = readlinkat(fd, "", text, sizeof text - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (asprintf(&next, "%.*s%s", *text == '/' ? 0 : folder_of(*path), *path, text) < 0)
		return -ENOMEM;
	free(*path);
	*path = next;
	return 0;
}

/* A link of proc is not a name: /proc/self/fd/1 is whatever is open there. One of another user may
 * change while it is followed, and the kernel alone knows whether it may be followed
 * (protected_symlinks of proc(5)). */
static bool is_followed(int fd, const struct stat *link)
{
	struct statfs of;

	return fstatfs(fd, &of) == 0 && of.f_type != PROC_SUPER_MAGIC &&
	       (link->st_uid == geteuid() || link->st_uid == 0);
}

/* Can a new file stand for this one? */
static bool is_replaced(const struct stat *file)
{
	return S_ISREG(file->st_mode) && file->st_nlink == 1 && file->st_uid == geteuid() &&
	       (file->st_mode & S_IWUSR || geteuid() == 0);
}

/* Follows links to what is replaced. *@path is its name; @ret_old->st_nlink 0: it does not exist.
 * -EXDEV: it is written in place. */
static int find_target(char **path, struct stat *ret_old)
{
	for (int i = 0; i < LINKS_MOST; i++) {
		_cleanup_close_ int fd = open(*path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		int r;

		*ret_old = (struct stat){ .st_nlink = 0 };
		if (fd < 0)
			return errno == ENOENT ? 0 : -EXDEV;
		if (fstat(fd, ret_old) < 0)
			return -errno;
		if (!S_ISLNK(ret_old->st_mode))
			return is_replaced(ret_old) ? 0 : -EXDEV;
		r = is_followed(fd, ret_old) ? written_follow(fd, path) : -EXDEV;
		if (r < 0)
			return r;
	}
	return -ELOOP;
}

/* --- in place --- */

/* -EBUSY: another command has the lock. On a file system without locks, no command has one. */
static int written_lock(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_OFD_SETLK, &whole) < 0 && (errno == EAGAIN || errno == EACCES))
		return -EBUSY;
	return 0;
}

static int check_lock(int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK ? -EBUSY : 0;
}

/* Does another command write in place there? */
static int check_target(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? 0 : check_lock(fd);
}

/* What is appended comes at the end of a command, in one piece, and keeps no others out. */
static int written_prepare(int fd, enum written_how how)
{
	struct stat status;
	int r = fstat(fd, &status) < 0 ? -errno : 0;

	if (r < 0 || !S_ISREG(status.st_mode))
		return r;
	r = how == WRITTEN_APPENDED ? check_lock(fd) : written_lock(fd);
	if (r == 0 && (how == WRITTEN_WHOLE || how == WRITTEN_LINES))
		r = ftruncate(fd, 0) < 0 ? -errno : 0;
	return r;
}

static int open_in_place(const char *path, enum written_how how)
{
	const bool appends = how == WRITTEN_APPENDED || how == WRITTEN_LINES_APPENDED;
	_cleanup_close_ int fd = open(
		path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | (appends ? O_APPEND : 0), 0666);
	int r = fd < 0 ? -errno : written_prepare(fd, how);

	return r < 0 ? r : take_fd(&fd);
}

/* --- beside --- */

/* Where proc(5) shows a file that has no other name. */
static const char *written_name_of(int fd, char ret[SELF_BYTES])
{
	snprintf(ret, SELF_BYTES, "/proc/self/fd/%d", fd);
	return ret;
}

/* For file systems that have no files without a name. */
static int open_named(struct written *written)
{
	int fd = report_open_beside(written->target, &written->aside);

	written->is_there = fd >= 0;
	return fd;
}

static int open_nameless(const struct written *written)
{
	char folder[PATH_MAX], name[SELF_BYTES];
	const int n = folder_of(written->target);
	_cleanup_close_ int fd = -1;

	snprintf(folder, sizeof folder, "%.*s", n ? n : 1, n ? written->target : ".");
	fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	return fd >= 0 && access(written_name_of(fd, name), F_OK) == 0 ? take_fd(&fd) : -1;
}

/* A service may be forbidden to call what changes nothing (SystemCallFilter= of systemd.exec(5)).
 */
static bool make_like(int fd, const struct stat *old)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return false;
	if (status.st_gid != old->st_gid && fchown(fd, (uid_t)-1, old->st_gid) < 0)
		return false;
	return status.st_mode == old->st_mode || fchmod(fd, old->st_mode & 07777) == 0;
}

/* -EXDEV: a new file cannot stand for the old one. */
static int open_beside(struct written *written, const struct stat *old)
{
	_cleanup_close_ int fd = open_nameless(written);

	if (fd < 0)
		fd = open_named(written);
	if (fd == -EACCES || fd == -EPERM || fd == -EROFS)
		return -EXDEV;
	if (fd < 0)
		return fd;
	if (old->st_nlink && !make_like(fd, old))
		return -EXDEV;
	return take_fd(&fd);
}

/* Gives the file the name .aside, unless it has it. */
static int give_name(struct written *written, int fd)
{
	char self[SELF_BYTES];

	while (!written->is_there) {
		free(written->aside);
		written->aside = report_name_beside(written->target);
		if (!written->aside)
			return -ENOMEM;
		written->is_there = linkat(AT_FDCWD, written_name_of(fd, self), AT_FDCWD,
					    written->aside, AT_SYMLINK_FOLLOW) == 0;
		if (!written->is_there && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* --- the whole --- */

static int open_whole(const char *path, struct written *written)
{
	_cleanup_free_ char *target = strdup(path);
	struct stat old;
	int r = target ? find_target(&target, &old) : -ENOMEM;

	if (r == 0)
		r = check_target(target);
	if (r == 0) {
		written->target = take_ptr(target);
		r = open_beside(written, &old);
	}
	if (r != -EXDEV)
		return r;
	written_done(written);
	return open_in_place(path, WRITTEN_WHOLE);
}

int written_open(const char *path, enum written_how how, struct written *ret)
{
	_cleanup_(written_done) struct written written = { .out = NULL };
	int fd;

	if (strcmp(path, "-") == 0) {
		*ret = (struct written){ .out = stdout };
		return 0;
	}
	fd = how == WRITTEN_WHOLE ? open_whole(path, &written) : open_in_place(path, how);
	if (fd < 0)
		return fd;
	written.out = fdopen(fd, "w");
	if (!written.out) {
		close(fd);
		return -ENOMEM;
	}
	setvbuf(written.out, NULL, _IOFBF, BUFFER_BYTES); /* the caller flushes lines */
	*ret = written;
	written = (struct written){ .out = NULL };
	return 0;
}

static int written_put_in_place(struct written *written)
{
	int r = check_target(written->target);

	if (r == 0)
		r = give_name(written, fileno(written->out));
	if (r == 0 && rename(written->aside, written->target) < 0)
		r = -errno;
	written->is_there &= r < 0;
	return r;
}

int written_end(struct written *written)
{
	int r = ferror(written->out) ? -EIO : 0; /* of an earlier write */

	if (fflush(written->out) == EOF)
		r = -errno;
	if (r == 0 && written->target)
		r = written_put_in_place(written);
	if (written->out == stdout)
		clearerr(stdout); /* it is said once */
	else if (fclose(written->out) == EOF && r == 0)
		r = -errno;
	written->out = NULL;
	written_done(written);
	return r;
}

void written_done(struct written *written)
{
	if (written->out && written->out != stdout)
		fclose(written->out);
	if (written->is_there)
		unlink(written->aside);
	free(written->target);
	free(written->aside);
	*written = (struct written){ .out = NULL };
}
