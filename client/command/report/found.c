/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/command/frame/command.h"
#include "client/command/markers/lines.h"

int found_begin(const struct report_options *options, const struct found_reader *reader,
	struct found_files *ret)
{
	*ret = (struct found_files){
		.options = options,
		.reader = *reader,
		.predictions = options->predictions,
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

	for (uint32_t i = first; i < list->n; i++)
		if (found_is_of_job(found, &list->records[i]))
			list->records[n++] = list->records[i];
		else if (found->reader.meet)
			found->reader.meet(found, &list->records[i]);
		else
			record_done(&list->records[i]);
	list->n = n;
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
	return found->reader.may_fold && found->n_regions > JOIN_PRINT_LINES ? found_fold(found)
									     : 0;
}

/* --- files --- */

bool found_can_read_again(const struct report_options *options, const char *kept)
{
	struct stat status;

	for (int i = 0; i < options->n_paths; i++)
		if ((!kept || strcmp(options->paths[i], kept) != 0) &&
			(stat(options->paths[i], &status) < 0 ||
				!(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))))
			return false;
	return true;
}

static bool found_wants(const char *name, void *argument)
{
	const struct found_files *found = argument;

	return found->reader.wants(found, name);
}

static void found_read(const struct json_file *file, void *argument)
{
	struct found_files *found = argument;

	found->reader.read(found, file);
}

void found_read_all(struct found_files *found)
{
	const struct json_files files = {
		.title = found->options->table->command,
		.paths = found->options->paths,
		.n = found->options->n_paths,
		.trust = &found->options->trust,
		.most_bytes = found->reader.most_bytes,
		.again = found->again,
		.wants = found_wants,
	};

	if (!json_files_each(&files, found_read, found))
		found->failed = true;
}

/* Records of several runs are read again, and kept; the notes, too. */
int found_end(struct found_files *found)
{
	int r = found->error;

	if (r == 0 && found->join.is_folded)
		r = join_end_folding(&found->join);
	if (r == -EXDEV) {
		join_done(&found->join);
		rewind(found->twins.kind.out);
		found->twins.kind.n = 0;
		found->again = true;
		found->reader.may_fold = false;
		found_read_all(found);
		r = 0;
	}
	if (r == 0 && !found->join.is_folded)
		notes_leave_out_twins(&found->list, found->twins.kind.out);
	return r;
}
