/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/text-file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "common/macro.h"

enum { OPEN_FOLDERS = 16 };

int text_file_open(int directory_fd, const char *path)
{
	_cleanup_close_ int fd =
		openat(directory_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) || S_ISCHR(status.st_mode) ? take_fd(&fd) : -EINVAL;
}

static int look(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)path;
	(void)where;
	return type != FTW_F || S_ISREG(status->st_mode) ? 0 : -EINVAL;
}

int text_files_check(const char *path)
{
	int r = nftw(path, look, OPEN_FOLDERS, FTW_PHYS);

	if (r == -1)
		return errno == ENOENT ? 0 : -errno;
	return r;
}
