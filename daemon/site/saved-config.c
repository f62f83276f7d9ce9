/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/site/saved-config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/macro.h"
#include "daemon/site/config-files.h"

/* Names in the service manager's store. */
static const char text_name[] = "configuration", numbers_name[] = "names";

/* Missing files are like an empty one: they need not exist. */
static int saved_config_write_values(const char *path, int to)
{
	_cleanup_(config_files_done) struct config_files files = {};
	struct fault fault;
	int r = config_files_load(path, &files, &fault);

	return r == -ENOENT ? 0 : r < 0 ? r : config_files_write(&files, to);
}

static int saved_config_keep_fd(const char *name, int fd)
{
	fdstore_forget(name);
	return fdstore_keep(name, &fd, 1);
}

/* --- names and their numbers: a line for each --- */

static int write_numbers(int to, const struct policy_access *access)
{
	char names[POLICY_TEXT_MAX], *rest;
	unsigned i = 0;
	int r = 0;

	if (access->by_group)
		r = dprintf(to, "group %u %s\n", access->group, access->group_text);
	strcpy(names, access->users_text);
	for (char *one = strtok_r(names, " \t", &rest); one && r >= 0;
		one = strtok_r(NULL, " \t", &rest))
		r = dprintf(to, "user %u %s\n", access->users[i++], one);
	return r;
}

static int keep_numbers(const struct policy_access *access)
{
	_cleanup_close_ int fd = -1;

	if (!access->by_group && !access->n_users) {
		fdstore_forget(numbers_name);
		return 0;
	}
	fd = memfd_create("uncored-names", MFD_CLOEXEC);
	if (fd < 0 || write_numbers(fd, access) < 0)
		return -errno;
	return saved_config_keep_fd(numbers_name, fd);
}

static void saved_config_take_number(
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

static void read_numbers(struct fdstore *store, struct policy_access *ret)
{
	char line[2 * POLICY_NAME_MAX], kind[8], name[POLICY_NAME_MAX];
	int fd = fdstore_take(store, numbers_name);
	_cleanup_file_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	uint32_t number;

	*ret = (struct policy_access){};
	if (!file) {
		close_fd(&fd);
		return;
	}
	rewind(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "%7s %" SCNu32 " %255[^\n]", kind, &number, name) == 3)
			saved_config_take_number(ret, kind, name, number);
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
		return saved_config_keep_fd(text_name, saved->text_fd);
	copy = memfd_create("uncored-configuration", MFD_CLOEXEC);
	if (copy < 0)
		return -errno;
	r = saved_config_write_values(config_path(&config->origin), copy);
	return r < 0 ? r : saved_config_keep_fd(text_name, copy);
}

void saved_config_done(struct saved_config *saved)
{
	close_fd(&saved->text_fd);
}
