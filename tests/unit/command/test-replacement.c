/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/command/frame/replacement.h"
#include "tests/harness/test.h"

enum { LIMIT = 65536 };

/* A file may have LIMIT bytes. It is a full disk's behaviour, which needs no disk. */
static void limit_files(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = LIMIT;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
}

static int replace(const char *path, size_t n_bytes)
{
	_cleanup_(replacement_done) struct replacement file = { .out = NULL };
	int r = replacement_open(path, &file);

	if (r < 0)
		return r;
	while (n_bytes--)
		fputc('x', file.out);
	return replacement_commit(&file);
}

static void assert_size(const char *path, off_t size)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, size);
}

CASE("a file that cannot be written stays as it was and the reason is the kernels")
{
	char folder[] = "/tmp/uncore-replacement-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/x", folder);
	limit_files();
	assert_int_equal(replace(path, 1), 0);
	assert_int_equal(replace(path, LIMIT), 0);
	assert_int_equal(replace(path, LIMIT + 1), -EFBIG);
	assert_int_equal(replace(path, 10 * LIMIT), -EFBIG); /* not the last write fails first */
	assert_size(path, LIMIT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
}
