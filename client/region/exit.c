/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on the regions. At exit a destructor of the library writes it: the program's own exit
 * handlers and destructors have run by then, so the report has their measurements, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/region/launch.h"
#include "client/region/regions.h"
#include "client/region/report.h"

static pid_t loaded_by;

__attribute__((constructor)) static void note_process(void)
{
	loaded_by = getpid();
}

_public_ int uncore_region_report(const char *path)
{
	struct regions *regions = regions_get();
	int r;

	if (!regions)
		return regions_no_memory();
	pthread_rwlock_rdlock(&regions->meter.lock);
	pthread_mutex_lock(&regions->table_lock);
	r = path ? report_write_json(regions, path) : report_write_table(regions);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_rwlock_unlock(&regions->meter.lock);
	return r;
}

/* Is there anything to report? A region that is open now will not end any more. */
static bool has_something(struct regions *regions)
{
	bool something;

	pthread_mutex_lock(&regions->table_lock);
	for (const struct region *region = regions->first; region; region = region->next)
		if (region->inside && !regions->failure.error)
			failure_keep(&regions->failure,
				error_say(-ECANCELED, "Region %s was still open at exit.",
					region->name));
	something = regions->first || regions->failure.error;
	pthread_mutex_unlock(&regions->table_lock);
	return something;
}

/* A forked child adds its process id, lest it write to the file of the process that forked it. */
static int report_to_file(const char *template)
{
	_cleanup_free_ char *own = NULL;

	if (getpid() == loaded_by || launch_names_process(template))
		return uncore_region_report(template);
	if (asprintf(&own, "%s.%%p", template) < 0)
		return regions_no_memory();
	return uncore_region_report(own);
}

__attribute__((destructor)) static void report_at_exit(void)
{
	const char *template = secure_getenv("UNCORE_REPORT");
	struct regions *regions = regions_now();

	if (!regions || !has_something(regions))
		return;
	if (template && *template) {
		if (report_to_file(template) == 0)
			return;
		fprintf(stderr, "uncore: %s The report follows.\n", uncore_error_text());
	}
	if (uncore_region_report(NULL) < 0)
		fprintf(stderr, "uncore: %s\n", uncore_error_text());
}
