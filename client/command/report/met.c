/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/met.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/record-time.h"
#include "common/array.h"
#include "common/jsonwriter.h"

enum { MET_MOST = 20 }; /* that are printed */

/* A record of another job. */
struct met {
	char job[sizeof((struct record *)NULL)->job], host[sizeof((struct record *)NULL)->host];
	int64_t uid, begun_ns, ended_ns;
	int64_t first_ns, last_ns; /* as of its record */
};

int met_add(struct met_jobs *met, const struct record *record)
{
	struct met *one;

	if (array_room(&met->all, met->n, sizeof *met->all) < 0)
		return -ENOMEM;
	one = &met->all[met->n++];
	*one = (struct met){
		.uid = record->batch.uid,
		.begun_ns = record->begun_ns,
		.ended_ns = record->ended_ns,
		.first_ns = record_first_ns(record),
		.last_ns = record_last_ns(record),
	};
	strcpy(one->job, record->job);
	strcpy(one->host, record->host);
	return 0;
}

static int met_compare(const void *a, const void *b)
{
	const struct met *x = a, *y = b;
	int r = strcmp(x->job, y->job);

	if (r == 0)
		r = (x->begun_ns > y->begun_ns) - (x->begun_ns < y->begun_ns);
	if (r == 0)
		r = (x->ended_ns > y->ended_ns) - (x->ended_ns < y->ended_ns);
	return r ? r : strcmp(x->host, y->host);
}

void met_choose(struct met_jobs *met, const struct join *join)
{
	int64_t first_ns = INT64_MAX, last_ns = 0;
	const size_t n = met->n;

	for (uint32_t i = 0; i < join->n_records; i++) {
		const int64_t begun_ns = record_first_ns(&join->records[i]);
		const int64_t ended_ns = record_last_ns(&join->records[i]);

		first_ns = begun_ns < first_ns ? begun_ns : first_ns;
		last_ns = ended_ns > last_ns ? ended_ns : last_ns;
	}
	if (n)
		qsort(met->all, n, sizeof *met->all, met_compare);
	met->n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct met *one = &met->all[i];

		if (one->first_ns <= last_ns && first_ns <= one->last_ns &&
			join_has_host(join, one->host) &&
			(!met->n || met_compare(one, &met->all[met->n - 1]) != 0))
			met->all[met->n++] = *one;
	}
}

void met_print(FILE *out, const struct met_jobs *met)
{
	if (met->n)
		fputs(" Other jobs on these hosts meanwhile:\n", out);
	for (size_t i = 0; i < met->n && i < MET_MOST; i++) {
		fprintf(out, "   job %s of ", met->all[i].job);
		notes_write_user(out, met->all[i].uid);
		fprintf(out, " on %s, ", met->all[i].host);
		notes_write_span(out, met->all[i].begun_ns, met->all[i].ended_ns);
		fputc('\n', out);
	}
	if (met->n > MET_MOST)
		fprintf(out, "   and %zu more, which --json has.\n", met->n - MET_MOST);
}

void met_json(struct jsonwriter *json, const struct met_jobs *met)
{
	jsonwriter_array(json, "other_jobs");
	for (size_t i = 0; i < met->n; i++) {
		jsonwriter_object(json, NULL);
		jsonwriter_text_or_null(json, "job", met->all[i].job);
		jsonwriter_known(json, "uid", met->all[i].uid >= 0, met->all[i].uid);
		jsonwriter_text_or_null(json, "host", met->all[i].host);
		record_json_time(json, "begun", met->all[i].begun_ns);
		record_json_time(json, "ended", met->all[i].ended_ns);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}
