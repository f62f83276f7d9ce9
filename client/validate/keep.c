/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/validate/keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"

static const char FOLDER[] = "/var/lib/uncored", TEMPORARY[] = KEEP_PATH ".new";

static int write_file(struct json_object *report)
{
	_cleanup_file_ FILE *file = fopen(TEMPORARY, "we");

	if (!file)
		return -errno;
	fprintf(file, "%s\n", json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	if (fflush(file) == EOF || fchmod(fileno(file), 0644) < 0)
		return -errno;
	return 0;
}

int keep_report(struct json_object *report)
{
	int r = 0;

	/* Users read it, whatever the umask. */
	if ((mkdir(FOLDER, 0755) < 0 && errno != EEXIST) || chmod(FOLDER, 0755) < 0)
		r = -errno;
	if (r == 0)
		r = write_file(report);
	if (r == 0 && rename(TEMPORARY, KEEP_PATH) < 0)
		r = -errno;
	if (r < 0)
		unlink(TEMPORARY);
	if (r < 0)
		fprintf(stderr, "uncore validate: cannot write %s: %s.%s\n", KEEP_PATH,
			strerror(-r), r == -EACCES ? " Only root may keep a report." : "");
	return r;
}
