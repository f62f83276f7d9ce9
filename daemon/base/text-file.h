/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens files that somebody else has put there, such as a tree for --root or a configuration. */
#pragma once

/*
 * Opens @path below @directory_fd (AT_FDCWD) for reading. Returns its descriptor; errno of
 * openat(2) and fstat(2); -EISDIR; -EINVAL: it is neither a regular file nor, like /dev/null, a
 * character device. It does not wait for the other end of a FIFO, which may never come.
 */
int text_file_open(int directory_fd, const char *path);

/*
 * Says whether a library that opens files by itself can read all below @path: 0; -EINVAL: there is
 * something else than regular files, folders and links; errno of nftw(3), but 0 if @path is not
 * there.
 */
int text_files_check(const char *path);
