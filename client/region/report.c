/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a team: its record as a table or as JSON, and the place to write it. */
#include "client/region/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/launcher/launch.h"
#include "client/libuncore/internal.h"
#include "client/region/snapshot.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "client/report/report-place.h"

static int take(const struct regions *regions, struct record *ret)
{
	int r = snapshot(regions->team.table, ret);

	strcpy(ret->step, regions->team.step);
	if (*regions->team.why_alone)
		record_warn(ret,
			"This process is reported alone, without the others of its job step: %s",
			regions->team.why_alone);
	return r;
}

/* --- where it goes --- */

static int print_to_text(const struct record *record, char **ret_text, size_t *ret_size_bytes)
{
	FILE *out = open_memstream(ret_text, ret_size_bytes);

	if (!out)
		return -ENOMEM;
	record_print(out, record);
	return fclose(out) == EOF ? -ENOMEM : 0;
}

int report_write_table(const struct regions *regions)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0;
	int r = take(regions, &record);

	if (r == 0)
		r = print_to_text(&record, &text, &size_bytes);
	if (r == 0 && fflush(stderr) == EOF)
		r = -errno;
	if (r == 0)
		r = report_write_all(fileno(stderr), text, size_bytes);
	return r < 0 ? error_say(r, "Cannot write the report to stderr: %m.") : 0;
}

int report_write_json(const struct regions *regions, const char *path, uint64_t loaded_ns)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	_cleanup_free_ char *expanded = NULL, *elsewhere = NULL, *text = NULL;
	int r = launch_expand(path, &expanded);

	if (r < 0)
		return error_say(r,
			"%s cannot be the name of a report: %m. Only %%p, %%h, %%r, %%j and %%%% "
			"have a "
			"meaning.",
			path);
	r = take(regions, &record);
	if (r == 0)
		r = record_json(&record, &text);
	if (r == 0)
		r = report_place(expanded, text, loaded_ns, &elsewhere);
	if (r < 0)
		return error_say(r, "Cannot write the report to %s: %m.", expanded);
	report_say_where(expanded, elsewhere);
	return 0;
}
