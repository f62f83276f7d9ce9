/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens files and folders that others provide, such as a tree for --root or a configuration. */
#pragma once

#include <dirent.h>
#include <stddef.h>

#include "daemon/base/fault.h"

enum {
	TEXT_FILE_MAX = 4096
}; /* bytes that the kernel's sysfs_emit() writes at most (4 KiB pages) */

/*
 * Opens @path below @directory_fd (AT_FDCWD) for reading. Returns its descriptor; errno of
 * openat(2) and fstat(2); -EISDIR; -EINVAL: @path is neither a regular file nor, like /dev/null, a
 * character device. Does not wait for the other end of a FIFO, which may never come.
 */
int text_file_open(int directory_fd, const char *path);

/*
 * Reads a small text file, such as one in sysfs, without its final newline. 0; -EFBIG: it does not
 * fit; -ENODATA: it is empty; errno of read(2), errors of text_file_open().
 */
int text_file_read(int directory_fd, const char *path, char *ret_text, size_t size_bytes);

/*
 * Says whether a library that opens files by itself can read all below @path: 0; -EINVAL: there is
 * something other than regular files, folders and links; errno of nftw(3), but 0 if @path is
 * missing.
 */
int text_files_check(const char *path);

/* Opens the folder @path below @directory_fd, for closedir(3). Errno of openat(2). */
int directory_open(int directory_fd, const char *path, DIR **ret);

/* Calls @visit for each path FOLDER/NAME.conf, in the order of names, until it fails. A missing
 * folder is an empty one. 0; errno of scandir(3); -ENOMEM; what @visit returned. */
int conf_folder_each(const char *folder,
	int (*visit)(const char *path, void *userdata, struct fault *fault), void *userdata,
	struct fault *fault);

static inline void directory_close(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}
