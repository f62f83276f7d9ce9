/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a batch system's job: a line for each socket that it could use. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/join-sockets.h"
#include "client/records/join.h"
#include "client/report/print.h"
#include "client/report/quantity.h"
#include "common/macro.h"

void notes_write_user(FILE *out, int64_t uid)
{
	if (uid >= 0)
		fprintf(out, "user %" PRId64, uid);
	else
		fputs("an unknown user", out);
}

static void join_job_print_heading(FILE *out, const struct join *join)
{
	const struct record *total = &join->total;
	const uint32_t n = join->runs.n_machines;
	char time[QUANTITY_MAX];

	fprintf(out, "\n Job %s of ", total->job);
	notes_write_user(out, total->batch.uid);
	if (*total->step)
		fprintf(out, ", run %s", total->step);
	fprintf(out, ", %" PRIu32 " host%s, ", n, n > 1 ? "s" : "");
	notes_write_span(out, total->begun_ns, total->ended_ns);
	if (!isnan(total->batch.seconds)) {
		quantity_time(1e9 * total->batch.seconds, time);
		fprintf(out, " (%s)", time);
	}
	if (*total->batch.exit)
		fprintf(out, ", exit %s", total->batch.exit);
	if (*total->platform)
		fprintf(out, ", platform %s", total->platform);
	fputs(":\n", out);
}

static uint32_t join_job_count_sockets(const struct record_region *sum)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sum->n_sockets; i++)
		n += sum->sockets[i].sums ? sum->sockets[i].sums->n : 1;
	return n;
}

/* A row for each socket of each node. */
static int join_job_fill(const struct join *join, struct record_region rows[])
{
	const struct join_region *job = &join->regions[0];
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < job->n_parts; i++) {
		const struct join_part *part = &job->parts[i];
		const struct record *record = &join->records[part->record];
		struct record_region view;

		if (!part->n_sockets)
			continue;
		r = join_view(record, &join->total, part->region, &view);
		for (uint32_t k = 0; r == 0 && k < part->n_sockets; k++, rows++) {
			*rows = (struct record_region){ .n_others = view.sockets[k].n_others,
				.n_sockets = 1,
				.sockets = &view.sockets[k] };
			snprintf(rows->name, sizeof rows->name, "%.50s/%" PRIu32, record->host,
				view.sockets[k].socket);
		}
	}
	return r;
}

static void join_job_done(const struct join *join, struct record_region rows[])
{
	const struct join_region *job = &join->regions[0];

	for (uint32_t i = 0; i < job->n_parts; rows += job->parts[i++].n_sockets)
		if (job->parts[i].n_sockets)
			join_view_done(job->parts[i].region, rows->sockets);
}

int join_print_job(FILE *out, const struct join *join, bool nodes)
{
	const uint32_t n = join_job_count_sockets(&join->total.regions[0]);
	const bool is_short = join->is_folded || (n > JOIN_PRINT_LINES && !nodes);
	_cleanup_free_ struct record_region *rows = calloc(n + 1U, sizeof *rows);
	struct record table = join->total; /* borrows all its members */
	int r = rows ? 0 : -ENOMEM;

	if (r == 0 && !is_short)
		r = join_job_fill(join, rows);
	table.rows = "host/socket";
	table.regions = rows;
	table.n_regions = is_short ? 0 : n;
	if (r == 0 && n > 1) {
		rows[table.n_regions] = join->total.regions[0];
		strcpy(rows[table.n_regions++].name, "all");
	}
	if (r == 0)
		join_job_print_heading(out, join);
	if (r == 0 && table.n_regions)
		record_print_regions(out, &table);
	if (r == 0 && is_short)
		fprintf(out, " --nodes prints all %" PRIu32 " sockets.\n", n);
	if (rows && !is_short)
		join_job_done(join, rows);
	return r;
}
