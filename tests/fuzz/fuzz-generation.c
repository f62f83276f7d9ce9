/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ledger, a page and the events of six boxes, which the service manager kept of an earlier
 * process, for a machine of three sockets. They are refused with a sentence, or a process can go on
 * with them: it makes one sweep of each socket and another page, and leaves all with the service
 * manager again.
 *
 * Ledger, page and events are right at first. The input is struct beginning, which says what is
 * missing, and then edits of ledger and page. Where nothing is missing or edited, each box must go
 * on with its own counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/memfd.h"
#include "daemon/base/notify.h"
#include "daemon/count/sweep.h"
#include "tests/fuzz/machine.h"
#include "tests/fuzz/target.h"

enum {
	NO_LEDGER = 1 << 0,
	NO_PAGE = 1 << 1,
	NOT_COMPLETE = 1 << 2, /* nobody was served with it */
	MANAGER = 1 << 3,      /* there is a service manager, and it keeps what it gets */
	NO_ROOM = 1 << 4,      /* it takes nothing, as if its socket were full */
	ONE_REFUSED = 1 << 5,  /* the kernel did not open a box when the generation began */
	READ_ONLY = 1 << 7,    /* the page cannot be mapped for writing */
};

/* How the kernel of the present process behaves. */
static const struct machine_kernel kernels[] = {
	{ 0 },
	{ .stands = true },
	{ .group_fell_apart = true },
	{ .reads_nothing = true },
	{ .read_error = -EIO },
	{ .open_error = -EACCES },
	{ .stands = true, .open_error = -EMFILE },
	{ .stands = true, .read_error = -ENODEV },
};

struct beginning {
	uint8_t flags;
	uint8_t kernel;
	uint8_t lost_boxes; /* bit per box: the manager has none of its events */
	uint8_t lost_event; /* the event of this number is missing, too; the first is 1 */
	int16_t more_of_ledger, more_of_page; /* bytes at its end; below 0: so many less */
};

struct edit {
	uint8_t of_page; /* odd: an edit of the page, else of the ledger */
	uint8_t is_new;  /* odd: @value replaces the word; even: the word is XORed with @value */
	uint16_t word;   /* its number, in words of 32 bits */
	uint32_t value;
};

static_assert(sizeof(struct beginning) == 8 && sizeof(struct edit) == 8, "inputs last");

/* --- the process before --- */

static uint64_t count_of(unsigned box, unsigned event)
{
	return 1000 * (box + 1) + event;
}

static uint64_t id_of(unsigned box, unsigned event)
{
	return 16 * box + event + 1;
}

/* As its last sweep left them. */
static void count(struct box boxes[], const struct plan *plan)
{
	for (unsigned i = 0; i < plan->n_boxes; i++) {
		boxes[i] =
			(struct box){ .plan = &plan->boxes[i], .mode = BOX_PINNED, .read_ns = 1 };
		for (unsigned k = 0; k < plan->boxes[i].n_events; k++)
			boxes[i].events[k] =
				(struct box_event){ .id = id_of(i, k), .count = count_of(i, k) };
	}
}

struct former {
	struct shared_page page;
	struct ledger ledger;
};

static struct former make_former(const struct plan *plan, uint8_t flags)
{
	const struct page_sweep sweep = { .number = 7 };
	struct box boxes[MACHINE_BOXES];
	struct former former;
	struct fault fault;

	count(boxes, plan);
	if (flags & ONE_REFUSED)
		boxes[4].error = -EBUSY;
	if (shared_page_init(&former.page, plan, &fault) < 0 ||
		ledger_init(&former.ledger, plan, boxes, &former.page, &fault) < 0)
		abort();
	for (unsigned s = 0; s < plan->n_sockets; s++)
		for (unsigned both = 0; both < 2; both++)
			ledger_commit(ledger_book(&former.ledger, s), &sweep,
				&boxes[plan->sockets[s].first_box], plan->sockets[s].n_boxes);
	if (!(flags & NOT_COMPLETE))
		ledger_complete(&former.ledger);
	return former;
}

static void apply(const struct edit *edit, struct former *former)
{
	uint32_t *words = edit->of_page & 1 ? (uint32_t *)former->page.header
					    : (uint32_t *)former->ledger.header;
	uint64_t bytes = edit->of_page & 1 ? memfd_bytes(former->page.write_fd)
					   : memfd_bytes(former->ledger.fd);
	uint32_t *word = &words[edit->word % (bytes / sizeof *words)];

	*word = edit->is_new & 1 ? edit->value : *word ^ edit->value;
}

/* --- descriptors that the service manager kept --- */

static int copy_of(int fd, int more, uint8_t flags)
{
	size_t bytes = memfd_bytes(fd);
	size_t less = more < 0 ? (size_t)-more : 0;
	size_t left = less < bytes ? bytes - less : 0;
	int copy = memfd_new("fuzzed", more > 0 ? left + (size_t)more : left, 0600);
	void *from = memfd_map(fd, bytes);

	if (copy < 0 || !from || pwrite(copy, from, left, 0) != (ssize_t)left)
		abort();
	munmap(from, bytes);
	if (flags & READ_ONLY) {
		int read_only = memfd_reopen_read_only(copy);

		close(copy);
		return read_only;
	}
	return copy;
}

static void keep(struct fdstore *store, int fd, const char *name, uint64_t id)
{
	char *copy = strdup(name);

	if (fd < 0 || !copy)
		abort();
	store->items[store->n++] = (struct fdstore_item){ fd, copy, id };
}

static void keep_events(struct fdstore *store, const struct plan *plan, const struct beginning *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < plan->n_boxes; i++) {
		int leader = -1;

		for (unsigned k = 0; k < plan->boxes[i].n_events; k++)
			if (!(b->lost_boxes & 1 << i) && ++n != b->lost_event) {
				int fd = machine_event(leader, id_of(i, k));

				leader = leader < 0 ? fd : leader;
				keep(store, fd, "box", id_of(i, k));
			}
	}
}

static struct fdstore make_store(
	const struct former *former, const struct plan *plan, const struct beginning *b)
{
	enum { ITEMS = 2 + MACHINE_BOXES * PLAN_EVENTS_MAX };
	struct fdstore store = { .items = calloc(ITEMS, sizeof *store.items) };
	char name[LEDGER_NAME_MAX];

	if (!store.items)
		abort();
	ledger_page_name(1, name);
	if (!(b->flags & NO_LEDGER))
		keep(&store, copy_of(former->ledger.fd, b->more_of_ledger, 0), "ledger", 0);
	if (!(b->flags & NO_PAGE))
		keep(&store, copy_of(former->page.write_fd, b->more_of_page, b->flags), name, 0);
	keep_events(&store, plan, b);
	return store;
}

/* --- in the place of the service manager --- */

static uint8_t manager; /* flags of the beginning */

int notify_send(const char *message, const int fds[], unsigned n_fds)
{
	for (unsigned i = 0; i < n_fds; i++)
		if (fcntl(fds[i], F_GETFD) < 0)
			abort();
	if (strncmp(message, n_fds ? "FDSTORE=1\n" : "FDSTOREREMOVE=1\n", 10) != 0)
		abort();
	if (!(manager & MANAGER))
		return -ENOTCONN;
	return n_fds && manager & NO_ROOM ? -EAGAIN : 0;
}

/* --- the present process --- */

static void sweep_once(const struct generation *generation, unsigned socket)
{
	struct sweep sweep;

	if (sweep_init(&sweep, generation, socket) < 0)
		abort();
	sweep_make(&sweep);
	if (sweep_find_stopped(&sweep) >= (int)sweep.n_boxes)
		abort();
	sweep_set_page(&sweep, generation->shared_page.header);
	sweep_done(&sweep);
}

static void go_on(struct generation *generation)
{
	struct shared_page old;

	generation_keep(generation);
	for (unsigned s = 0; s < generation->plan->n_sockets; s++)
		sweep_once(generation, s);
	if (generation_replace_page(generation, 1000, &old) < 0)
		return;
	if (!shared_page_has(&generation->shared_page, generation->shared_page.write_fd) ||
		shared_page_has(&generation->shared_page, old.write_fd) ||
		shared_page_has(&generation->shared_page, -1))
		abort();
	shared_page_copy_cells(&old, &generation->shared_page);
	shared_page_retire(&old);
	shared_page_done(&old);
	generation_forget_page(generation);
}

static void check_counts(const struct generation *generation)
{
	for (unsigned i = 0; i < generation->plan->n_boxes; i++)
		for (unsigned k = 0; k < generation->plan->boxes[i].n_events; k++)
			if (generation->boxes[i].events[k].count != count_of(i, k) ||
				generation->boxes[i].events[k].id != id_of(i, k))
				abort();
}

/* As a daemon does that finds nothing to resume. */
static void begin_anew(struct generation *generation)
{
	struct fault fault;

	generation_open(generation);
	if (generation_count_open(generation) > generation->plan->n_boxes ||
		generation_publish(generation, &fault) < 0)
		abort();
}

static void resume(const struct plan *plan, struct fdstore *store, bool untouched)
{
	struct generation generation;
	struct fault why = {};
	bool anything = store->n;
	bool resumed;

	if (generation_init(&generation, plan) < 0)
		abort();
	resumed = generation_resume(&generation, store, &why);
	if (store->n || (untouched && !resumed) || (anything && !resumed && !why.text[0]))
		abort();
	if (resumed && untouched)
		check_counts(&generation);
	if (!resumed)
		begin_anew(&generation);
	generation_settle(&generation);
	go_on(&generation);
	generation_done(&generation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const struct plan *plan = machine_plan();
	const struct beginning nothing_special = {};
	struct beginning b;
	struct former former;
	struct fdstore store;
	struct edit edit;
	size_t at = sizeof b;

	if (size_bytes < sizeof b)
		return 0;
	memcpy(&b, data, sizeof b);
	machine_begin(&kernels[b.kernel % ARRAY_SIZE(kernels)]);
	manager = b.flags;
	former = make_former(plan, b.flags);
	for (; at + sizeof edit <= size_bytes; at += sizeof edit) {
		memcpy(&edit, &data[at], sizeof edit);
		apply(&edit, &former);
	}
	store = make_store(&former, plan, &b);
	munmap(former.ledger.header, memfd_bytes(former.ledger.fd));
	munmap(former.page.header, memfd_bytes(former.page.write_fd));
	close(former.ledger.fd);
	close(former.page.write_fd);
	close(former.page.read_fd);
	resume(plan, &store, size_bytes == sizeof b && !memcmp(&b, &nothing_special, sizeof b));
	return 0;
}
