/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(struct job_view *view, const char *why)
{
	snprintf(view->why, sizeof view->why, "%s", why);
}

/* Why the begin has no reading; NULL: the begin has a reading. */
static const char *why_not_begun(const struct run_head *head)
{
	switch (head->state) {
	case RUN_BEGINNING:
		return "`uncore job begin` was killed before it had a reading.";
	case RUN_FAILED:
		return head->why;
	default:
		return NULL;
	}
}

static void subtract(struct job_view *view)
{
	const uint32_t n = view->run->head.n_sockets;
	int r = run_read_samples(view->run, &view->begun);

	if (r < 0) {
		say(view, "The reading of the begin cannot be read back: another release of uncore "
			  "kept it.");
		return;
	}
	r = n == view->reading->reader.machine.n_sockets ? total_init(&view->total, n) : -ESTALE;
	if (r == 0)
		r = total_add(&view->total, view->begun, view->reading->readout.samples);
	if (r == -ESTALE)
		say(view, "uncored began to count anew during the job: it was stopped, or came "
			  "back without a descriptor store or with other counters.");
	else if (r < 0)
		say(view, r == -ENOMEM ? "There was no memory for the difference."
				       : uncore_error_text());
}

void job_view_init(struct job_view *ret, const struct run *run, const struct job_reading *reading,
	const struct counts *counts)
{
	const char *why = why_not_begun(&run->head);

	*ret = (struct job_view){ .run = run, .reading = reading, .counts = counts };
	if (why)
		say(ret, why);
	else if (!reading->reader.handle)
		say(ret, reading->why);
	else
		subtract(ret);
}

void job_view_init_incomplete(struct job_view *ret, const struct run *run, const char *why)
{
	*ret = (struct job_view){ .run = run };
	say(ret, why);
}

void job_view_done(struct job_view *view)
{
	free(view->begun);
	total_done(&view->total);
	view->begun = NULL;
}
