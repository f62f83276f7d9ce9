/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/site/saved-config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "common/macro.h"

/* Names in the service manager's store. */
static const char text_name[] = "configuration", numbers_name[] = "names";

/* A missing file is like an empty file: it need not exist. */
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

static int keep(const char *name, int fd)
{
	fdstore_forget(name);
	return fdstore_keep(name, &fd, 1);
}

/* --- names and their numbers: a line for each --- */

static void write_numbers(FILE *file, const struct policy_access *access)
{
	char names[POLICY_TEXT_MAX], *rest;
	unsigned i = 0;

	if (access->by_group)
		fprintf(file, "group %u %s\n", access->group, access->group_text);
	strcpy(names, access->users_text);
	for (char *one = strtok_r(names, " \t", &rest); one; one = strtok_r(NULL, " \t", &rest))
		fprintf(file, "user %u %s\n", access->users[i++], one);
}

static int keep_numbers(const struct policy_access *access)
{
	_cleanup_close_ int fd = -1;
	_cleanup_file_ FILE *file = NULL;
	int copy = -1;

	if (!access->by_group && !access->n_users) {
		fdstore_forget(numbers_name);
		return 0;
	}
	fd = memfd_create("uncored-names", MFD_CLOEXEC);
	if (fd >= 0)
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0)
		file = fdopen(copy, "w");
	if (!file) {
		close_fd(&copy);
		return -ENOMEM;
	}
	write_numbers(file, access);
	return fflush(file) ? -errno : keep(numbers_name, fd);
}

static void take_number(
	struct policy_access *access, const char *kind, const char *name, uint32_t number)
{
	size_t length = strlen(access->users_text);

	if (!strcmp(kind, "group")) {
		access->by_group = true;
		access->group = number;
		strcpy(access->group_text, name);
	} else if (access->n_users < POLICY_USERS_MAX &&
		   length + strlen(name) + 2 <= sizeof access->users_text) {
		sprintf(access->users_text + length, "%s ", name);
		access->users[access->n_users++] = number;
	}
}

static void read_numbers(const struct fdstore *store, struct policy_access *ret)
{
	char path[32], line[2 * POLICY_NAME_MAX], kind[8], name[POLICY_NAME_MAX];
	_cleanup_file_ FILE *file = NULL;
	uint32_t number;
	int fd = fdstore_find(store, numbers_name);

	*ret = (struct policy_access){};
	if (fd < 0)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "%7s %" SCNu32 " %255[^\n]", kind, &number, name) == 3)
			take_number(ret, kind, name, number);
}

/* --- the text --- */

void saved_config_take(struct fdstore *store, struct saved_config *ret)
{
	read_numbers(store, &ret->names);
	ret->text_fd = fdstore_take(store, text_name);
}

int saved_config_load(const struct saved_config *saved, const struct config_origin *origin,
	struct config *ret, struct fault *fault)
{
	struct config_origin of_copy = *origin;
	char path[32];
	int r;

	if (saved->text_fd < 0)
		return -ENOENT;
	snprintf(path, sizeof path, "/proc/self/fd/%d", saved->text_fd);
	of_copy.path = path;
	r = config_find(&of_copy, &saved->names, ret, fault);
	if (r >= 0)
		ret->origin = *origin;
	return r;
}

int saved_config_keep(const struct config *config, const struct saved_config *saved)
{
	_cleanup_close_ int copy = -1;
	int r = keep_numbers(&config->access);

	if (r < 0)
		return r;
	if (saved && saved->text_fd >= 0)
		return keep(text_name, saved->text_fd);
	copy = memfd_create("uncored-configuration", MFD_CLOEXEC);
	if (copy < 0)
		return -errno;
	r = copy_file(config_path(&config->origin), copy);
	return r < 0 ? r : keep(text_name, copy);
}

void saved_config_done(struct saved_config *saved)
{
	close_fd(&saved->text_fd);
}
