/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/last-config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "common/macro.h"

static const char name[] = "configuration";

/* A file that need not exist is as good as an empty one. */
static int copy_file(const char *path, int to)
{
	_cleanup_close_ int from = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (from < 0)
		return errno == ENOENT ? 0 : -errno;
	while (n > 0)
		n = sendfile(to, from, NULL, 65536);
	return n < 0 ? -errno : 0;
}

static int keep(int fd)
{
	store_forget(name);
	return store_keep(name, &fd, 1);
}

int last_config_keep(const struct config *config)
{
	_cleanup_close_ int copy = -1;
	int r;

	if (config->former_fd >= 0)
		return keep(config->former_fd);
	copy = memfd_create("uncored-configuration", MFD_CLOEXEC);
	if (copy < 0)
		return -errno;
	r = copy_file(config_path(&config->origin), copy);
	return r < 0 ? r : keep(copy);
}

int last_config_find(struct store *store, const struct config_origin *origin, struct config *ret,
	struct fault *fault)
{
	_cleanup_close_ int copy = store_take(store, name);
	struct config_origin of_copy = *origin;
	char path[32];
	int r;

	if (copy < 0)
		return copy;
	snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
	of_copy.path = path;
	r = config_find(&of_copy, ret, fault);
	if (r < 0)
		return r;
	ret->origin = *origin;
	ret->former_fd = take_fd(&copy);
	return 0;
}
