/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/generation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/count/tally.h"

static const char ledger_name[] = "ledger";

enum { DESCRIPTORS_KEPT = 64 };

int generation_init(struct generation *generation, const struct plan *plan)
{
	*generation = (struct generation){
		.plan = plan,
		.boxes = calloc(plan->n_boxes, sizeof *generation->boxes),
	};
	return generation->boxes ? 0 : -ENOMEM;
}

/* --- resuming: ledger and page --- */

static int find_ledger(struct generation *generation, struct fdstore *store, struct fault *why)
{
	int fd = fdstore_take(store, ledger_name);

	if (fd < 0)
		return fault_set(why, fd, "there is no ledger");
	return ledger_adopt(&generation->ledger, fd, generation->plan, why);
}

static int find_page(struct generation *generation, struct fdstore *store, struct fault *why)
{
	const struct ledger_header *ledger = generation->ledger.header;
	const struct shared_page_origin origin = { ledger->generation, ledger->whys };
	char name[LEDGER_NAME_MAX];
	int fd;

	ledger_page_name(ledger_current(&generation->ledger).page, name);
	fd = fdstore_take(store, name);
	if (fd < 0)
		return fault_set(why, fd, "its page is missing");
	return shared_page_adopt(&generation->shared_page, fd, generation->plan, &origin, why);
}

/*
 * Tells the clients of all pages but @live that nobody writes these pages any more. The manager may
 * have kept @live more than once. @live is NULL if no page is live.
 */
static void retire_pages(const struct fdstore *store, const struct shared_page *live)
{
	for (unsigned i = 0; i < store->n; i++) {
		int fd = store->items[i].fd;

		if (fd >= 0 && !(live && shared_page_has(live, fd)))
			shared_page_retire_fd(fd);
	}
}

/* --- extra boxes --- */

/* The box of the same PMU on the same CPU whose events not only opt-in metrics need, or NULL. */
static const struct box *find_main(
	const struct generation *generation, const struct plan_box *extra)
{
	const struct plan_socket *socket = &generation->plan->sockets[extra->socket];

	for (unsigned i = socket->first_box; i < socket->first_box + socket->n_boxes; i++) {
		const struct plan_box *plan = &generation->plan->boxes[i];

		if (!plan->is_extra && plan->cpu == extra->cpu && !strcmp(plan->pmu, extra->pmu))
			return &generation->boxes[i];
	}
	return NULL;
}

/* Main boxes come first in the plan, so the one of box @i is open already, if it can be. */
static void wait_if_extra(struct generation *generation, unsigned i)
{
	const struct plan_box *plan = &generation->plan->boxes[i];

	if (plan->is_extra)
		box_wait_behind(&generation->boxes[i], find_main(generation, plan));
}

/* --- resuming: the boxes --- */

/* Takes all events of the box, or none. */
static int take_events(struct fdstore *store, const struct box *box, unsigned n, int ret_fds[])
{
	for (unsigned i = 0; i < n; i++) {
		ret_fds[i] = fdstore_take_event(store, box->events[i].id);
		if (ret_fds[i] < 0) {
			while (i)
				close_fd(&ret_fds[--i]);
			return -ENOENT;
		}
	}
	return 0;
}

static int adopt_box(struct box *box, const struct plan_box *plan, struct fdstore *store)
{
	int fds[PLAN_EVENTS_MAX];

	if (box->mode == BOX_CLOSED || take_events(store, box, plan->n_events, fds) < 0)
		return -ENOENT;
	return box_adopt(box, plan, &perf_calls, fds, clock_now_ns());
}

/* A box that the kernel refused at the beginning stays closed: its metrics were never whole. */
static void resume_box(struct generation *generation, unsigned i, struct fdstore *store)
{
	const struct plan_box *plan = &generation->plan->boxes[i];
	int refused = ledger_refused(&generation->ledger, i);

	wait_if_extra(generation, i);
	if (refused < 0) {
		box_leave_closed(&generation->boxes[i], plan, &perf_calls, refused);
	} else if (adopt_box(&generation->boxes[i], plan, store) < 0) {
		generation->n_reopened++;
		box_reopen(&generation->boxes[i], plan, &perf_calls);
	}
}

static void resume_boxes(struct generation *generation, struct fdstore *store)
{
	for (unsigned s = 0; s < generation->plan->n_sockets; s++) {
		const struct plan_socket *socket = &generation->plan->sockets[s];

		ledger_restore(ledger_book(&generation->ledger, s),
			&generation->boxes[socket->first_box], socket->n_boxes);
	}
	for (unsigned i = 0; i < generation->plan->n_boxes; i++)
		resume_box(generation, i, store);
}

bool generation_resume(struct generation *generation, struct fdstore *store, struct fault *ret_why)
{
	int r = find_ledger(generation, store, ret_why);

	if (r >= 0)
		r = find_page(generation, store, ret_why);
	if (!store->n)
		ret_why->text[0] = '\0'; /* there was no earlier process */
	if (r >= 0)
		resume_boxes(generation, store);
	else
		ledger_done(&generation->ledger);
	retire_pages(store, r >= 0 ? &generation->shared_page : NULL);
	fdstore_drop(store, r < 0);
	generation->resumed = r >= 0;
	return r >= 0;
}

/* --- opening --- */

/* Descriptors may run out before all boxes are open. So some are reserved for files that are opened
 * later: page, readers, event loop, the first clients. */
void generation_open(struct generation *generation)
{
	int places[DESCRIPTORS_KEPT];
	unsigned n_places = 0;

	while (n_places < DESCRIPTORS_KEPT &&
		(places[n_places] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		n_places++;
	for (unsigned i = 0; i < generation->plan->n_boxes; i++) {
		wait_if_extra(generation, i);
		box_open(&generation->boxes[i], &generation->plan->boxes[i], &perf_calls);
	}
	while (n_places)
		close(places[--n_places]);
}

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_nsec = ms * CLOCK_NS_PER_MS };

	nanosleep(&time, NULL);
}

/* Not for an adopted box: settling would lose its counts and its kept descriptors. */
static bool must_settle(const struct box *box)
{
	return box_is_new(box) && box->mode == BOX_FLEXIBLE;
}

void generation_settle(struct generation *generation)
{
	bool any_flexible = false, any_singles = false;

	for (unsigned i = 0; i < generation->plan->n_boxes; i++)
		any_flexible |= must_settle(&generation->boxes[i]);
	if (!any_flexible)
		return;
	sleep_ms(BOX_SETTLE_MS);
	for (unsigned i = 0; i < generation->plan->n_boxes; i++)
		if (must_settle(&generation->boxes[i]))
			any_singles |= box_settle(&generation->boxes[i]) > 0;
	if (any_singles)
		sleep_ms(BOX_ROTATION_MS);
}

unsigned generation_count_open(const struct generation *generation)
{
	unsigned n = 0;

	for (unsigned i = 0; i < generation->plan->n_boxes; i++)
		n += generation->boxes[i].error >= 0;
	return n;
}

int generation_publish(struct generation *generation, struct fault *fault)
{
	int r = shared_page_init(&generation->shared_page, generation->plan, fault);

	if (r < 0)
		return r;
	return ledger_init(&generation->ledger, generation->plan, generation->boxes,
		&generation->shared_page, fault);
}

/* --- for the next process --- */

/* The name is short: the manager passes the names of all boxes to the next process in one string of
 * the environment, which has at most 128 KiB. */
static int keep_box(const struct box *box, unsigned i)
{
	char name[16];

	snprintf(name, sizeof name, "box%u", i);
	fdstore_forget(name); /* the events that these replace */
	return fdstore_keep(name, box->fds, box->plan->n_events);
}

static int keep_page(const struct shared_page *page, uint32_t number)
{
	char name[LEDGER_NAME_MAX];

	ledger_page_name(number, name);
	return fdstore_keep(name, &page->write_fd, 1);
}

static int keep_generation(const struct generation *generation)
{
	int r = fdstore_keep(ledger_name, &generation->ledger.fd, 1);

	if (r < 0)
		return r;
	return keep_page(&generation->shared_page, ledger_current(&generation->ledger).page);
}

int generation_keep(const struct generation *generation)
{
	int r = generation->ledger.header->complete ? 0 : keep_generation(generation);

	for (unsigned i = 0; r >= 0 && i < generation->plan->n_boxes; i++)
		if (box_is_new(&generation->boxes[i]))
			r = keep_box(&generation->boxes[i], i);
	return r;
}

int generation_replace_page(
	struct generation *generation, uint32_t owner, struct shared_page *ret_old)
{
	struct ledger_current before = ledger_current(&generation->ledger);
	struct ledger_current current = { before.page + 1, owner };
	struct shared_page page;
	int r = shared_page_copy(&generation->shared_page, &page);

	if (r < 0)
		return r;
	r = keep_page(&page, current.page);
	if (r < 0 && r != -ENOTCONN) {
		shared_page_done(&page);
		return r;
	}
	/* From here on the next process resumes with the new page. */
	ledger_set_current(&generation->ledger, current);
	*ret_old = generation->shared_page;
	generation->shared_page = page;
	return 0;
}

void generation_forget_page(const struct generation *generation)
{
	char name[LEDGER_NAME_MAX];

	ledger_page_name(ledger_current(&generation->ledger).page - 1, name);
	fdstore_forget(name);
}

void generation_done(struct generation *generation)
{
	ledger_done(&generation->ledger);
	if (generation->shared_page.header)
		shared_page_done(&generation->shared_page);
	for (unsigned i = 0; generation->boxes && i < generation->plan->n_boxes; i++)
		box_close(&generation->boxes[i]);
	free(generation->boxes);
	*generation = (struct generation){};
}
