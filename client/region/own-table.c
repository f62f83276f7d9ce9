/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/own-table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "client/launcher/launch.h"
#include "client/libuncore/internal.h"
#include "common/clock.h"

enum { XFS_MAGIC = 0x58465342 }; /* older kernels' headers lack it */

/* --- making --- */

bool own_table_reserve(int fd, size_t from, size_t size_bytes)
{
	int r;

	do
		r = fallocate(fd, 0, (off_t)from, (off_t)size_bytes);
	while (r < 0 && errno == EINTR);
	return r == 0;
}

static bool reserve_first(int fd)
{
	const struct table *none = NULL;

	return own_table_reserve(fd, 0, offsetof(struct table, cells)) &&
	       own_table_reserve(
		       fd, offsetof(struct table, sums[TABLE_OUTSIDE]), sizeof none->sums[0]);
}

/* Are reserved pages of a file there all that writing to it needs? Not on btrfs, for example. */
static bool is_local(const char *folder)
{
	static const uint32_t kinds[] = { EXT4_SUPER_MAGIC, XFS_MAGIC, TMPFS_MAGIC,
		OVERLAYFS_SUPER_MAGIC };
	struct statfs status;
	size_t i = 0;

	if (statfs(folder, &status) < 0)
		return false;
	while (i < ARRAY_SIZE(kinds) && (uint32_t)status.f_type != kinds[i])
		i++;
	return i < ARRAY_SIZE(kinds);
}

/* NULL: there is no memory, or the report is a device or a pipe. */
static char *name_beside(const char *report)
{
	const char *slash = strrchr(report, '/'), *base = slash ? slash + 1 : report;
	_cleanup_free_ char *folder = strndup(report, (size_t)(base - report));
	struct stat status;
	char *name = NULL;

	if (!folder || (stat(report, &status) == 0 && !S_ISREG(status.st_mode)))
		return NULL;
	if (asprintf(&name, "%s%s.table-XXXXXX",
		    is_local(*folder ? folder : ".") ? folder : "/dev/shm/", base) < 0)
		return NULL;
	return name;
}

static void own_table_drop(int *fd, char **name)
{
	if (*name)
		unlink(*name);
	free(take_ptr(*name));
	close_fd(fd);
}

/* The program may change its folder, and close the descriptor. */
static int named_file(char **ret_name)
{
	const char *template = secure_getenv("UNCORE_REPORT");
	_cleanup_free_ char *report = NULL, *name = NULL;
	int fd;

	if (!template || !*template || launch_expand_variable(template, &report) < 0)
		return -1;
	name = name_beside(report);
	fd = name ? mkostemp(name, O_CLOEXEC) : -1;
	if (fd < 0)
		return -1;
	*ret_name = realpath(name, NULL);
	if (!*ret_name)
		*ret_name = take_ptr(name);
	if (!reserve_first(fd))
		own_table_drop(&fd, ret_name);
	return fd;
}

/* Above the limit of file sizes a signal would end the program. */
int own_table_new(struct table **ret, char **ret_name)
{
	struct rlimit most;
	int fd = -1;

	*ret = NULL;
	*ret_name = NULL;
	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur >= table_bytes()) {
		fd = named_file(ret_name);
		fd = fd < 0 ? memfd_create("uncore-regions", MFD_CLOEXEC) : fd;
	}
	fd = fd_beside_streams(fd);
	if (fd < 0 || ftruncate(fd, (off_t)table_bytes()) < 0 ||
		table_map(fd, table_bytes(), ret) < 0) {
		own_table_drop(&fd, ret_name);
		*ret = table_new();
	} else if (*ret_name) {
		(*ret)->header.boot_ns = clock_wall_ns() - clock_now_ns();
	}
	return fd;
}

/* --- reading --- */

static int own_table_copy(int fd, struct table *table)
{
	const off_t end = (off_t)table_bytes();
	ssize_t n = 0;

	/* The file is sparse. */
	for (off_t at = 0; (at = lseek(fd, at, SEEK_DATA)) >= 0 && at < end; at += n) {
		const off_t chunk = end - at < 65536 ? end - at : 65536;

		n = pread(fd, (char *)table + at, (size_t)chunk, at);
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
	}
	return 0;
}

/* A pipe must not be opened: its reader does that. */
static int own_table_open(const char *path, struct table_header *ret)
{
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return -ENOMSG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, ret, sizeof *ret, 0) != sizeof *ret || ret->magic != TABLE_MAGIC)
		return -ENOMSG;
	if (ret->layout != TABLE_LAYOUT || status.st_size != (off_t)table_bytes())
		return error_say(-EBADMSG, "It is not a table of this release of libuncore.");
	if (ret->is_reported)
		return error_say(-EALREADY, "Its processes have reported.");
	return take_fd(&fd);
}

int own_table_read(const char *path, struct table **ret, int *ret_fd)
{
	struct table_header header;
	_cleanup_close_ int fd = own_table_open(path, &header);
	struct table *table;
	int r;

	if (fd < 0)
		return fd;
	table = table_new();
	if (!table)
		return error_say(-ENOMEM, "No memory for a table.");
	r = own_table_copy(fd, table);
	if (r < 0) {
		table_unmap(table);
		return error_say(r, "Cannot read the table: %m.");
	}
	*ret = table;
	*ret_fd = take_fd(&fd);
	return 0;
}
