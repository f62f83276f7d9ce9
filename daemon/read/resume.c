/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/resume.h"

#include <errno.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/macro.h"

static const char ledger_name[] = "ledger";

/* --- what is there --- */

static int find_ledger(struct hardware *hardware, struct store *store, struct fault *why)
{
	int fd = store_take(store, ledger_name);

	if (fd < 0)
		return fault_set(why, fd, "there is no ledger");
	return ledger_adopt(&hardware->ledger, fd, &hardware->plan, why);
}

static int find_page(struct hardware *hardware, struct store *store, struct fault *why)
{
	const struct ledger_header *ledger = hardware->ledger.header;
	char name[LEDGER_NAME_MAX];
	int fd;

	ledger_page_name(ledger_lease(&hardware->ledger).page, name);
	fd = store_take(store, name);
	if (fd < 0)
		return fault_set(why, fd, "its page is missing");
	return publication_adopt(
		&hardware->publication, fd, &hardware->plan, ledger->generation, ledger->whys, why);
}

/*
 * Nobody must take a page that is not gone on with for the present. @live: the one that is, which
 * the manager may have kept more than once; NULL: none.
 */
static void retire_pages(const struct store *store, const struct publication *live)
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
static int take_events(struct store *store, const struct box *box, unsigned n, int ret_fds[])
{
	for (unsigned i = 0; i < n; i++) {
		ret_fds[i] = store_take_event(store, box->events[i].id);
		if (ret_fds[i] < 0) {
			close_all(ret_fds, i);
			return -ENOENT;
		}
	}
	return 0;
}

static int adopt_box(struct box *box, const struct plan_box *plan, struct store *store)
{
	int fds[PLAN_EVENTS_MAX];

	if (box->mode == BOX_CLOSED || take_events(store, box, plan->n_events, fds) < 0)
		return -ENOENT;
	return box_adopt(box, plan, &source_perf, fds, clock_now_ns());
}

/* What the kernel refused when the generation began stays closed: its metrics were never whole. */
static void leave_closed(struct box *box, const struct plan_box *plan, int error)
{
	box->plan = plan;
	box->source = &source_perf;
	box->mode = BOX_CLOSED;
	box->error = error;
	box->quality = PAGE_PARTIAL;
}

static void go_on_with_box(struct hardware *hardware, unsigned i, struct store *store)
{
	const struct plan_box *plan = &hardware->plan.boxes[i];
	int refused = ledger_refused(&hardware->ledger, i);

	if (refused < 0) {
		leave_closed(&hardware->boxes[i], plan, refused);
	} else if (adopt_box(&hardware->boxes[i], plan, store) < 0) {
		hardware->n_reopened++;
		box_reopen(&hardware->boxes[i], plan, &source_perf);
	}
}

static void go_on(struct hardware *hardware, struct store *store)
{
	for (unsigned s = 0; s < hardware->plan.n_sockets; s++) {
		const struct plan_socket *socket = &hardware->plan.sockets[s];

		ledger_restore(ledger_book(&hardware->ledger, s),
			&hardware->boxes[socket->first_box], socket->n_boxes);
	}
	for (unsigned i = 0; i < hardware->plan.n_boxes; i++)
		go_on_with_box(hardware, i, store);
}

bool resume_generation(struct hardware *hardware, struct store *store, struct fault *why)
{
	int r = find_ledger(hardware, store, why);

	if (r >= 0)
		r = find_page(hardware, store, why);
	if (!store->n)
		why->text[0] = '\0'; /* nobody was here before */
	if (r >= 0)
		go_on(hardware, store);
	else
		ledger_done(&hardware->ledger);
	retire_pages(store, r >= 0 ? &hardware->publication : NULL);
	(r >= 0 ? store_drop_rest : store_drop_all)(store);
	return r >= 0;
}

/* --- for the next process --- */

/* By its number: all names of a large machine are passed to the next process as one string of the
 * environment, and that may have 128 KiB. */
static int keep_box(const struct box *box, unsigned i)
{
	char name[16];

	snprintf(name, sizeof name, "box%u", i);
	store_forget(name); /* events in whose place these are */
	return store_keep(name, box->fds, box->plan->n_events);
}

static int keep_page(const struct publication *page, uint32_t number)
{
	char name[LEDGER_NAME_MAX];

	ledger_page_name(number, name);
	return store_keep(name, &page->write_fd, 1);
}

static int keep_generation(const struct hardware *hardware)
{
	int r = store_keep(ledger_name, &hardware->ledger.fd, 1);

	return r < 0 ? r : keep_page(&hardware->publication, ledger_lease(&hardware->ledger).page);
}

int resume_hand_over(const struct hardware *hardware)
{
	int r = hardware->ledger.header->complete ? 0 : keep_generation(hardware);

	for (unsigned i = 0; r >= 0 && i < hardware->plan.n_boxes; i++)
		if (box_is_new(&hardware->boxes[i]))
			r = keep_box(&hardware->boxes[i], i);
	return r;
}

int resume_replace_page(struct hardware *hardware, uint32_t owner, struct publication *ret_old)
{
	struct ledger_lease before = ledger_lease(&hardware->ledger);
	struct ledger_lease lease = { before.page + 1, owner };
	struct publication page;
	int r = publication_copy(&hardware->publication, &page);

	if (r < 0)
		return r;
	r = keep_page(&page, lease.page);
	if (r < 0 && r != -ENOTCONN) {
		publication_done(&page);
		return r;
	}
	ledger_let(&hardware->ledger, lease); /* killed from here on, the new page counts */
	*ret_old = hardware->publication;
	hardware->publication = page;
	return 0;
}

void resume_forget_page(const struct hardware *hardware)
{
	char name[LEDGER_NAME_MAX];

	ledger_page_name(ledger_lease(&hardware->ledger).page - 1, name);
	store_forget(name);
}
