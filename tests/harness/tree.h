/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots to read from: a small tree that a case writes itself, or a machine of tests/machines. */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/test.h"

struct tree {
	char root[64];
	int fd;
};

static inline struct tree tree_new(void)
{
	struct tree tree = { .root = "/tmp/uncore-tree-XXXXXX" };

	assert_non_null(mkdtemp(tree.root));
	tree.fd = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(tree.fd >= 0);
	return tree;
}

static inline int tree_remove_one(
	const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

static inline void tree_free(struct tree *tree)
{
	close(tree->fd);
	assert_int_equal(nftw(tree->root, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Writes a file and the directories above it. */
static inline void tree_write(const struct tree *tree, const char *path, const char *text)
{
	char copy[PATH_MAX];
	int fd;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(tree->fd, copy, 0755);
		*slash = '/';
	}
	fd = openat(tree->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A file of a PMU, which is a plain directory here. */
static inline void tree_write_pmu(
	const struct tree *tree, const char *pmu, const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "sys/bus/event_source/devices/%s/%s", pmu, file);
	tree_write(tree, path, text);
}

/* Where the build put a machine. */
static inline void machine_path(const char *name, char ret[PATH_MAX])
{
	const char *root = getenv("UNCORE_BUILD_ROOT");

	assert_non_null(root);
	snprintf(ret, PATH_MAX, "%s/tests/machines/%s", root, name);
}

static inline int machine_open(const char *name)
{
	char path[PATH_MAX];
	int fd;

	machine_path(name, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}
