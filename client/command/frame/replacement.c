/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/replacement.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only a regular file is replaced: /dev/null and symbolic links belong to somebody else. */
static int check_target(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISREG(status.st_mode) ? 0 : -EEXIST;
}

int replacement_open(const char *path, struct replacement *ret)
{
	_cleanup_free_ char *aside = NULL;
	FILE *out;
	int r = check_target(path);

	if (r < 0)
		return r;
	/* The name does not end in ".prom", so a collector of such files skips it. */
	if (asprintf(&aside, "%s.%d", path, (int)getpid()) < 0) {
		aside = NULL;
		return -ENOMEM;
	}
	unlink(aside); /* a killed process with the same PID left it */
	out = fopen(aside, "wxe");
	if (!out)
		return -errno;
	*ret = (struct replacement){ .out = out, .path = path, .aside = take_ptr(aside) };
	return 0;
}

int replacement_commit(struct replacement *replacement)
{
	int lost = ferror(replacement->out) ? EIO : 0; /* of an earlier write */
	int error = fclose(take_ptr(replacement->out)) == EOF ? errno : lost;

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
