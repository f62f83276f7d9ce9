/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/resume.h"

#include <errno.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/macro.h"

static const char ledger_name[] = "ledger";

/* --- what is there --- */

static int find_ledger(struct counters *counters, struct fdstore *store, struct fault *why)
{
	int fd = fdstore_take(store, ledger_name);

	if (fd < 0)
		return fault_set(why, fd, "there is no ledger");
	return ledger_adopt(&counters->ledger, fd, &counters->plan, why);
}

static int find_page(struct counters *counters, struct fdstore *store, struct fault *why)
{
	const struct ledger_header *ledger = counters->ledger.header;
	char name[LEDGER_NAME_MAX];
	int fd;

	ledger_page_name(ledger_current(&counters->ledger).page, name);
	fd = fdstore_take(store, name);
	if (fd < 0)
		return fault_set(why, fd, "its page is missing");
	return publication_adopt(
		&counters->publication, fd, &counters->plan, ledger->generation, ledger->whys, why);
}

/*
 * Nobody must take a page that is not gone on with for the present. @live: the one that is, which
 * the manager may have kept more than once; NULL: none.
 */
static void retire_pages(const struct fdstore *store, const struct publication *live)
{
	for (unsigned i = 0; i < store->n; i++) {
		int fd = store->items[i].fd;

		if (fd >= 0 && !(live && publication_has(live, fd)))
			publication_retire_fd(fd);
	}
}

/* --- the counters --- */

static void close_all(int fds[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close_fd(&fds[i]);
}

/* All events of the box, or none. */
static int take_events(struct fdstore *store, const struct box *box, unsigned n, int ret_fds[])
{
	for (unsigned i = 0; i < n; i++) {
		ret_fds[i] = fdstore_take_event(store, box->events[i].id);
		if (ret_fds[i] < 0) {
			close_all(ret_fds, i);
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

/* What the kernel refused when the generation began stays closed: its metrics were never whole. */
static void leave_closed(struct box *box, const struct plan_box *plan, int error)
{
	box->plan = plan;
	box->perf = &perf_calls;
	box->mode = BOX_CLOSED;
	box->error = error;
	box->quality = PAGE_PARTIAL;
}

static void go_on_with_box(struct counters *counters, unsigned i, struct fdstore *store)
{
	const struct plan_box *plan = &counters->plan.boxes[i];
	int refused = ledger_refused(&counters->ledger, i);

	if (refused < 0) {
		leave_closed(&counters->boxes[i], plan, refused);
	} else if (adopt_box(&counters->boxes[i], plan, store) < 0) {
		counters->n_reopened++;
		box_reopen(&counters->boxes[i], plan, &perf_calls);
	}
}

static void go_on(struct counters *counters, struct fdstore *store)
{
	for (unsigned s = 0; s < counters->plan.n_sockets; s++) {
		const struct plan_socket *socket = &counters->plan.sockets[s];

		ledger_restore(ledger_book(&counters->ledger, s),
			&counters->boxes[socket->first_box], socket->n_boxes);
	}
	for (unsigned i = 0; i < counters->plan.n_boxes; i++)
		go_on_with_box(counters, i, store);
}

bool resume_generation(struct counters *counters, struct fdstore *store, struct fault *why)
{
	int r = find_ledger(counters, store, why);

	if (r >= 0)
		r = find_page(counters, store, why);
	if (!store->n)
		why->text[0] = '\0'; /* nobody was here before */
	if (r >= 0)
		go_on(counters, store);
	else
		ledger_done(&counters->ledger);
	retire_pages(store, r >= 0 ? &counters->publication : NULL);
	(r >= 0 ? fdstore_drop_rest : fdstore_drop_all)(store);
	return r >= 0;
}

/* --- for the next process --- */

/* By its number: all names of a large machine are passed to the next process as one string of the
 * environment, and that may have 128 KiB. */
static int keep_box(const struct box *box, unsigned i)
{
	char name[16];

	snprintf(name, sizeof name, "box%u", i);
	fdstore_forget(name); /* events in whose place these are */
	return fdstore_keep(name, box->fds, box->plan->n_events);
}

static int keep_page(const struct publication *page, uint32_t number)
{
	char name[LEDGER_NAME_MAX];

	ledger_page_name(number, name);
	return fdstore_keep(name, &page->write_fd, 1);
}

static int keep_generation(const struct counters *counters)
{
	int r = fdstore_keep(ledger_name, &counters->ledger.fd, 1);

	return r < 0 ? r
		     : keep_page(&counters->publication, ledger_current(&counters->ledger).page);
}

int resume_hand_over(const struct counters *counters)
{
	int r = counters->ledger.header->complete ? 0 : keep_generation(counters);

	for (unsigned i = 0; r >= 0 && i < counters->plan.n_boxes; i++)
		if (box_is_new(&counters->boxes[i]))
			r = keep_box(&counters->boxes[i], i);
	return r;
}

int resume_replace_page(struct counters *counters, uint32_t owner, struct publication *ret_old)
{
	struct ledger_current before = ledger_current(&counters->ledger);
	struct ledger_current current = { before.page + 1, owner };
	struct publication page;
	int r = publication_copy(&counters->publication, &page);

	if (r < 0)
		return r;
	r = keep_page(&page, current.page);
	if (r < 0 && r != -ENOTCONN) {
		publication_done(&page);
		return r;
	}
	ledger_set_current(
		&counters->ledger, current); /* killed from here on, the new page counts */
	*ret_old = counters->publication;
	counters->publication = page;
	return 0;
}

void resume_forget_page(const struct counters *counters)
{
	char name[LEDGER_NAME_MAX];

	ledger_page_name(ledger_current(&counters->ledger).page - 1, name);
	fdstore_forget(name);
}
