/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/sweep.h"

#include "common/clock.h"

int sweep_init(struct sweep *sweep, const struct generation *generation, unsigned socket)
{
	const struct plan *plan = generation->plan;
	const struct plan_socket *s = &plan->sockets[socket];
	int r;

	*sweep = (struct sweep){
		.socket = socket,
		.boxes = &generation->boxes[s->first_box],
		.n_boxes = s->n_boxes,
		.book = ledger_book(&generation->ledger, socket),
	};
	r = tally_init(&sweep->tally, plan, socket, generation->shared_page.whys[socket]);
	if (r < 0)
		return r;
	sweep_set_page(sweep, generation->shared_page.header);
	tally_resume(&sweep->tally, ledger_sweep(sweep->book), sweep->cell->channels);
	return 0;
}

void sweep_done(struct sweep *sweep)
{
	snapshot_done(&sweep->snapshot);
	tally_done(&sweep->tally);
}

/* Reads the counters in one go, so that the window of the values is as short as possible. */
void sweep_make(struct sweep *sweep)
{
	struct page_sweep *found = &sweep->tally.sweep;
	uint32_t started = page_sweep_begin(sweep->cell);
	struct page_result result;
	bool taken;

	found->number++;
	found->begin_ns = clock_now_ns();
	taken = snapshot_take(&sweep->snapshot);
	sweep->n_by_program = 0;
	for (unsigned i = 0; i < sweep->n_boxes; i++)
		sweep->n_by_program += box_read(&sweep->boxes[i], taken, found->begin_ns);
	found->end_ns = clock_now_ns();
	tally_sum(&sweep->tally, sweep->boxes, sweep->n_boxes);
	ledger_commit(sweep->book, found, sweep->boxes, sweep->n_boxes);
	result = tally_result(&sweep->tally);
	page_sweep_end(sweep->cell, started, &result);
}

void sweep_set_page(struct sweep *sweep, struct page_header *page)
{
	sweep->page = page;
	sweep->cell = page_cell(page, sweep->socket);
}

void sweep_tell_cpu(struct sweep *sweep, int cpu)
{
	struct page_socket *socket = &page_sockets(sweep->page)[sweep->socket];

	__atomic_store_n(&socket->cpu, cpu, __ATOMIC_RELAXED);
}

int sweep_find_stopped(const struct sweep *sweep)
{
	for (unsigned i = 0; i < sweep->n_boxes; i++)
		if (sweep->boxes[i].stopped)
			return (int)i;
	return -1;
}
