/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <inttypes.h>
#include <string.h>

#include "client/records/machines.h"
#include "client/report/record-time.h"

static const char *notes_host_of(const struct record *record)
{
	return *record->host ? record->host : "a host without a name";
}

/* --- twins --- */

/* Twins are what the same process, or run of a team, wrote. */
bool notes_is_twin(struct twins *twins, const struct record *record)
{
	const uint32_t n = twins->seen.n;
	char text[sizeof record->host + sizeof record->step + sizeof record->job + 96];
	int64_t number;

	snprintf(text, sizeof text,
		"%" PRId64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRId32 "\n%s\n%s\n%s",
		record->begun_ns ? record->begun_ns : record->ended_ns, record->batch.monotonic_ns,
		record->run, record->n_members, record->n_members ? record->members[0].pid : 0,
		steps_of(record), record->job, record->host);
	number = names_add(&twins->seen, text);
	if (number < 0 || number == n)
		return false;
	if (note_kind_goes_on(&twins->kind))
		fprintf(twins->kind.out, "%s is there twice with the same run; one is left out.\n",
			notes_host_of(record));
	return true;
}

void twins_done(struct twins *twins)
{
	note_kind_end(&twins->kind);
	names_done(&twins->seen);
}

void notes_leave_out_twins(struct record_list *list, FILE *out)
{
	_cleanup_(twins_done) struct twins twins = { .kind.out = out };
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct record record = list->records[i];

		if (notes_is_twin(&twins, &record))
			record_done(&record);
		else
			list->records[n++] = record;
	}
	list->n = n;
}

/* --- runs --- */

static void notes_write_time(FILE *out, int64_t time_ns)
{
	char text[RECORD_TIME_MAX];

	record_time_ms(time_ns, text);
	fputs(*text ? text : "an unknown time", out);
}

void notes_write_span(FILE *out, int64_t begun_ns, int64_t ended_ns)
{
	notes_write_time(out, begun_ns);
	fputs(" to ", out);
	notes_write_time(out, ended_ns);
}

void notes_write_run(const struct join *join, uint32_t run, FILE *out)
{
	const struct record *first = NULL;
	int64_t ended_ns = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < join->n_records; i++) {
		const struct record *record = &join->records[i];

		if (join->runs.of[i] != run || record->beside)
			continue;
		n++;
		first = !first || record->begun_ns < first->begun_ns ? record : first;
		ended_ns = record->ended_ns > ended_ns ? record->ended_ns : ended_ns;
	}
	if (!first)
		return;
	fprintf(out, "#%" PRIu32 ": %" PRIu32 " node%s, ", run + 1, n, n == 1 ? "" : "s");
	notes_write_span(out, first->begun_ns, ended_ns);
	if (*steps_of(first))
		fprintf(out, first->rows ? ", run %s" : ", step %s", steps_of(first));
	fprintf(out, *first->label ? ", label %s.\n" : "%s.\n", first->label);
}

static void notes_write_runs(const struct join *join, FILE *out)
{
	_cleanup_(note_kind_end) struct note_kind kind = { .out = out };

	if (join->runs.n_runs < 2)
		return;
	fputs("Records of one host are never summed: where their times do not overlap, they are of "
	      "different runs, each with a row.\n",
		out);
	for (uint32_t i = 0; i < join->runs.n_runs; i++)
		if (note_kind_goes_on(&kind))
			notes_write_run(join, i, out);
}

/* --- records that are in none --- */

static void write_one_apart(const struct join *join, uint32_t i, FILE *out)
{
	const struct record *record = &join->records[i];
	const struct record_region row = { .node = i + 1 };
	char tag[JOIN_TAG_MAX];

	join_tag(join, &row, tag);
	fprintf(out, "%s: ", tag);
	if (*record->team)
		fprintf(out, "team %s, %" PRIu32 " rank%s, ", record->team, record->n_members,
			record->n_members == 1 ? "" : "s");
	else if (*record->step)
		fprintf(out, "a process of step %s that is alone, ", record->step);
	notes_write_span(out, record->begun_ns, record->ended_ns);
	fputs(".\n", out);
}

/* @n: how many records of this host are in no run. */
static void write_host_apart(const struct join *join, uint32_t first, uint32_t n, FILE *out)
{
	fprintf(out,
		"%s is there %" PRIu32 " times at once: %s count this host's bytes. Each has a "
		"row%s.\n",
		notes_host_of(&join->records[first]), n, n == 2 ? "both" : "all",
		join->runs.n_runs ? ", and none is in the sum of nodes" : "");
}

static uint32_t count_apart(const struct join *join, uint32_t machine)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < join->n_records; i++)
		n += join->places[i] && join->records[i].machine == machine;
	return n;
}

static void write_apart(const struct join *join, FILE *out)
{
	struct note_kind hosts = { .out = out }, records = { .out = out };

	for (uint32_t i = 0; join->n_apart && i < join->n_records; i++)
		if (join->places[i] == 1 && note_kind_goes_on(&hosts))
			write_host_apart(join, i, count_apart(join, join->records[i].machine), out);
	note_kind_end(&hosts);
	for (uint32_t i = 0; join->n_apart && i < join->n_records; i++)
		if (join->places[i] && note_kind_goes_on(&records))
			write_one_apart(join, i, out);
	note_kind_end(&records);
}

/* --- nodes --- */

static void write_platforms(const struct join *join, FILE *out)
{
	const struct record *records = join->records;

	for (uint32_t i = 1; i < join->n_records; i++) {
		if (!*records[i].platform || !*records[0].platform ||
			strcmp(records[i].platform, records[0].platform) == 0)
			continue;
		fprintf(out,
			"The nodes have different platforms, as %s (%s) and %s (%s); their metrics "
			"may not count the same.\n",
			records[0].platform, notes_host_of(&records[0]), records[i].platform,
			notes_host_of(&records[i]));
		return;
	}
}

static void write_jobs(const struct join *join, FILE *out)
{
	const struct record *records = join->records;

	for (uint32_t i = 1; i < join->n_records; i++)
		if (strcmp(records[i].job, records[0].job) != 0) {
			fprintf(out, "The records are of different jobs, as %s (%s) and %s (%s).\n",
				*records[0].job ? records[0].job : "none",
				notes_host_of(&records[0]),
				*records[i].job ? records[i].job : "none",
				notes_host_of(&records[i]));
			return;
		}
}

static void write_failures(const struct join *join, FILE *out)
{
	_cleanup_(note_kind_end) struct note_kind kind = { .out = out };

	for (uint32_t i = 0; i < join->n_records; i++) {
		const struct record *record = &join->records[i];

		if (record->failure && note_kind_goes_on(&kind))
			fprintf(out,
				*record->platform ? "%s: last failure: %s\n"
						  : "%s has no figures: %s\n",
				notes_host_of(record), record->failure);
		if (record->warning && note_kind_goes_on(&kind))
			fprintf(out, "%s: %s\n", notes_host_of(record), record->warning);
	}
}

static void write_members(const struct join *join, FILE *out)
{
	_cleanup_(note_kind_end) struct note_kind kind = { .out = out };

	for (uint32_t i = 0; i < join->n_records; i++) {
		const struct record *record = &join->records[i];

		if (record_count_not_joined(record) && note_kind_goes_on(&kind))
			fprintf(out,
				"%s has %" PRIu32 " of the %" PRIu32 " ranks that its launcher "
				"announced.\n",
				notes_host_of(record), record->n_members, record->n_expected);
	}
}

/* --- regions --- */

static void write_gaps(const struct join *join, FILE *out)
{
	_cleanup_(note_kind_end) struct note_kind kind = { .out = out };

	for (uint32_t i = 0; i < join->total.n_regions; i++)
		for (uint32_t k = 0; k < join->regions[i].n_parts; k++) {
			const struct join_part *part = &join->regions[i].parts[k];
			const struct record *record = &join->records[part->record];

			if (!part->n_sockets && join->total.regions[i].n_sockets &&
				note_kind_goes_on(&kind))
				fprintf(out,
					"%s %s has no figures on %s, so its sums are too "
					"low.\n",
					record->rows ? "Job" : "Region",
					join->total.regions[i].name, notes_host_of(record));
		}
}

static void write_omissions(const struct join *join, FILE *out)
{
	struct note_kind kind = { .out = out };

	for (uint32_t i = 0; i < join->total.n_regions; i++)
		if (join->regions[i].lacks_work && note_kind_goes_on(&kind))
			fprintf(out,
				"Region %s has more than %d units of work on its nodes; the "
				"sum has the first ones.\n",
				join->total.regions[i].name, RECORD_UNITS_MAX);
	note_kind_end(&kind);
	if (join->lacks_metric)
		fprintf(out, "The nodes have more than %d metrics; the sum has the first ones.\n",
			UNCORE_METRICS_MAX);
}

/* Of jobs of a batch system. */
static void write_sharing(const struct join *join, FILE *out)
{
	bool has_others = false, lacks_sockets = false;

	for (uint32_t i = 0; i < join->total.n_regions; i++)
		has_others |= join->total.regions[i].n_others != 0;
	for (uint32_t i = 0; i < join->n_records; i++)
		lacks_sockets |= join->records[i].batch.n_unused > 0;
	if (has_others)
		fputs("others: jobs that were open on the socket meanwhile; the bytes of all are "
		      "in the figures.\n",
			out);
	if (lacks_sockets)
		fputs("Sockets that the job could not use are left out.\n", out);
}

void notes_write(const struct join *join, FILE *out)
{
	machines_write(join->records, join->n_records, join->runs.n_machines, out);
	notes_write_runs(join, out);
	write_apart(join, out);
	write_platforms(join, out);
	write_jobs(join, out);
	write_members(join, out);
	write_failures(join, out);
	write_gaps(join, out);
	write_omissions(join, out);
	write_sharing(join, out);
}

/* --- hosts that should be there --- */

size_t notes_write_missing(const struct join *join, const struct hostlist *expected, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; i < expected->n_names; i++)
		if (!join_has_host(join, expected->names[i]))
			fprintf(out, n++ ? ", %s" : "No record of: %s", expected->names[i]);
	if (n)
		fprintf(out, ". The sums are without %s.\n", n > 1 ? "them" : "it");
	return n;
}
