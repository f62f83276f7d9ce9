/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/memfd.h"

#define LEDGER_MAGIC 0x756e636f72656c01ULL

struct ledger_copy {
	struct page_sweep sweep;
	struct box_record boxes[];
};

struct ledger_book {
	uint32_t current; /* atomic: index of the current copy */
	uint32_t n_boxes;
	/* two copies follow */
};

static_assert(sizeof(struct ledger_book) % 8 == 0, "copies are aligned");
static_assert(sizeof(struct ledger_identity) % 8 == 0, "books are aligned");
static_assert(sizeof(struct ledger_header) % 8 == 0, "identities are aligned");

/* --- layout --- */

static size_t copy_bytes(unsigned n_boxes)
{
	return sizeof(struct ledger_copy) + n_boxes * sizeof(struct box_record);
}

static size_t book_bytes(unsigned n_boxes)
{
	return sizeof(struct ledger_book) + 2 * copy_bytes(n_boxes);
}

static size_t ledger_bytes(const struct plan *plan)
{
	size_t bytes =
		sizeof(struct ledger_header) + plan->n_boxes * sizeof(struct ledger_identity);

	for (unsigned s = 0; s < plan->n_sockets; s++)
		bytes += book_bytes(plan->sockets[s].n_boxes);
	return bytes;
}

static struct ledger_identity *identities(const struct ledger *ledger)
{
	return (void *)(ledger->header + 1);
}

struct ledger_book *ledger_book(const struct ledger *ledger, unsigned socket)
{
	char *at = (void *)&identities(ledger)[ledger->header->n_boxes];

	for (unsigned s = 0; s < socket; s++)
		at += book_bytes(((struct ledger_book *)at)->n_boxes);
	return (void *)at;
}

static struct ledger_copy *book_copy(const struct ledger_book *book, uint32_t which)
{
	return (void *)((char *)(book + 1) + which * copy_bytes(book->n_boxes));
}

struct ledger_current ledger_current(const struct ledger *ledger)
{
	uint64_t word = __atomic_load_n(&ledger->header->current, __ATOMIC_RELAXED);

	return (struct ledger_current){ (uint32_t)word, (uint32_t)(word >> 32) };
}

void ledger_set_current(struct ledger *ledger, struct ledger_current current)
{
	__atomic_store_n(&ledger->header->current, (uint64_t)current.owner << 32 | current.page,
		__ATOMIC_RELEASE);
}

void ledger_page_name(uint32_t number, char ret_name[LEDGER_NAME_MAX])
{
	snprintf(ret_name, LEDGER_NAME_MAX, "page-%u", number);
}

/* --- identity of the counters --- */

static struct ledger_identity identify(const struct plan_box *plan)
{
	struct ledger_identity identity = {
		.type = plan->type,
		.socket = plan->socket,
		.n_events = plan->n_events,
		.n_uses = plan->n_uses,
	};

	strcpy(identity.pmu, plan->pmu);
	for (unsigned i = 0; i < plan->n_uses; i++) {
		const struct plan_use *use = &plan->uses[i];

		identity.uses[i] = (struct ledger_use){ use->event, use->metric, use->term,
			use->subtract, use->scale.n, use->scale.d, use->channel };
	}
	for (unsigned i = 0; i < plan->n_events; i++) {
		identity.configs[i][0] = plan->events[i].code.config;
		identity.configs[i][1] = plan->events[i].code.config1;
		identity.configs[i][2] = plan->events[i].code.config2;
	}
	return identity;
}

/* The CPU does not matter: the kernel moves the events of a box when its CPU goes offline. */
static bool same_counters(const struct ledger_identity *a, const struct ledger_identity *b)
{
	return !memcmp(a->pmu, b->pmu, sizeof a->pmu) && a->type == b->type &&
	       a->socket == b->socket && a->n_events == b->n_events && a->n_uses == b->n_uses &&
	       !memcmp(a->uses, b->uses, sizeof a->uses) &&
	       !memcmp(a->configs, b->configs, sizeof a->configs);
}

/* --- beginning --- */

static void ledger_fill(struct ledger *ledger, const struct plan *plan, const struct box boxes[])
{
	for (unsigned i = 0; i < plan->n_boxes; i++) {
		identities(ledger)[i] = identify(&plan->boxes[i]);
		identities(ledger)[i].refused = boxes[i].error;
	}
	for (unsigned s = 0; s < plan->n_sockets; s++)
		ledger_book(ledger, s)->n_boxes = plan->sockets[s].n_boxes;
}

int ledger_init(struct ledger *ledger, const struct plan *plan, const struct box boxes[],
	const struct shared_page *shared_page, struct fault *fault)
{
	const struct page_header *page = shared_page->header;
	size_t bytes = ledger_bytes(plan);

	*ledger = (struct ledger){ .fd = memfd_new("uncored-ledger", bytes, 0600) };
	if (ledger->fd >= 0)
		ledger->header = memfd_map(ledger->fd, bytes);
	if (!ledger->header) {
		int r = ledger->fd < 0 ? ledger->fd : -errno;

		close_fd(&ledger->fd);
		return fault_set(
			fault, r, "Cannot make the ledger of %zu bytes: %s.", bytes, strerror(-r));
	}
	*ledger->header = (struct ledger_header){
		.magic = LEDGER_MAGIC,
		.version = LEDGER_VERSION,
		.bytes = bytes,
		.generation = { page->generation[0], page->generation[1] },
		.n_sockets = plan->n_sockets,
		.n_boxes = plan->n_boxes,
	};
	ledger_set_current(ledger, (struct ledger_current){ 1, LEDGER_NO_OWNER });
	memcpy(ledger->header->platform, page->platform, PAGE_NAME_MAX);
	memcpy(ledger->header->whys, shared_page->whys, sizeof ledger->header->whys);
	ledger_fill(ledger, plan, boxes);
	return 0;
}

/* --- resuming --- */

static int check_layout(const struct ledger_header *header, uint64_t bytes, struct fault *fault)
{
	if (header->magic != LEDGER_MAGIC)
		return fault_set(fault, -EBADMSG, "it is not a ledger");
	if (header->version != LEDGER_VERSION)
		return fault_set(fault, -EPROTONOSUPPORT,
			"it has version %u of the layout, this uncored knows version %d",
			header->version, LEDGER_VERSION);
	if (header->bytes != bytes)
		return fault_set(fault, -EBADMSG, "it is cut off");
	if (!header->complete)
		return fault_set(
			fault, -EBADMSG, "the process that made it ended before it served anybody");
	return 0;
}

/* Checks in order: the position of a book depends on the sizes of the books before it. */
static bool books_fit(const struct ledger *ledger, const struct plan *plan)
{
	for (unsigned s = 0; s < plan->n_sockets; s++)
		if (ledger_book(ledger, s)->n_boxes != plan->sockets[s].n_boxes)
			return false;
	return true;
}

static int check_plan(const struct ledger *ledger, const struct plan *plan, struct fault *fault)
{
	const struct ledger_header *header = ledger->header;

	if (strncmp(header->platform, plan->platform->name, PAGE_NAME_MAX) != 0)
		return fault_set(fault, -ESTALE, "it is about platform %.31s, this is %s",
			header->platform, plan->platform->name);
	if (header->n_sockets != plan->n_sockets || header->n_boxes != plan->n_boxes ||
		header->bytes != ledger_bytes(plan) || !books_fit(ledger, plan))
		return fault_set(fault, -ESTALE,
			"it is about %u sockets with %u counter boxes, this machine has %u with %u",
			header->n_sockets, header->n_boxes, plan->n_sockets, plan->n_boxes);
	for (unsigned i = 0; i < plan->n_boxes; i++) {
		struct ledger_identity planned = identify(&plan->boxes[i]);

		if (!same_counters(&identities(ledger)[i], &planned))
			return fault_set(fault, -ESTALE,
				"counter box %s of socket %u now has other events or bytes per "
				"count",
				plan->boxes[i].pmu, plan->boxes[i].socket);
	}
	return 0;
}

int ledger_adopt(struct ledger *ledger, int fd, const struct plan *plan, struct fault *fault)
{
	size_t bytes = memfd_bytes(fd);
	struct ledger_header *header = bytes < sizeof *header ? NULL : memfd_map(fd, bytes);
	int r;

	*ledger = (struct ledger){ fd, header };
	if (!header) {
		close_fd(&ledger->fd);
		return fault_set(fault, -EBADMSG, "it is not a ledger");
	}
	r = check_layout(header, bytes, fault);
	if (r >= 0)
		r = check_plan(ledger, plan, fault);
	if (r < 0) {
		munmap(header, bytes);
		*ledger = (struct ledger){ .fd = -1 };
		close(fd);
	}
	return r;
}

void ledger_complete(struct ledger *ledger)
{
	__atomic_store_n(&ledger->header->complete, 1, __ATOMIC_RELEASE);
}

void ledger_done(struct ledger *ledger)
{
	if (!ledger->header)
		return;
	munmap(ledger->header, ledger->header->bytes);
	ledger->header = NULL;
	close_fd(&ledger->fd);
}

int ledger_refused(const struct ledger *ledger, unsigned i)
{
	return identities(ledger)[i].refused;
}

/* --- one sweep --- */

void ledger_commit(struct ledger_book *book, const struct page_sweep *sweep,
	const struct box boxes[], unsigned n_boxes)
{
	uint32_t next = !__atomic_load_n(&book->current, __ATOMIC_RELAXED);
	struct ledger_copy *copy = book_copy(book, next);

	copy->sweep = *sweep;
	for (unsigned i = 0; i < n_boxes; i++)
		box_save(&boxes[i], &copy->boxes[i]);
	__atomic_store_n(&book->current, next, __ATOMIC_RELEASE);
}

const struct page_sweep *ledger_sweep(const struct ledger_book *book)
{
	return &book_copy(book, book->current & 1)->sweep;
}

void ledger_restore(const struct ledger_book *book, struct box ret_boxes[], unsigned n_boxes)
{
	const struct ledger_copy *copy = book_copy(book, book->current & 1);

	for (unsigned i = 0; i < n_boxes; i++)
		box_restore(&ret_boxes[i], &copy->boxes[i]);
}
