/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <pcp/pmapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"

enum { COUNTERS_MAX = 16384 }; /* PAPI cannot handle more */

#define HEADING "uncore perfevent 2 %" SCNx64 " %" SCNx64 " %u"
#define LINE    "%31s %31s %u %u %u %u %d %" SCNu64 " %" SCNu64 " %" SCNu32

/* Where PCP's agents keep data for their next run. */
static void make_path(char ret[MAXPATHLEN], const char *suffix)
{
	snprintf(ret, MAXPATHLEN, "%s/config/pmda/uncore.perfevent%s", pmGetConfig("PCP_VAR_DIR"),
		suffix);
}

/* One line of text; false: there is none, or it has a NUL, which names may not have. */
static bool saved_read_line(FILE *file, char **line, size_t *size_bytes)
{
	ssize_t n = getline(line, size_bytes, file);

	return n > 0 && strlen(*line) == (size_t)n;
}

static bool parse_counter(const char *line, struct counter *ret)
{
	int offered;

	ret->source = -1;
	if (sscanf(line, LINE, ret->pmu, ret->event, &ret->cluster, &ret->item, &ret->socket,
		    &ret->cpu, &offered, &ret->base, &ret->count, &ret->bytes) != 10)
		return false;
	ret->offered = offered;
	return ret->cluster >= PERFEVENT_FIRST_CLUSTER && ret->cluster < 4096 && ret->item < 1024 &&
	       ret->base <= ret->count && ret->bytes;
}

/* The file is complete or does not exist, because rename(2) replaces it. */
static bool saved_read_all(FILE *file, struct saved *saved)
{
	_cleanup_free_ char *line = NULL;
	size_t size_bytes = 0;

	for (unsigned i = 0; i < saved->n_counters; i++)
		if (!saved_read_line(file, &line, &size_bytes) ||
			!parse_counter(line, &saved->counters[i]))
			return false;
	return true;
}

static bool read_heading(FILE *file, struct saved *saved)
{
	_cleanup_free_ char *line = NULL;
	size_t size_bytes = 0;

	return saved_read_line(file, &line, &size_bytes) &&
	       sscanf(line, HEADING, &saved->generation[0], &saved->generation[1],
		       &saved->n_counters) == 3 &&
	       saved->n_counters <= COUNTERS_MAX;
}

/* The permissions of the file decide, so that file and record cannot disagree. */
static bool is_for_all(FILE *file)
{
	struct stat status;

	return fstat(fileno(file), &status) == 0 && status.st_mode & S_IROTH;
}

int saved_load(struct saved *saved, unsigned n_more)
{
	_cleanup_file_ FILE *file = NULL;
	char path[MAXPATHLEN];
	bool good;

	make_path(path, "");
	file = fopen(path, "re");
	good = !file || read_heading(file, saved);
	if (!file || !good)
		*saved = (struct saved){ 0 };
	saved->counters = calloc(saved->n_counters + n_more + 1, sizeof *saved->counters);
	if (file && good && saved->counters)
		good = saved_read_all(file, saved);
	saved->is_public = file && is_for_all(file);
	if (!good) {
		saved->n_counters = 0;
		pmNotifyErr(LOG_WARNING,
			"%s is damaged, or of another release: counts below perfevent begin anew",
			path);
	}
	return saved->counters ? 0 : -ENOMEM;
}

static void saved_write_all(FILE *file, const struct saved *saved)
{
	fprintf(file, "uncore perfevent 2 %" PRIx64 " %" PRIx64 " %u\n", saved->generation[0],
		saved->generation[1], saved->n_counters);
	for (unsigned i = 0; i < saved->n_counters; i++) {
		const struct counter *c = &saved->counters[i];

		fprintf(file, "%s %s %u %u %u %u %d %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", c->pmu,
			c->event, c->cluster, c->item, c->socket, c->cpu, c->offered, c->base,
			c->count, c->bytes);
	}
}

/* The warning does not belong in the log of a user's own program. */
static bool is_agent(void)
{
	return !strcmp(pmGetProgname(), "pmdauncore") || !strcmp(pmGetProgname(), "pmcd");
}

static void say_saved(const char *path, bool saved)
{
	static bool told;
	int error = errno;

	if (!saved && !told && is_agent())
		pmNotifyErr(LOG_WARNING,
			"Cannot write %s: %s. If this agent is killed, counts below perfevent may "
			"go back",
			path, strerror(error));
	told = !saved;
}

static bool saved_save_to(const struct saved *saved, const char *path, const char *new_path)
{
	FILE *file = fopen(new_path, "wxe");
	bool failed;

	if (!file)
		return false;
	failed = fchmod(fileno(file), saved->is_public ? 0644 : 0600) != 0;
	saved_write_all(file, saved);
	failed |= ferror(file) != 0;
	failed |= fclose(file) != 0;
	if (!failed && rename(new_path, path) == 0)
		return true;
	unlink(new_path);
	return false;
}

void saved_save(const struct saved *saved)
{
	char path[MAXPATHLEN], new_path[MAXPATHLEN], suffix[32];

	snprintf(suffix, sizeof suffix, ".%d", (int)getpid());
	make_path(path, "");
	make_path(new_path, suffix);
	say_saved(path, saved_save_to(saved, path, new_path));
}
