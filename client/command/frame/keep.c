/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/command/frame/replacement.h"

static const char FOLDER[] = "/var/lib/uncored";

static int write_file(const char *report)
{
	_cleanup_(replacement_done) struct replacement file = { .out = NULL };
	int r = replacement_open(KEEP_PATH, &file);

	if (r < 0)
		return r;
	fprintf(file.out, "%s\n", report);
	if (fchmod(fileno(file.out), 0644) < 0)
		return -errno;
	return replacement_commit(&file);
}

int keep_report(const char *report)
{
	int r = 0;

	/* Users may read it, whatever the umask. */
	if ((mkdir(FOLDER, 0755) < 0 && errno != EEXIST) || chmod(FOLDER, 0755) < 0)
		r = -errno;
	if (r == 0)
		r = write_file(report);
	if (r < 0)
		fprintf(stderr, "uncore validate: cannot write %s: %s.%s\n", KEEP_PATH,
			strerror(-r), r == -EACCES ? " Only root may keep a report." : "");
	return r;
}
