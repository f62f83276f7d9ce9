/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A page that was valid when the handle was opened, and is changed between the reads: the library
 * must stay inside the page and its callers' memory, and describe the same machine all the time.
 *
 * The input is a row of struct change; after each one everything is asked and read. The page is on
 * the heap, so that a sanitizer knows where it ends.
 */
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/internal.h"
#include "tests/fuzz/handle.h"
#include "tests/fuzz/target.h"

enum { SOCKETS = 2, METRICS = 3, CHANNELS = 4, TEXTS = 2, CHANGES_MAX = 64 };

struct change {
	uint32_t word; /* of the page, taken modulo its length */
	uint32_t flip; /* bits of it */
};

static struct page_header *make_page(void)
{
	struct page_header header = {
		.state = PAGE_LIVE,
		.generation = { 1, 2 },
		.n_metrics = METRICS,
		.n_sockets = SOCKETS,
		.n_channels = CHANNELS,
		.n_texts = TEXTS,
		.platform = "standin",
	};
	struct page_header *page;

	page_lay_out(&header, CHANNELS / SOCKETS);
	page = calloc(1, header.page_bytes);
	if (!page)
		abort();
	*page = header;
	for (uint32_t i = 0; i < METRICS; i++)
		page_metrics(page)[i].name[0] = (char)('a' + i);
	for (uint32_t i = 0; i < SOCKETS; i++) {
		page_sockets(page)[i] =
			(struct page_socket){ .first_channel = i * CHANNELS / SOCKETS,
				.n_channels = CHANNELS / SOCKETS };
		page_cell(page, i)->sweep.number = 1;
	}
	for (uint32_t i = 0; i < CHANNELS; i++)
		page_channels(page)[i].socket = i * SOCKETS / CHANNELS;
	return page;
}

static void apply(const struct uncore *handle, uint32_t *words, const uint8_t *record)
{
	struct change change;

	memcpy(&change, record, sizeof change);
	words[change.word % (handle->tables->page_bytes / sizeof *words)] ^= change.flip;
	/*
	 * Clears the locks, because each read would wait for a writer that seems to be at work;
	 * fuzz-page tests that.
	 */
	for (uint32_t i = 0; i < SOCKETS; i++)
		((struct page_cell *)handle_cell_of(handle, i))->lock &= ~1U;
}

static void check_machine(const struct uncore *handle)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;

	if (uncore_describe(handle, &machine) < 0 || machine.n_sockets != SOCKETS ||
		machine.n_metrics != METRICS || machine.n_channels != CHANNELS ||
		machine.generation[0] != 1 || strcmp(machine.platform, "standin") != 0 ||
		uncore_find_metric(handle, "c") != 2)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_free_ struct page_header *page = make_page(), *tables = NULL;
	struct uncore_mark mark = { .ours = 1 };
	const struct page_wakeup wakeups[SOCKETS] = { { 0 } };
	struct uncore handle = { .mark = &mark,
		.shared = page,
		.wakeups = wakeups,
		.n_doorbells = SOCKETS,
		.connection = -1 };
	size_t n = size_bytes / sizeof(struct change);

	if (page_copy_tables(page, page->page_bytes, &tables) < 0)
		abort();
	handle.tables = tables;
	for (size_t i = 0; i < n && i < CHANGES_MAX; i++) {
		apply(&handle, (uint32_t *)page, data + i * sizeof(struct change));
		check_machine(&handle);
		handle_use(&handle, 0);
	}
	return 0;
}
