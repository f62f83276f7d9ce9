/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"

static int memfd_seal(const char *name, size_t size_bytes, mode_t mode, int seals)
{
	_cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size_bytes) < 0 || fchmod(fd, mode) < 0 ||
		fcntl(fd, F_ADD_SEALS, seals) < 0)
		return -errno;
	return take_fd(&fd);
}

int memfd_new(const char *name, size_t size_bytes, mode_t mode)
{
	return memfd_seal(name, size_bytes, mode, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

int memfd_new_growing(const char *name, mode_t mode)
{
	return memfd_seal(name, 0, mode, F_SEAL_SHRINK | F_SEAL_SEAL);
}

size_t memfd_bytes(int fd)
{
	struct stat status;

	return fstat(fd, &status) < 0 || status.st_size < 0 ? 0 : (size_t)status.st_size;
}

void *memfd_map(int fd, size_t size_bytes)
{
	void *map = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return NULL;
	return map;
}

static int reopen(int fd, int access)
{
	char path[64];
	int reopened;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	reopened = open(path, access | O_CLOEXEC);
	return reopened < 0 ? -errno : reopened;
}

int memfd_reopen(int fd)
{
	return reopen(fd, O_RDWR);
}

int memfd_reopen_read_only(int fd)
{
	return reopen(fd, O_RDONLY);
}
