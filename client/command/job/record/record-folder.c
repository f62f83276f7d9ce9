/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/record-file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/macro.h"

enum { MODE = 0711, LINKS_MOST = 40 };

static const char REMEDY[] =
	"choose a folder that, with all folders above it, only root may change";

/* --- its name --- */

bool record_folder_is_valid(const char *name)
{
	for (const char *c = strchr(name, '%'); c; c = strchr(c + 2, '%'))
		if (c[1] != 'j' && c[1] != '%')
			return false;
	return *name;
}

/* Without a slash at the end. */
static int record_folder_expand(const char *name, const char *id, char ret_path[PATH_MAX])
{
	size_t n = 0;

	for (const char *c = name; *c && n < PATH_MAX; c++) {
		if (*c == '%' && *++c == 'j')
			n += (size_t)snprintf(ret_path + n, PATH_MAX - n, "%s", id);
		else
			ret_path[n++] = *c;
	}
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	while (n > 1 && ret_path[n - 1] == '/')
		n--;
	ret_path[n] = '\0';
	return 0;
}

/* Does the last part of the name contain the job's ID, so that the folder is for this job only? */
static bool is_of_one_job(const char *name)
{
	const char *slash = strrchr(name, '/');

	return strstr(slash ? slash : name, "%j");
}

/* --- who may change it --- */

/* Does @uid own new files in this folder? A server may give root's files to another user
 * (root_squash). The name may lead elsewhere by now, so the check uses the descriptor. */
static bool owns_what_is_made(uint32_t uid, int folder_fd)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int fd = -1;
	char name[32];
	struct stat status;

	snprintf(name, sizeof name, "..%ld", (long)getpid());
	fd = openat(folder_fd, name, flags, 0600);
	if (fd < 0)
		return false;
	unlinkat(folder_fd, name, 0);
	return fstat(fd, &status) == 0 && status.st_uid == uid;
}

static int record_folder_refuse(int fd, const char *what, char ret_why[RUN_WHY_MAX])
{
	char link[32], path[256];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path);
	snprintf(ret_why, RUN_WHY_MAX, "%.*s %s, who could replace the records: %s",
		n > 0 ? (int)n : 6, n > 0 ? path : "a part", what, REMEDY);
	return -EPERM;
}

/* In a sticky folder, only its owner can replace a file. @folder_fd: @fd itself if it is a folder,
 * else the folder that contains it. */
static int record_folder_check(
	int fd, int folder_fd, const struct stat *status, char ret_why[RUN_WHY_MAX])
{
	const bool is_open_to_others =
		(status->st_mode & (S_IWGRP | S_IWOTH)) && !(status->st_mode & S_ISVTX);
	char whose[32];

	if (geteuid() != 0)
		return 0;
	snprintf(whose, sizeof whose, "belongs to user %u", status->st_uid);
	if (status->st_uid != 0 && !owns_what_is_made(status->st_uid, folder_fd))
		return record_folder_refuse(fd, whose, ret_why);
	if (S_ISDIR(status->st_mode) && is_open_to_others)
		return record_folder_refuse(fd, "may be written by others than root", ret_why);
	return 0;
}

/* --- the path to it --- */

struct way {
	int fd; /* O_PATH, of the folder reached so far */
	unsigned n_links;
	char rest[PATH_MAX]; /* of the path */
};

static int record_folder_follow(struct way *way, int link_fd)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(link_fd, "", target, sizeof target - 1);
	int length;

	if (n < 0 || ++way->n_links > LINKS_MOST)
		return n < 0 ? -errno : -ELOOP;
	target[n] = '\0';
	length = snprintf(rest, sizeof rest, "%s/%s", target, way->rest);
	if ((size_t)length >= sizeof rest)
		return -ENAMETOOLONG;
	strcpy(way->rest, rest);
	if (*target != '/')
		return 0;
	close_fd(&way->fd);
	way->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return way->fd < 0 ? -errno : 0;
}

static int record_folder_enter(struct way *way, const char *name, char ret_why[RUN_WHY_MAX])
{
	_cleanup_close_ int fd = openat(way->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	int r;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	r = record_folder_check(fd, S_ISDIR(status.st_mode) ? fd : way->fd, &status, ret_why);
	if (r < 0)
		return r;
	if (S_ISLNK(status.st_mode))
		return record_folder_follow(way, fd);
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	close_fd(&way->fd);
	way->fd = take_fd(&fd);
	return 0;
}

/* Checks each part of the path before the next, so nobody can change the parts already passed. */
static int go(const char *path, int *ret_fd, char ret_why[RUN_WHY_MAX])
{
	struct way way = { .fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	int r = way.fd < 0 ? -errno : record_folder_enter(&way, ".", ret_why);

	snprintf(way.rest, sizeof way.rest, "%s", path);
	while (r == 0 && *way.rest) {
		char name[NAME_MAX + 1];
		const size_t blank = strspn(way.rest, "/"), n = strcspn(way.rest + blank, "/");

		if (n > NAME_MAX) {
			r = -ENAMETOOLONG;
			break;
		}
		snprintf(name, sizeof name, "%.*s", (int)n, way.rest + blank);
		memmove(way.rest, way.rest + blank + n, strlen(way.rest + blank + n) + 1);
		r = *name ? record_folder_enter(&way, name, ret_why) : 0;
	}
	if (r < 0)
		close_fd(&way.fd);
	*ret_fd = way.fd;
	return r;
}

/* Makes the folder with MODE, whatever the umask. */
static int record_folder_make(const char *path, char ret_why[RUN_WHY_MAX])
{
	const char *name = strrchr(path, '/') + 1;
	_cleanup_close_ int above_fd = -1, fd = -1;
	char above[PATH_MAX];
	int r;

	snprintf(above, sizeof above, "%.*s", (int)(name - path), path);
	r = go(above, &above_fd, ret_why);
	if (r < 0)
		return r;
	if (mkdirat(above_fd, name, MODE) < 0)
		return errno == EEXIST ? 0 : -errno;
	fd = openat(above_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 || fchmod(fd, MODE) < 0 ? -errno : 0;
}

/* --- who may read in it --- */

/* A POSIX access control list is the kernel's extended attribute: no library is needed. */
static const char ACL_NAME[] = "system.posix_acl_access";

static struct posix_acl_xattr_entry entry(unsigned tag, unsigned permissions, uint32_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16((uint16_t)tag),
		.e_perm = htole16((uint16_t)(permissions & 7)),
		.e_id = htole32(id),
	};
}

/* The mask limits all entries but those of the owner and of the world. In the mode, it shows as the
 * group's permissions. */
int record_folder_allow(int fd, mode_t mode, uint32_t uid, unsigned permissions)
{
	const uint32_t nobody = (uint32_t)ACL_UNDEFINED_ID;
	const struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5]; /* in this order */
	} list = {
		.header.a_version = htole32(POSIX_ACL_XATTR_VERSION),
		.entries = {
			entry(ACL_USER_OBJ, mode >> 6, nobody),
			entry(ACL_USER, permissions, uid),
			entry(ACL_GROUP_OBJ, mode >> 3, nobody),
			entry(ACL_MASK, mode >> 3 | permissions, nobody),
			entry(ACL_OTHER, mode, nobody),
		},
	};

	return fsetxattr(fd, ACL_NAME, &list, sizeof list, 0) < 0 ? -errno : 0;
}

/* --- opening it --- */

static int record_folder_open_path(const char *path, int *ret_fd, char ret_why[RUN_WHY_MAX])
{
	_cleanup_close_ int fd = -1;
	int r = go(path, &fd, ret_why);

	if (r == -ENOENT)
		r = record_folder_make(path, ret_why);
	if (r == 0 && fd < 0)
		r = go(path, &fd, ret_why);
	if (r < 0)
		return r;
	*ret_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

int record_folder_open(
	const char *name, const struct run *run, int *ret_fd, char ret_why[RUN_WHY_MAX])
{
	char path[PATH_MAX];
	int r;

	*ret_why = '\0';
	r = *name == '/' ? record_folder_expand(name, run->head.id, path) : -EINVAL;
	if (r == 0)
		r = record_folder_open_path(path, ret_fd, ret_why);
	if (r < 0 && !*ret_why)
		snprintf(ret_why, RUN_WHY_MAX, "%s", strerror(-r));
	/* Without access control lists, the user opens the files by name, as in other folders. */
	if (r == 0 && is_of_one_job(name) && run->head.uid != UNCORE_UNKNOWN_USER)
		record_folder_allow(*ret_fd, MODE, run->head.uid, R_OK | X_OK);
	return r;
}
