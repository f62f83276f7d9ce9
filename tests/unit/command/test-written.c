/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/command/frame/written.h"
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
	_cleanup_(written_done) struct written file = { .out = NULL };
	int r = written_open(path, WRITTEN_WHOLE, &file);

	if (r < 0)
		return r;
	while (n_bytes--)
		fputc('x', file.out);
	return written_end(&file);
}

static void assert_size(const char *path, off_t size)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, size);
}

/* --- scenes in a folder --- */

static char folder[64], path[128], other[128];

static int setup(void **state)
{
	remember_descriptors(state);
	strcpy(folder, "/tmp/uncore-written-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/x", folder);
	snprintf(other, sizeof other, "%s/other", folder);
	return 0;
}

/* Nothing is beside the files that a case knows. */
static int teardown(void **state)
{
	unlink(path);
	unlink(other);
	assert_int_equal(rmdir(folder), 0);
	return compare_descriptors(state);
}

static int put(const char *name, enum written_how how, const char *text)
{
	_cleanup_(written_done) struct written file = { .out = NULL };
	int r = written_open(name, how, &file);

	if (r < 0)
		return r;
	fputs(text, file.out);
	return written_end(&file);
}

static void assert_text(const char *name, const char *want)
{
	char text[64] = "";
	int fd = open(name, O_RDONLY | O_NONBLOCK);

	assert_true(fd >= 0 && read(fd, text, sizeof text - 1) >= 0);
	close(fd);
	assert_string_equal(text, want);
}

static struct stat status_of(const char *name)
{
	struct stat status;

	assert_int_equal(lstat(name, &status), 0);
	return status;
}

#define SCENE(sentence) CASE_WITHIN(sentence, setup, teardown)

SCENE("a new file has the mode that the umask leaves, and a replaced one keeps its mode")
{
	const mode_t before = umask(027);

	assert_int_equal(put(path, WRITTEN_WHOLE, "one"), 0);
	assert_int_equal(status_of(path).st_mode & 07777, 0640);
	assert_int_equal(chmod(path, 0606), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "two"), 0);
	assert_int_equal(status_of(path).st_mode & 07777, 0606);
	assert_text(path, "two");
	umask(before);
}

SCENE("readers find the old file until the end, and what is not ended leaves it")
{
	struct written file;

	assert_int_equal(put(path, WRITTEN_WHOLE, "old"), 0);
	assert_int_equal(written_open(path, WRITTEN_WHOLE, &file), 0);
	fputs("new", file.out);
	fflush(file.out);
	assert_text(path, "old");
	written_done(&file);
	assert_text(path, "old");
}

SCENE("of two commands that write one file, the whole of the last one stands")
{
	struct written first, second;

	assert_int_equal(written_open(path, WRITTEN_WHOLE, &first), 0);
	assert_int_equal(written_open(path, WRITTEN_WHOLE, &second), 0);
	fputs("a longer first one", first.out);
	fputs("second", second.out);
	assert_int_equal(written_end(&second), 0);
	assert_text(path, "second");
	assert_int_equal(written_end(&first), 0);
	assert_text(path, "a longer first one");
}

SCENE("while a command writes lines, no other one gets the file")
{
	struct written lines, before;

	assert_int_equal(written_open(path, WRITTEN_WHOLE, &before), 0);
	assert_int_equal(written_open(path, WRITTEN_LINES, &lines), 0);
	fputs("line\n", lines.out);
	fflush(lines.out);
	assert_text(path, "line\n");
	for (int how = WRITTEN_WHOLE; how <= WRITTEN_LINES_APPENDED; how++)
		assert_int_equal(put(path, (enum written_how)how, "x"), -EBUSY);
	assert_int_equal(written_end(&before), -EBUSY);
	assert_string_equal(written_why(-EBUSY), "another command writes into it");
	assert_int_equal(written_end(&lines), 0);
	assert_text(path, "line\n");
	assert_int_equal(put(path, WRITTEN_LINES_APPENDED, "more\n"), 0);
	assert_int_equal(put(path, WRITTEN_APPENDED, "end\n"), 0);
	assert_text(path, "line\nmore\nend\n");
	assert_int_equal(put(path, WRITTEN_LINES, "new\n"), 0);
	assert_text(path, "new\n");
}

SCENE("a link is followed, also one that leads nowhere yet")
{
	assert_int_equal(symlink("other", path), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(put(path, WRITTEN_WHOLE, i ? "again" : "new"), 0);
		assert_true(S_ISLNK(status_of(path).st_mode));
		assert_text(other, i ? "again" : "new");
	}
	unlink(other);
	assert_int_equal(symlink("x", other), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "new"), -ELOOP);
}

SCENE("what is open is written through, whatever its name leads to")
{
	const int fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	const ino_t number = status_of(other).st_ino;
	char name[64];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	assert_int_equal(symlink(name, path), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "new"), 0);
	assert_int_equal(status_of(other).st_ino, number);
	assert_text(other, "new");
	close(fd);
	assert_int_equal(put("/dev/null", WRITTEN_WHOLE, "new"), 0);
	assert_true(S_ISCHR(status_of("/dev/null").st_mode));
	assert_int_equal(put("/dev/full", WRITTEN_WHOLE, "new"), -ENOSPC);
}

SCENE("a FIFO is written through")
{
	int fd;

	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (int how = WRITTEN_WHOLE; how <= WRITTEN_LINES_APPENDED; how++)
		assert_int_equal(put(path, (enum written_how)how, "x"), 0);
	assert_text(path, "xxxx");
	close(fd);
}

SCENE("a file with two names keeps both")
{
	assert_int_equal(put(path, WRITTEN_WHOLE, "a long old one"), 0);
	assert_int_equal(link(path, other), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "new"), 0);
	assert_text(other, "new");
}

/* Root may do all of this. */
SCENE("a file stays its owner's, a folder that takes no files is enough, and modes count")
{
	enum { NOBODY = 65534 };

	if (geteuid() != 0)
		skip();
	assert_int_equal(put(path, WRITTEN_WHOLE, "old"), 0);
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "of root"), 0);
	assert_int_equal(status_of(path).st_uid, NOBODY);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "new"), 0);
	assert_text(path, "new");
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(put(path, WRITTEN_WHOLE, "newer"), -EACCES);
	assert_int_equal(put(other, WRITTEN_WHOLE, "newer"), -EACCES);
	assert_text(path, "new");
	assert_int_equal(seteuid(0), 0);
}

SCENE("a file that cannot be written stays as it was and the reason is the kernels")
{
	limit_files();
	assert_int_equal(replace(path, 1), 0);
	assert_int_equal(replace(path, LIMIT), 0);
	assert_int_equal(replace(path, LIMIT + 1), -EFBIG);
	assert_int_equal(replace(path, 10 * LIMIT), -EFBIG); /* not the last write fails first */
	assert_size(path, LIMIT);
}
