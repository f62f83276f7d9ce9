/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that closes all descriptors and opens files of its own, as one that becomes a daemon.
 * The numbers that the library has noted are then the program's, and regions go on.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/region/region-case.h"

enum { FIRST = 3, LAST = 63, HIGH = 100 };

/* In place of all descriptors, whatever they were; an empty file. */
static void open_own_files(const struct fake_daemon *daemon)
{
	_cleanup_free_ char *path = path_in(daemon, "own");
	int low = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), high;

	CHECK(low >= 0 && unlink(path) == 0);
	high = fcntl(low, F_DUPFD_CLOEXEC, HIGH);
	CHECK(high >= 0);
	for (int fd = FIRST; fd <= LAST; fd++)
		CHECK(dup3(high, fd, O_CLOEXEC) == fd);
}

static void close_all(void)
{
	for (int fd = FIRST; fd < HIGH + FIRST; fd++)
		close(fd);
}

/* All are there, and nothing was written to them. */
static void check_own_files(void)
{
	struct stat first, status;

	CHECK(fstat(FIRST, &first) == 0 && first.st_size == 0);
	for (int fd = FIRST; fd <= LAST; fd++)
		CHECK(fstat(fd, &status) == 0 && status.st_ino == first.st_ino);
}

static void pass(void)
{
	CHECK(uncore_region_begin("a") == 0);
	CHECK(uncore_region_end("a") == 0);
}

static void check_region(const struct fake_daemon *daemon, uint64_t count)
{
	struct json_object *report = take_report(daemon);

	check_counts(report, "0", count, 0);
	CHECK(bytes_of(find_region(report, "a")) >= count * FAKE_STEP);
	json_object_put(report);
}

static void fork_and_open(struct fake_daemon *daemon)
{
	pid_t pid;

	pass();
	pid = fork();
	if (pid == 0) {
		open_own_files(daemon);
		pass();
		check_own_files();
		check_region(daemon, 1);
		_exit(0);
	}
	CHECK(wait_for(pid) == 0);
	pass();
	check_region(daemon, 2);
}

CASE("a forked child keeps its own files")
{
	run_with(NULL, fork_and_open);
}

/* A child that has closed nothing has the parent's descriptors; it gives these up. */
static void fork_and_count(struct fake_daemon *daemon)
{
	long n_before;
	pid_t pid;

	(void)daemon;
	pass();
	n_before = count_open_descriptors();
	pid = fork();
	if (pid == 0) {
		pass();
		CHECK(count_open_descriptors() == n_before);
		_exit(0);
	}
	CHECK(wait_for(pid) == 0);
}

CASE("a forked child has as many descriptors as its parent")
{
	run_with(NULL, fork_and_count);
}

static void open_inside(struct fake_daemon *daemon)
{
	CHECK(uncore_region_begin("a") == 0);
	open_own_files(daemon);
	CHECK(uncore_region_end("a") == 0);
	check_own_files();
	check_region(daemon, 1);
	pass();
	check_region(daemon, 2);
	check_own_files();
}

CASE("a program keeps its own files, and its region goes on")
{
	run_with(NULL, open_inside);
}

static void close_inside(struct fake_daemon *daemon)
{
	CHECK(uncore_region_begin("a") == 0);
	close_all();
	CHECK(uncore_region_end("a") == 0);
	check_region(daemon, 1);
}

CASE("a region goes on without the descriptors that were closed")
{
	run_with(NULL, close_inside);
}

static void close_after(struct fake_daemon *daemon)
{
	struct uncore *handle;

	CHECK(uncore_open(daemon->path, &handle) == 0);
	open_own_files(daemon);
	uncore_close(handle);
	check_own_files();
}

CASE("to close a handle closes no other file")
{
	run_with(NULL, close_after);
}
