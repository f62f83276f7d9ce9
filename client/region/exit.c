/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on the regions. A destructor of the library writes it at exit. The program's own exit
 * handlers and destructors have run by then, so the report includes what they measured.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/launcher/launch.h"
#include "client/region/passage.h"
#include "client/region/regions.h"
#include "client/region/report.h"
#include "common/clock.h"

static pid_t loaded_by;
static uint64_t loaded_ns;

__attribute__((constructor)) static void note_process(void)
{
	loaded_by = getpid();
	loaded_ns = clock_wall_ns();
}

/* When this process began. For a forked child this is not known: some time after its parent. */
static uint64_t came_ns(void)
{
	return getpid() == loaded_by ? loaded_ns : UINT64_MAX;
}

_public_ int uncore_region_report(const char *path)
{
	struct regions *regions = regions_get();

	if (!regions)
		return regions_no_memory();
	return path ? report_write_json(regions, path, came_ns()) : report_write_table(regions);
}

/* --- at exit --- */

/* Ends the passages of a region that is still open at exit. */
static void close_region(struct regions *regions, struct region *region)
{
	if (!passage_give_up(regions, region))
		return;
	regions_remember(
		regions, error_say(-ECANCELED, "Region %s was still open at exit.", region->name));
}

static void close_regions(struct regions *regions)
{
	for (unsigned i = 0; i < REGION_BUCKETS; i++)
		for (struct region *region = regions->buckets[i]; region; region = region->next)
			close_region(regions, region);
}

static bool has_something(const struct regions *regions)
{
	char failure[TABLE_FAILURE_BYTES];

	TABLE_READ_TEXT(failure, regions->team.table->header.failure);
	return *failure || table_count_regions(regions->team.table);
}

/* A forked child that is alone adds its process id, so as not to write to its parent's file. */
static int report_to_file(const struct regions *regions, const char *template)
{
	_cleanup_free_ char *own = NULL;

	if (getpid() == loaded_by || launch_names_process(template) ||
		regions->team.member.fd != MEMBER_ALONE)
		return uncore_region_report(template);
	if (asprintf(&own, "%s.%%p", template) < 0)
		return regions_no_memory();
	return uncore_region_report(own);
}

static bool report(const struct regions *regions)
{
	const char *template = secure_getenv("UNCORE_REPORT");

	if (template && *template) {
		if (report_to_file(regions, template) == 0)
			return true;
		fprintf(stderr, "uncore: %s The report follows.\n", uncore_error_text());
	}
	if (uncore_region_report(NULL) == 0)
		return true;
	fprintf(stderr, "uncore: %s\n", uncore_error_text());
	return false;
}

/* The last member of a team reports for all. */
__attribute__((destructor)) static void leave_and_report(void)
{
	struct regions *regions = regions_now();

	if (!regions)
		return;
	close_regions(regions);
	if (team_end(&regions->team) && (!has_something(regions) || report(regions)))
		team_release_table(&regions->team);
}
