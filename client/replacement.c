/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* /dev/null and symbolic links are somebody else's. */
static int check_target(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISREG(status.st_mode) ? 0 : -EEXIST;
}

/* A file of this name is left from a killed process, whose number this process has now. */
static int open_aside(const char *aside)
{
	int fd;

	unlink(aside);
	fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

static int open_stream(struct replacement *replacement)
{
	_cleanup_close_ int fd = open_aside(replacement->aside);

	if (fd < 0) {
		free(take_ptr(replacement->aside));
		return fd;
	}
	replacement->out = fdopen(fd, "w");
	if (!replacement->out)
		return -errno;
	take_fd(&fd);
	return 0;
}

int replacement_open(const char *path, struct replacement *ret)
{
	_cleanup_(replacement_done) struct replacement ours = { .path = path };
	int r = check_target(path);

	if (r < 0)
		return r;
	/* It does not end in ".prom", so a collector of such files skips it. */
	if (asprintf(&ours.aside, "%s.%d", path, (int)getpid()) < 0) {
		ours.aside = NULL;
		return -ENOMEM;
	}
	r = open_stream(&ours);
	if (r == 0)
		*ret = ours;
	if (r == 0)
		ours = (struct replacement){ .out = NULL };
	return r;
}

int replacement_commit(struct replacement *replacement)
{
	int error =
		ferror(replacement->out) ? EIO : 0; /* of an earlier write, whose errno is gone */

	if (fclose(take_ptr(replacement->out)) == EOF && !error)
		error = errno;
	if (!error && rename(replacement->aside, replacement->path) < 0)
		error = errno;
	if (!error)
		free(take_ptr(replacement->aside));
	return -error;
}

void replacement_done(struct replacement *replacement)
{
	if (replacement->out)
		fclose(take_ptr(replacement->out));
	if (replacement->aside)
		unlink(replacement->aside);
	free(take_ptr(replacement->aside));
}
