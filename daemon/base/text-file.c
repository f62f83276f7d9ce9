/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/text-file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"

#define CONF ".conf"

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

static int text_file_read_all(int fd, char *buffer, size_t size, size_t *ret_length)
{
	size_t length = 0;
	ssize_t n;

	do {
		n = read(fd, buffer + length, size - length);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			length += n;
	} while (n && length < size);
	*ret_length = length;
	return 0;
}

int text_file_read(int directory_fd, const char *path, char *ret_text, size_t size_bytes)
{
	_cleanup_close_ int fd = text_file_open(directory_fd, path);
	char buffer[TEXT_FILE_MAX + 1];
	size_t length = 0;
	int r;

	if (fd < 0)
		return fd;
	r = text_file_read_all(fd, buffer, sizeof buffer, &length);
	if (r < 0)
		return r;
	/* events/ of the Intel drivers end without a newline, format/ and cpumask with one */
	if (length && buffer[length - 1] == '\n')
		length--;
	if (!length)
		return -ENODATA;
	if (length > TEXT_FILE_MAX || length >= size_bytes)
		return -EFBIG;
	memcpy(ret_text, buffer, length);
	ret_text[length] = '\0';
	return 0;
}

static int text_file_look(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)path;
	(void)where;
	return type != FTW_F || S_ISREG(status->st_mode) ? 0 : -EINVAL;
}

int text_files_check(const char *path)
{
	int r = nftw(path, text_file_look, OPEN_FOLDERS, FTW_PHYS);

	if (r == -1)
		return errno == ENOENT ? 0 : -errno;
	return r;
}

int directory_open(int directory_fd, const char *path, DIR **ret)
{
	_cleanup_close_ int fd = openat(directory_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory;

	if (fd < 0)
		return -errno;
	directory = fdopendir(fd);
	if (!directory)
		return -errno;
	take_fd(&fd);
	*ret = directory;
	return 0;
}

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return *entry->d_name != '.' && length > strlen(CONF) &&
	       !strcmp(entry->d_name + length - strlen(CONF), CONF);
}

int conf_folder_each(const char *folder,
	int (*visit)(const char *path, void *userdata, struct fault *fault), void *userdata,
	struct fault *fault)
{
	struct dirent **entries;
	int r = 0, n = scandir(folder, &entries, is_conf, alphasort);

	if (n < 0)
		return errno == ENOENT ? 0
				       : fault_set(fault, -errno, "Cannot list %s: %m.", folder);
	for (int i = 0; i < n; i++) {
		_cleanup_free_ struct dirent *entry = entries[i];
		_cleanup_free_ char *path = NULL;

		if (r >= 0 && asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
			path = NULL;
			r = fault_set(fault, -ENOMEM, "Out of memory.");
		}
		if (r >= 0)
			r = visit(path, userdata, fault);
	}
	free(entries);
	return r;
}
