/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report on the regions. A destructor of the library writes it at exit. The program's own exit
 * handlers and destructors have run by then, so the report includes what they measured.
 */
#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/collect/snapshot.h"
#include "client/launcher/launch.h"
#include "client/libuncore/internal.h"
#include "client/region/passage.h"
#include "client/region/regions.h"
#include "client/report/columns.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "client/report/report-place.h"
#include "common/clock.h"
#include "common/process-age.h"
#include "common/write-signals.h"

static int exit_take_record(const struct regions *regions, struct record *ret)
{
	int r = snapshot(regions->team.table, ret);

	strcpy(ret->step, regions->team.step);
	snapshot_warn_of_others(&regions->team.kept, ret);
	if (*regions->team.why_alone)
		record_warn(ret,
			"This process is reported alone, without the others of its job step: %s",
			regions->team.why_alone);
	return r;
}

static int print_to_text(const struct record *record, char **ret_text, size_t *ret_size_bytes)
{
	FILE *out = open_memstream(ret_text, ret_size_bytes);

	if (!out)
		return -ENOMEM;
	record_print(out, record);
	return fclose(out) == EOF ? -ENOMEM : 0;
}

static int exit_write_table(const struct regions *regions)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0;
	int r = exit_take_record(regions, &record);

	record.line = columns_line(&record, stderr);
	if (r == 0)
		r = print_to_text(&record, &text, &size_bytes);
	if (r == 0 && fflush(stderr) == EOF)
		r = -errno;
	if (r == 0)
		r = report_write_all(fileno(stderr), text, size_bytes);
	return r < 0 ? error_say(r, "Cannot write the report to stderr: %m.") : 0;
}

/* The name of a report, by launch_expand() or launch_expand_variable(). */
typedef int expand_fn(const char *template, char **ret_path);

static int exit_write_json(
	const struct regions *regions, const char *path, expand_fn *expand, uint64_t loaded_ns)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	_cleanup_free_ char *expanded = NULL, *elsewhere = NULL, *text = NULL;
	int r = expand(path, &expanded);

	if (r < 0)
		return error_say(r,
			"%s cannot be the name of a report: %m. Only %%p, %%h, %%r, %%j and %%%% "
			"have a "
			"meaning.",
			path);
	r = exit_take_record(regions, &record);
	if (r == 0)
		r = record_json(&record, &text);
	if (r == 0)
		r = report_place(expanded, text, loaded_ns, &elsewhere);
	if (r < 0)
		return error_say(r, "Cannot write the report to %s: %m.", expanded);
	report_say_where(expanded, elsewhere);
	return 0;
}

/* --- on demand --- */

static pid_t loaded_by;
static uint64_t loaded_ns;

__attribute__((constructor)) static void note_process(void)
{
	loaded_by = getpid();
	loaded_ns = clock_wall_ns();
}

/* When this process began. UINT64_MAX: that is not known. */
static uint64_t came_ns(void)
{
	char name[PROCESS_NAME_MAX];
	uint64_t age_ns;

	if (getpid() == loaded_by)
		return loaded_ns;
	return process_age(0, name, &age_ns) ? clock_wall_ns() - age_ns : UINT64_MAX;
}

/* What the program has in its own use, and a report must neither change nor stumble on. */
struct set_aside {
	fenv_t floating;
	struct write_signals signals;
};

static void set_aside(struct set_aside *ret)
{
	feholdexcept(&ret->floating);
	write_signals_hold(&ret->signals);
}

static void put_back(const struct set_aside *set)
{
	write_signals_release(&set->signals);
	fesetenv(&set->floating);
}

_public_ int uncore_region_report(const char *path)
{
	_keeps_errno_;
	_keeps_running_;
	struct regions *regions = regions_get();
	struct set_aside set;
	int r;

	if (!regions)
		return regions_no_memory();
	set_aside(&set);
	passage_read_rest(regions);
	r = path ? exit_write_json(regions, path, launch_expand, came_ns())
		 : exit_write_table(regions);
	put_back(&set);
	return r;
}

/* --- at exit --- */

/* Ends the passages of the regions that are still open at exit. */
static void exit_close_list(struct regions *regions, struct region *region)
{
	for (; region; region = region->next)
		if (passage_give_up(regions, region))
			regions_remember(
				regions, error_say(-ECANCELED, "Region %s was still open at exit.",
						 region->name));
}

static void close_regions(struct regions *regions)
{
	for (unsigned i = 0; i < REGION_BUCKETS; i++)
		exit_close_list(regions, regions->buckets[i]);
	exit_close_list(regions, regions->others);
}

static bool has_something(const struct regions *regions)
{
	char failure[TABLE_FAILURE_BYTES];

	TABLE_READ_TEXT(failure, regions->team.table->header.failure);
	return *failure || table_count_regions(regions->team.table);
}

/* A forked child with a table of its own adds its process id, so as not to write to its parent's
 * file. */
static int report_to_file(const struct regions *regions, const char *template)
{
	_cleanup_free_ char *own = NULL;

	if (!regions->team.maker || regions->team.maker == loaded_by ||
		launch_names_process(template))
		own = strdup(template);
	else if (asprintf(&own, "%s.%%p", template) < 0)
		own = NULL;
	if (!own)
		return regions_no_memory();
	return exit_write_json(regions, own, launch_expand_variable, came_ns());
}

static bool exit_report(const struct regions *regions)
{
	const char *template = secure_getenv("UNCORE_REPORT");

	if (template && *template) {
		if (report_to_file(regions, template) == 0)
			return true;
		fprintf(stderr, "uncore: %s The report follows.\n", uncore_error_text());
	}
	if (exit_write_table(regions) == 0)
		return true;
	fprintf(stderr, "uncore: %s\n", uncore_error_text());
	return false;
}

/* The last member of a team reports for all. */
static void exit_leave(struct regions *regions)
{
	regions_leave_states(regions);
	close_regions(regions);
	passage_read_rest(regions);
	if (!team_end(&regions->team))
		return;
	if (!has_something(regions) || exit_report(regions))
		team_release_table(&regions->team);
	member_let_go(&regions->team.member);
}

__attribute__((destructor)) static void leave_and_report(void)
{
	_keeps_running_;
	struct regions *regions = regions_now();
	struct set_aside set;

	if (regions) {
		set_aside(&set);
		exit_leave(regions);
		put_back(&set);
	}
	regions_forget_threads();
}
