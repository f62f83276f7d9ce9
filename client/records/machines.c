/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/machines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/format.h"
#include "common/macro.h"

enum { LIKE_MOST = 8 }; /* that are written */

/* --- which machine --- */

/* Hosts and generations, and of each one another that is of the same machine, or itself. */
struct keys {
	struct names names;
	uint32_t *same;
};

static uint32_t root_of(struct keys *keys, uint32_t key)
{
	while (keys->same[key] != key)
		key = keys->same[key] = keys->same[keys->same[key]];
	return key;
}

static int64_t add_key(struct keys *keys, const char *kind, const char *text)
{
	char key[sizeof((struct record *)NULL)->host + 2];
	const uint32_t n = keys->names.n;
	int64_t number;

	snprintf(key, sizeof key, "%s%s", kind, text);
	number = names_add(&keys->names, key);
	if (number == n)
		keys->same[n] = n;
	return number;
}

/* The host's key, after it was tied to the generation. -ENOMEM. */
static int64_t tie(struct keys *keys, const struct record *record)
{
	const int64_t host = add_key(keys, "h", record->host);
	char text[FORMAT_GENERATION_MAX];
	int64_t generation;

	if (host < 0 || !machines_is_known(record->generation))
		return host;
	format_generation(record->generation, text);
	generation = add_key(keys, "g", text);
	if (generation >= 0)
		keys->same[root_of(keys, (uint32_t)generation)] = root_of(keys, (uint32_t)host);
	return generation < 0 ? generation : host;
}

/* Numbers the roots in the order of the records. @numbers: of each root, 0 before it has one. */
static int64_t number_all(
	struct keys *keys, struct record *records, uint32_t n_records, uint32_t *numbers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_records; i++) {
		const uint32_t root = root_of(keys, records[i].machine);

		if (!numbers[root])
			numbers[root] = ++n;
		records[i].machine = numbers[root] - 1;
	}
	return n;
}

int64_t machines_find(struct record *records, uint32_t n_records)
{
	const size_t n_most = 2 * (size_t)n_records + 1;
	_cleanup_free_ uint32_t *same = calloc(n_most, sizeof *same);
	_cleanup_free_ uint32_t *numbers = calloc(n_most, sizeof *numbers);
	struct keys keys = { .same = same };
	int64_t r = same && numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < n_records; i++) {
		r = tie(&keys, &records[i]);
		records[i].machine = r < 0 ? 0 : (uint32_t)r;
	}
	if (r >= 0)
		r = number_all(&keys, records, n_records, numbers);
	names_done(&keys.names);
	return r;
}

/* --- what is said --- */

bool note_kind_goes_on(struct note_kind *kind)
{
	return kind->n++ < LIKE_MOST;
}

void note_kind_end(const struct note_kind *kind)
{
	if (kind->n > LIKE_MOST)
		fprintf(kind->out, "(There are %zu more like that.)\n", kind->n - LIKE_MOST);
}

static const char *machines_host(const struct record *record)
{
	return *record->host ? record->host : "a host without a name";
}

/* Two names of a machine, and how many it has beside the first. */
struct alias {
	const struct record *first, *other;
	uint32_t n;
};

static void machines_write_alias(FILE *out, const struct alias *alias)
{
	fprintf(out, "%s%s%s", machines_host(alias->first), alias->n > 1 ? ", " : " and ",
		machines_host(alias->other));
	if (alias->n > 1)
		fprintf(out, " and %" PRIu32 " more", alias->n - 1);
	fputs(" are one machine: its counters are taken once.\n", out);
}

void machines_write(
	const struct record *records, uint32_t n_records, uint32_t n_machines, FILE *out)
{
	_cleanup_(note_kind_end) struct note_kind kind = { .out = out };
	_cleanup_(names_done) struct names names = { .n = 0 };
	_cleanup_free_ struct alias *all = calloc(n_machines + 1U, sizeof *all);

	for (uint32_t i = 0; all && i < n_records; i++) {
		struct alias *alias = &all[records[i].machine];
		const uint32_t n = names.n;

		if (names_add(&names, records[i].host) != n)
			continue;
		if (!alias->first) {
			alias->first = &records[i];
			continue;
		}
		alias->other = alias->n++ ? alias->other : &records[i];
	}
	for (uint32_t i = 0; all && i < n_machines; i++)
		if (all[i].n && note_kind_goes_on(&kind))
			machines_write_alias(out, &all[i]);
}
