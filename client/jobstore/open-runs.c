/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/open-runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "client/jobstore/run.h"
#include "common/macro.h"

/* --- the list --- */

static void drop_from(struct open_runs *runs, size_t n)
{
	while (runs->n > n)
		free(runs->all[--runs->n].samples);
}

void open_runs_done(struct open_runs *runs)
{
	drop_from(runs, 0);
	free(take_ptr(runs->all));
	runs->has_more = false;
}

/* The ID decides if two runs began at the same time, so that the order is always the same. */
static int compare(const void *a, const void *b)
{
	const struct open_run *x = a, *y = b;

	if (x->begun_ns != y->begun_ns)
		return x->begun_ns < y->begun_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void keep_first(struct open_runs *runs)
{
	if (runs->n)
		qsort(runs->all, runs->n, sizeof *runs->all, compare);
	runs->has_more = runs->n > OPEN_RUNS_MAX;
	if (runs->has_more)
		drop_from(runs, OPEN_RUNS_MAX);
}

/* --- one run --- */

/* Skips copied files: they have the ID of another run. */
static bool is_wanted(const struct run *run, const char *name)
{
	return run_is_open(run) && strcmp(run->head.id, name) == 0;
}

/* If the reading cannot be read back, the run has no samples. */
static void take(const struct run *run, struct open_run *ret)
{
	const struct run_head *head = &run->head;

	*ret = (struct open_run){
		.uid = head->uid,
		.begun_real_ns = head->begun_real_ns,
		.begun_ns = head->begun_ns,
		.packages = head->packages,
	};
	strcpy(ret->id, head->id);
	if (head->state == RUN_BEGUN && run_read_samples(run, &ret->samples) == 0)
		ret->n_samples = head->n_sockets;
}

static void look_at(const struct folder *folder, const char *name, struct open_runs *runs)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };

	if (run_open(folder->fd, name, O_RDONLY, &run) == 0 && is_wanted(&run, name))
		take(&run, &runs->all[runs->n++]);
}

/* --- the folder --- */

int open_runs_read(const char *folder_path, struct open_runs *ret)
{
	_cleanup_(folder_close) struct folder folder = { .fd = -1, .counts_fd = -1 };
	_cleanup_(folder_names_done) struct folder_names names = { .n = 0 };
	int r = folder_look(folder_path, &folder);

	*ret = (struct open_runs){ .n = 0 };
	if (r == 0)
		r = folder_list(&folder, FOLDER_ID, &names);
	if (r < 0)
		return r;
	ret->all = calloc(names.n + 1, sizeof *ret->all);
	if (!ret->all)
		return -ENOMEM;
	for (size_t i = 0; i < names.n; i++)
		look_at(&folder, names.all[i]->d_name, ret);
	keep_first(ret);
	return 0;
}
