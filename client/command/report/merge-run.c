/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "client/command/report/merge.h"
#include "common/macro.h"
#include "common/text.h"

void merge_run_done(struct merge_run *run)
{
	names_done(&run->regions);
	free(take_ptr(run->cells));
}

double *merge_run_row(struct merge_run *run, const char *region)
{
	const uint32_t n = run->regions.n;
	const int64_t number = names_add(&run->regions, region);
	double *cells;

	if (number >= 0 && number < n)
		return run->cells + (size_t)number * run->n_columns;
	cells = number < 0 ? NULL
			   : reallocarray(run->cells, (size_t)n + 1,
				     (run->n_columns + 1) * sizeof *cells);
	if (!cells)
		return NULL;
	run->cells = cells;
	cells += (size_t)n * run->n_columns;
	for (unsigned i = 0; i < run->n_columns; i++)
		cells[i] = NAN;
	return cells;
}

const double *merge_run_find(const struct merge_run *run, const char *region)
{
	for (uint32_t i = 0; i < run->regions.n; i++)
		if (strcmp(run->regions.all[i], region) == 0)
			return run->cells + (size_t)i * run->n_columns;
	return NULL;
}

/* --- CSV --- */

enum { FIELDS_MAX = MERGE_COLUMNS_MAX + 2 }; /* with region and rank */

/* What is being read. */
struct reading {
	struct merge_run *run;
	char *at;
	unsigned line, n_fields;
	unsigned region_at, rank_at; /* fields; UINT32_MAX: there is none */
	struct names ranks, rows;    /* owned */
	char *why;
};

/* Takes a field as RFC 4180 has it, and ends it with a NUL. */
static char *take_field(struct reading *reading, bool *ret_is_last)
{
	char *field = reading->at, *from = field, *to = field;
	bool is_quoted = *from == '"';

	from += is_quoted;
	while (*from && (is_quoted || !strchr(",\r\n", *from)))
		if (is_quoted && from[0] == '"' && from[1] != '"') {
			is_quoted = false;
			from++;
		} else {
			from += is_quoted && *from == '"';
			*to++ = *from++;
		}
	from += from[0] == '\r' && from[1] == '\n';
	*ret_is_last = *from != ',';
	reading->at = from + (*from != '\0');
	*to = '\0';
	text_make_plain(field);
	return field;
}

static int merge_run_fail(struct reading *reading, const char *what, const char *word)
{
	snprintf(reading->why, JSON_READER_WHY_MAX, "cannot be merged: line %u %s%s", reading->line,
		what, word);
	text_make_plain(reading->why); /* its last character may have been cut */
	return -EBADMSG;
}

/* The last character of a long name may be cut. */
static void add_column(struct merge_run *run, const char *name)
{
	char *column = run->columns[run->n_columns++];

	snprintf(column, MERGE_NAME_MAX, "%s", name);
	text_make_plain(column);
}

static int take_heading(struct reading *reading)
{
	struct merge_run *run = reading->run;
	bool is_last = false;

	reading->line = 1;
	for (; !is_last; reading->n_fields++) {
		const char *name = take_field(reading, &is_last);

		if (strcmp(name, "region") == 0 && reading->region_at == UINT32_MAX)
			reading->region_at = reading->n_fields;
		else if (strcmp(name, "rank") == 0 && reading->rank_at == UINT32_MAX)
			reading->rank_at = reading->n_fields;
		else if (run->n_columns == MERGE_COLUMNS_MAX)
			return merge_run_fail(reading, "has too many columns, from on ", name);
		else
			add_column(run, name);
	}
	return reading->region_at == UINT32_MAX
		       ? merge_run_fail(reading, "has no column region", "")
		       : 0;
}

/* Adds the number in @text to *@cell; an empty one is not a figure. */
static int add_number(struct reading *reading, const char *text, double *cell)
{
	char *end;
	const double number = strtod(text, &end);

	if (!*text)
		return 0;
	if (*end || !isfinite(number))
		return merge_run_fail(reading, "has in place of a number: ", text);
	*cell = (isnan(*cell) ? 0 : *cell) + number;
	return 0;
}

static int take_values(struct reading *reading, char *fields[FIELDS_MAX], const char *region)
{
	double *row = merge_run_row(reading->run, region);
	int r = row ? 0 : -ENOMEM;

	for (unsigned i = 0; r == 0 && i < reading->n_fields && fields[i]; i++)
		if (i != reading->region_at && i != reading->rank_at)
			r = add_number(reading, fields[i], row++);
	return r;
}

static int merge_run_take_row(struct reading *reading)
{
	char *fields[FIELDS_MAX] = { reading->at }, key[512];
	const char *rank = "";
	bool is_last = false;
	unsigned n = 0;
	int64_t number;

	for (reading->line++; !is_last; n++) {
		char *field = take_field(reading, &is_last);

		if (n < reading->n_fields)
			fields[n] = field;
	}
	if (n == 1 && !*fields[0])
		return 0; /* an empty line */
	if (n != reading->n_fields)
		return merge_run_fail(reading, "has not as many fields as the first", "");
	if (reading->rank_at != UINT32_MAX)
		rank = fields[reading->rank_at];
	snprintf(key, sizeof key, "%s\n%s", rank, fields[reading->region_at]);
	n = reading->rows.n;
	number = names_add(&reading->rows, key);
	if (number < 0 || names_add(&reading->ranks, rank) < 0)
		return -ENOMEM;
	if (number < n)
		return merge_run_fail(reading,
			"repeats the region and rank of another one: ", fields[reading->region_at]);
	return take_values(reading, fields, fields[reading->region_at]);
}

int merge_parse_csv(char *text, struct merge_run *ret, char ret_why[JSON_READER_WHY_MAX])
{
	struct reading reading = { .run = ret,
		.at = text,
		.region_at = UINT32_MAX,
		.rank_at = UINT32_MAX,
		.why = ret_why };
	int r = take_heading(&reading);

	while (r == 0 && *reading.at)
		r = merge_run_take_row(&reading);
	ret->n_ranks = reading.rank_at == UINT32_MAX ? 0 : reading.ranks.n;
	names_done(&reading.ranks);
	names_done(&reading.rows);
	return r;
}
