/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a configuration: uncored.conf, then uncored.conf.d/ with NAME.conf in the order of
 * their bytes. The last file that has a key gives its whole value.
 */
#pragma once

#include "daemon/base/inifile.h"

enum { CONFIG_FILES_MAX = 64 };

/* A key, and where its value is from. The strings belong to the files. */
struct config_value {
	const char *section, *key, *value;
	unsigned file, line; /* index into config_files.files */
};

struct config_files {
	unsigned n, n_values;
	struct inifile files[CONFIG_FILES_MAX];
	struct config_value *values; /* those of a section are neighbours */
};

/*
 * Reads @path and the files in the folder @path.d, each of which must be root's, as the folder, and
 * writable for nobody else. -ENOENT: there is none of them; other errno of inifile_load(); -EINVAL:
 * a file in the folder cannot be taken. For config_files_done().
 */
int config_files_load(const char *path, struct config_files *ret, struct fault *fault);

void config_files_done(struct config_files *files);

/* Writes all values as one file. 0, or errno. */
int config_files_write(const struct config_files *files, int fd);
