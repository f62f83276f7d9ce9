/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/hostile/memfds.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/test.h"

enum { INODES_MAX = 65536 };

struct memfds {
	unsigned n;
	ino_t inodes[INODES_MAX];
};

static void add_memfd(struct memfds *memfds, ino_t inode)
{
	for (unsigned i = 0; i < memfds->n; i++)
		if (memfds->inodes[i] == inode)
			return;
	if (memfds->n < INODES_MAX)
		memfds->inodes[memfds->n++] = inode;
}

static void add_memfds_of(struct memfds *memfds, pid_t pid)
{
	char path[300], target[64];
	struct dirent *entry;
	struct stat status;
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		ssize_t n = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);

		if (n > 0 && !strncmp(target, "/memfd:", (size_t)n < 7 ? (size_t)n : 7) &&
			fstatat(dirfd(directory), entry->d_name, &status, 0) == 0)
			add_memfd(memfds, status.st_ino);
	}
	if (directory)
		closedir(directory);
}

static bool is_in(pid_t group, const pid_t groups[], unsigned n_groups)
{
	for (unsigned i = 0; i < n_groups; i++)
		if (groups[i] == group)
			return true;
	return false;
}

unsigned memfds_count(pid_t daemon, const pid_t groups[], unsigned n_groups)
{
	_cleanup_free_ struct memfds *memfds = calloc(1, sizeof *memfds);
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	assert_non_null(memfds);
	assert_non_null(processes);
	while ((entry = readdir(processes))) {
		const pid_t pid = atoi(entry->d_name); /* 0: not a process */

		if (pid && (pid == daemon || is_in(getpgid(pid), groups, n_groups)))
			add_memfds_of(memfds, pid);
	}
	closedir(processes);
	return memfds->n;
}
