/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/machine/socket-numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/number.h"
#include "common/page.h"
#include "common/text.h"
#include "daemon/base/text-file.h"

/* The file: "0 8" says that package 0 is socket 0 and package 8 is socket 1. */
#define FILE_NAME "sockets"

enum { TEXT_MAX = PAGE_SOCKETS_MAX * sizeof "4294967295" + 2 };

struct numbers {
	unsigned n;
	uint32_t packages[PAGE_SOCKETS_MAX];
};

static bool has(const uint32_t *packages, unsigned n, uint32_t package)
{
	for (unsigned i = 0; i < n; i++)
		if (packages[i] == package)
			return true;
	return false;
}

/* False: not a list of different packages. */
static bool socket_numbers_parse(char *text, struct numbers *ret)
{
	char *rest = NULL;

	ret->n = 0;
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		uint64_t package;

		if (ret->n == PAGE_SOCKETS_MAX ||
			!number_parse_whole(word, 10, UINT32_MAX, &package) ||
			has(ret->packages, ret->n, (uint32_t)package))
			return false;
		ret->packages[ret->n++] = (uint32_t)package;
	}
	return ret->n > 0;
}

/* If there is no file, there are no numbers; this is not an error. */
static int socket_numbers_load(const char *folder, struct numbers *ret, struct fault *fault)
{
	char path[PATH_MAX], text[TEXT_MAX];
	int r;

	ret->n = 0;
	snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
	r = text_file_read(AT_FDCWD, path, text, sizeof text);
	if (r == -ENOENT)
		return 0;
	if (r >= 0 && !socket_numbers_parse(text, ret))
		r = -EBADMSG;
	return r < 0 ? fault_set(fault, r,
			       "The numbers of sockets in %s cannot be used: %s. They are made "
			       "anew.",
			       path, r == -EBADMSG ? "it is not a list of packages" : strerror(-r))
		     : 0;
}

static bool all_are_in(const struct topology *topology, const struct numbers *numbers)
{
	for (unsigned s = 0; s < topology->n_sockets; s++)
		if (!has(numbers->packages, numbers->n, topology->package_of_socket[s]))
			return false;
	return true;
}

int socket_numbers_apply(const char *folder, struct topology *topology, struct fault *fault)
{
	struct numbers numbers;
	int r = folder ? socket_numbers_load(folder, &numbers, fault) : -ENOENT;

	if (r == -ENOENT)
		return 0;
	if (r >= 0 && all_are_in(topology, &numbers))
		r = topology_renumber(topology, numbers.packages, numbers.n);
	return r;
}

static int socket_numbers_write_file(const char *path, const char *text)
{
	_cleanup_close_ int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	size_t length = strlen(text);
	ssize_t n;

	if (fd < 0 || fchmod(fd, 0644) < 0) /* readable for `uncored --check`, under any umask */
		return -errno;
	n = write(fd, text, length);
	if (n >= 0 && (size_t)n < length)
		return -ENOSPC;
	return n < 0 || fsync(fd) < 0 ? -errno : 0;
}

static bool is_saved(const char *folder, const struct topology *topology)
{
	struct numbers saved;
	struct fault fault;

	return socket_numbers_load(folder, &saved, &fault) >= 0 && saved.n == topology->n_sockets &&
	       !memcmp(saved.packages, topology->package_of_socket,
		       saved.n * sizeof *saved.packages);
}

int socket_numbers_save(const char *folder, const struct topology *topology, struct fault *fault)
{
	char path[PATH_MAX], new[PATH_MAX], text[TEXT_MAX] = "";
	int r;

	if (topology->n_sockets > PAGE_SOCKETS_MAX || is_saved(folder, topology))
		return 0;
	for (unsigned s = 0; s < topology->n_sockets; s++)
		text_append(text, sizeof text, "%" PRIu32 "%s", topology->package_of_socket[s],
			s + 1 < topology->n_sockets ? " " : "\n");
	snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
	snprintf(new, sizeof new, "%s/" FILE_NAME ".new", folder);
	r = socket_numbers_write_file(new, text);
	if (r >= 0 && rename(new, path) < 0)
		r = -errno;
	return r < 0 ? fault_set(fault, r,
			       "The numbers of the sockets cannot be saved in %s: %s. If a package "
			       "is "
			       "missing when uncored starts again, others get its number.",
			       path, strerror(-r))
		     : 0;
}
