/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any ledger and any page from the service manager, under names as it passes them: either is
 * refused, or a sweep can go on with both. The first two bytes say how long the ledger is; after it
 * comes the page.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/memory.h"
#include "daemon/resume.h"
#include "tests/fuzz/target.h"

static struct platform platform = {
	.name = "fuzzed",
	.n_metrics = 1,
	.metrics = { { .name = "dram.read", .unit = "bytes", .n_terms = 1 } },
};
static struct page_channel channel = { .name = "imc0", .bytes = 64 };

/* The kernel has no PMU of this type: a box that is not adopted cannot be opened, either. */
static struct plan_box box = {
	.pmu = "uncore_imc_0",
	.type = UINT32_MAX,
	.n_events = 1,
	.n_uses = 1,
	.uses = { { .bytes = 64 } },
};
static struct plan_socket plan_socket = { .n_boxes = 1, .n_channels = 1 };
static const struct plan plan = {
	.platform = &platform,
	.n_sockets = 1,
	.n_boxes = 1,
	.n_channels = 1,
	.sockets = &plan_socket,
	.boxes = &box,
	.channels = &channel,
};

static int memory_of(const uint8_t *data, size_t size_bytes)
{
	int fd = memory_new("fuzzed", size_bytes, 0600);

	if (fd < 0 || pwrite(fd, data, size_bytes, 0) != (ssize_t)size_bytes)
		abort();
	return fd;
}

static struct store make_store(const uint8_t *data, size_t size_bytes)
{
	struct store store = { .n = 2, .items = calloc(2, sizeof *store.items) };
	size_t ledger_bytes = size_bytes < 2 ? 0 : (size_t)data[0] | (size_t)data[1] << 8;

	data += size_bytes < 2 ? size_bytes : 2;
	size_bytes -= size_bytes < 2 ? size_bytes : 2;
	if (ledger_bytes > size_bytes)
		ledger_bytes = size_bytes;
	if (!store.items)
		abort();
	store.items[0] = (struct stored){ memory_of(data, ledger_bytes), strdup("ledger"), 0 };
	store.items[1] = (struct stored){ memory_of(data + ledger_bytes, size_bytes - ledger_bytes),
		strdup("page-1"), 0 };
	return store;
}

/* One sweep, as at a start. */
static void go_on(struct hardware *hardware)
{
	const struct reader_options options = {
		.seat.cpu = -1, .attention_fd = -1, .rules = { .quantum = 1 }
	};
	struct reader reader;
	struct tally tally;

	if (tally_init(&tally, &plan, 0, hardware->publication.whys[0]) < 0)
		abort();
	if (reader_init(&reader, &options, hardware->boxes, 1, &tally, hardware->publication.header,
		    ledger_book(&hardware->ledger, 0)) < 0)
		abort();
	reader_done(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct store store = make_store(data, size_bytes);
	struct box boxes[1] = {};
	struct hardware hardware = { .plan = plan, .boxes = boxes };
	struct fault why = {};

	if (resume_generation(&hardware, &store, &why)) {
		go_on(&hardware);
		box_close(&boxes[0]);
		ledger_done(&hardware.ledger);
		publication_done(&hardware.publication);
	} else if (!why.text[0]) {
		abort(); /* something was there, so there is something to say */
	}
	if (store.n)
		abort();
	return 0;
}
