/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a name or a descriptor still is of the file that we made or looked at: others may have
 * put theirs there. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/* False also where @path is a link to the file. */
static inline bool same_file_is_at(const char *path, dev_t device, ino_t inode)
{
	struct stat status;

	return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

static inline bool same_file_is_open(int fd, dev_t device, ino_t inode)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}
