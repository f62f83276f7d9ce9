/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/site/config-files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/array.h"
#include "common/macro.h"
#include "daemon/base/text-file.h"

/* --- values --- */

static int config_files_add_value(struct config_files *files, const struct config_value *value)
{
	unsigned at = 0;

	for (unsigned i = 0; i < files->n_values; i++) {
		struct config_value *known = &files->values[i];

		if (strcmp(known->section, value->section))
			continue;
		at = i + 1;
		if (!strcmp(known->key, value->key)) {
			*known = *value;
			return 0;
		}
	}
	at = at ? at : files->n_values;
	if (array_room(&files->values, files->n_values, sizeof *value) < 0)
		return -ENOMEM;
	memmove(&files->values[at + 1], &files->values[at],
		(files->n_values++ - at) * sizeof *value);
	files->values[at] = *value;
	return 0;
}

static int add_values(struct config_files *files, unsigned file)
{
	const struct inifile *ini = &files->files[file];

	for (unsigned s = 0; s < ini->n_sections; s++) {
		const struct inifile_section *section = &ini->sections[s];

		for (unsigned i = section->first; i < section->first + section->n; i++) {
			const struct inifile_entry *entry = &ini->entries[i];
			int r = config_files_add_value(
				files, &(struct config_value){ section->name, entry->key,
					       entry->value, file, entry->line });

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* --- files --- */

static int config_files_add_file(struct config_files *files, const char *path, struct fault *fault)
{
	struct inifile *ini = &files->files[files->n];
	int r;

	if (files->n == CONFIG_FILES_MAX)
		return fault_set(fault, -EINVAL, "%s: at most %d files can be read.", path,
			CONFIG_FILES_MAX);
	r = inifile_load(path, ini, fault);
	if (r < 0)
		return r;
	files->n++;
	if (add_values(files, files->n - 1) < 0)
		return fault_set(fault, -ENOMEM, "%s: out of memory.", path);
	return 0;
}

/* A user who may write the file decides what is disclosed. */
static int check_owner(const char *path, struct fault *fault)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? -ENOENT
				       : fault_set(fault, -errno, "Cannot look at %s: %m.", path);
	if (st.st_uid || st.st_mode & (S_IWGRP | S_IWOTH))
		return fault_set(fault, -EINVAL,
			"%s is refused: it must belong to root, and nobody else may write to it.",
			path);
	return 0;
}

static int add_dropin(const char *path, void *userdata, struct fault *fault)
{
	int r = check_owner(path, fault);

	if (r >= 0)
		r = config_files_add_file(userdata, path, fault);
	if (r == -ENOENT) /* it is not uncored.conf that is missing */
		return fault_set(fault, -EINVAL, "%s leads to no file.", path);
	return r;
}

int config_files_load(const char *path, struct config_files *ret, struct fault *fault)
{
	_cleanup_(config_files_done) struct config_files files = {};
	char folder[sizeof files.files[0].path + 2];
	int r = config_files_add_file(&files, path, fault), missing = r == -ENOENT ? r : 0;

	if (r < 0 && !missing)
		return r;
	snprintf(folder, sizeof folder, "%s.d", path);
	r = check_owner(folder, fault);
	if (r >= 0)
		r = conf_folder_each(folder, add_dropin, &files, fault);
	if (r == -ENOENT)
		r = 0;
	if (r >= 0 && !files.n)
		r = missing;
	if (r < 0)
		return r;
	*ret = files;
	files = (struct config_files){};
	return 0;
}

void config_files_done(struct config_files *files)
{
	for (unsigned i = 0; i < files->n; i++)
		inifile_done(&files->files[i]);
	free(take_ptr(files->values));
	files->n = files->n_values = 0;
}

int config_files_write(const struct config_files *files, int fd)
{
	const char *section = "";

	for (unsigned i = 0; i < files->n_values; i++) {
		const struct config_value *value = &files->values[i];

		if (strcmp(section, value->section) && dprintf(fd, "[%s]\n", value->section) < 0)
			return -errno;
		section = value->section;
		if (dprintf(fd, "%s = %s\n", value->key, value->value) < 0)
			return -errno;
	}
	return 0;
}
