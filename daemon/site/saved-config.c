/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/site/saved-config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/macro.h"
#include "daemon/site/config-files.h"

static const char store_name[] = "configuration"; /* in the service manager's store */

enum { PATH_BYTES = 32 };

/* --- writing --- */

/* Missing files are like an empty one: they need not exist. */
static int saved_config_write_values(const char *path, int to)
{
	_cleanup_(config_files_done) struct config_files files = {};
	struct fault fault;
	int r = config_files_load(path, &files, &fault);

	return r == -ENOENT ? 0 : r < 0 ? r : config_files_write(&files, to);
}

/* The names, with their numbers: a comment for each. */
static int write_numbers(int to, const struct policy_access *access)
{
	char names[POLICY_TEXT_MAX], *rest;
	unsigned i = 0;
	int r = 0;

	if (access->by_group)
		r = dprintf(to, "# group %u %s\n", access->group, access->group_text);
	strcpy(names, access->users_text);
	for (char *one = strtok_r(names, " \t", &rest); one && r >= 0;
		one = strtok_r(NULL, " \t", &rest))
		r = dprintf(to, "# user %u %s\n", access->users[i++], one);
	return r < 0 ? -errno : 0;
}

/* The path of the saved text; NULL: there is none. */
static const char *path_of(const struct saved_config *saved, char ret[PATH_BYTES])
{
	if (!saved || saved->text_fd < 0)
		return NULL;
	snprintf(ret, PATH_BYTES, "/proc/self/fd/%d", saved->text_fd);
	return ret;
}

int saved_config_keep(const struct config *config, const struct saved_config *saved)
{
	_cleanup_close_ int text = memfd_create("uncored-configuration", MFD_CLOEXEC);
	char buffer[PATH_BYTES];
	const char *path = path_of(saved, buffer);
	int r;

	if (text < 0)
		return -errno;
	r = saved_config_write_values(path ? path : config_path(&config->origin), text);
	if (r >= 0)
		r = write_numbers(text, &config->access);
	if (r < 0)
		return r;
	fdstore_forget(store_name);
	return fdstore_keep(store_name, &text, 1);
}

/* --- reading --- */

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

void saved_config_take(struct fdstore *store, struct saved_config *ret)
{
	char line[POLICY_TEXT_MAX + 64], kind[8], name[POLICY_NAME_MAX], buffer[PATH_BYTES];
	_cleanup_file_ FILE *file = NULL;
	uint32_t number;

	*ret = (struct saved_config){ .text_fd = fdstore_take(store, store_name) };
	if (path_of(ret, buffer))
		file = fopen(buffer, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "# %7s %" SCNu32 " %255[^\n]", kind, &number, name) == 3)
			saved_config_take_number(&ret->names, kind, name, number);
}

int saved_config_load(const struct saved_config *saved, const struct config_origin *origin,
	struct config *ret, struct fault *fault)
{
	struct config_origin of_copy = *origin;
	char buffer[PATH_BYTES];
	int r;

	of_copy.path = path_of(saved, buffer);
	if (!of_copy.path)
		return -ENOENT;
	r = config_find(&of_copy, &saved->names, ret, fault);
	if (r >= 0)
		ret->origin = *origin;
	return r;
}

void saved_config_done(struct saved_config *saved)
{
	close_fd(&saved->text_fd);
}
