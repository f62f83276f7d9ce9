/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/command/markers/lines.h"

/* Can all files be read twice? A pipe is read once. */
static bool found_can_read_again(const struct report_options *options)
{
	struct stat status;

	for (int i = 0; i < options->n_paths; i++)
		if (stat(options->paths[i], &status) < 0 ||
			!(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
			return false;
	return true;
}

int found_begin(const struct report_options *options, struct found_files *ret)
{
	*ret = (struct found_files){
		.options = options,
		.predictions = options->predictions,
		.may_fold = options->output == REPORT_TABLE && !options->nodes && !options->merge &&
			    !options->run_key && found_can_read_again(options),
	};
	ret->twins.kind.out = open_memstream(&ret->notes, &ret->notes_bytes);
	return ret->twins.kind.out ? 0 : -ENOMEM;
}

void found_done(struct found_files *found)
{
	if (found->twins.kind.out)
		fclose(found->twins.kind.out);
	names_done(&found->twins.seen);
	arrays_done(&found->arrays);
	join_done(&found->join);
	record_list_done(&found->list);
	free(found->met.all);
	free(found->notes);
}

/* --- records --- */

static int found_fold(struct found_files *found)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < found->list.n; i++)
		if (!notes_is_twin(&found->twins, &found->list.records[i]))
			r = join_fold(&found->join, &found->list.records[i]);
	record_list_cut(&found->list, 0);
	found->error = r == -ENOMEM ? r : found->error;
	return r;
}

/* The record of a program has a long ID cut. */
static bool found_is_of_job(const struct found_files *found, const struct record *record)
{
	const size_t n = sizeof record->job - (record->rows ? 0 : 2);

	return strncmp(record->job, found->options->job, n) == 0;
}

/* Drops the records of other jobs than --job's from @first on. */
static void found_drop_others(struct found_files *found, uint32_t first)
{
	struct record_list *list = &found->list;
	uint32_t n = first;

	for (uint32_t i = first; i < list->n; i++) {
		struct record *record = &list->records[i];

		if (found_is_of_job(found, record)) {
			list->records[n++] = *record;
			continue;
		}
		if (found->options->of_job && met_add(&found->met, record) < 0)
			found->error = -ENOMEM;
		record_done(record);
	}
	list->n = n;
	if (found->others)
		record_list_cut(list, first);
}

int found_take(struct found_files *found, uint32_t first)
{
	if (found->options->job)
		found_drop_others(found, first);
	for (uint32_t i = first; i < found->list.n; i++) {
		lines_find(&found->list.records[i]);
		predictions_apply(&found->predictions, &found->list.records[i]);
		found->n_regions += found->list.records[i].n_regions;
	}
	return found->may_fold && found->n_regions > JOIN_PRINT_LINES ? found_fold(found) : 0;
}

/* --- runs of a job --- */

static int found_compare_hosts(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static bool found_is_wanted(const struct found_files *found, const struct runs *runs, uint32_t run)
{
	const char *key = found->options->run_key;
	bool has_key = false;

	for (uint32_t i = 0; key && i < found->list.n; i++)
		has_key |= runs->of[i] == run && strcmp(found->list.records[i].step, key) == 0;
	return key ? has_key : run + 1 == runs->n_runs;
}

static uint32_t found_mark_runs(struct found_files *found, const struct runs *runs, bool wanted[])
{
	const struct join all = {
		.records = found->list.records, .n_records = found->list.n, .runs = *runs
	};
	struct note_kind kind = { .out = found->twins.kind.out };
	uint32_t n = 0;

	for (uint32_t i = 0; i < runs->n_runs; i++) {
		wanted[i] = found_is_wanted(found, runs, i);
		n += wanted[i];
		if (wanted[i] || !note_kind_goes_on(&kind))
			continue;
		fputs("Not shown is run ", kind.out);
		notes_write_run(&all, i, kind.out);
	}
	note_kind_end(&kind);
	return n;
}

int found_choose_run(struct found_files *found, uint32_t *ret_n)
{
	struct record_list *list = &found->list;
	_cleanup_(runs_done) struct runs runs = { .n_runs = 0 };
	_cleanup_free_ bool *wanted = NULL;
	uint32_t n = 0;
	int r;

	if (list->n)
		qsort(list->records, list->n, sizeof *list->records, found_compare_hosts);
	r = runs_find(list->records, list->n, &runs);
	if (r < 0)
		return r;
	wanted = calloc(runs.n_runs + 1U, sizeof *wanted);
	if (!wanted)
		return -ENOMEM;
	*ret_n = found_mark_runs(found, &runs, wanted);
	for (uint32_t i = 0; i < list->n; i++)
		if (wanted[runs.of[i]])
			list->records[n++] = list->records[i];
		else
			record_done(&list->records[i]);
	list->n = n;
	return 0;
}
