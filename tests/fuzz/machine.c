/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/count/perf.h"

/* --- the plan --- */

static struct platform platform = {
	.name = "fuzzed",
	.title = "A machine of the fuzz targets",
	.n_metrics = 2,
	.metrics = { { .name = "dram.read", .unit = "bytes", .n_terms = 1 },
		{ .name = "dram.write", .unit = "bytes", .n_terms = 1 } },
};

static struct plan_socket sockets[MACHINE_SOCKETS] = {
	{ .package = 0, .cpu = 0, .first_box = 0, .n_boxes = 2 },
	{ .package = 1,
		.cpu = 0,
		.first_box = 2,
		.n_boxes = 1,
		.quality = { 0, PAGE_ABSENT },
		.why = { "", "its counters are left out" } },
	{ .package = 4,
		.cpu = 0,
		.first_box = 3,
		.n_boxes = 3,
		.quality = { 0, PAGE_ABSENT },
		.why = { "", "its counters are left out" } },
};
static struct plan_box boxes[MACHINE_BOXES];
static struct page_channel channels[MACHINE_CHANNELS];

/* Two events are a channel each, a third is a clock. */
static struct plan_box make_box(unsigned i, unsigned socket)
{
	struct plan_box box = {
		.type = UINT32_MAX,
		.socket = socket,
		.n_events = 2 + i % 2,
		.n_uses = 2,
		.uses = { { .event = 0, .metric = 0, .scale = { 64, 1 }, .channel = (int)(2 * i) },
			{ .event = 1,
				.metric = 1,
				.scale = { 64, 1 },
				.channel = (int)(2 * i + 1) } },
		.events = { { .code.config = 0x304 }, { .code.config = 0xc04 },
			{ .is_clock = true } },
	};

	snprintf(box.pmu, sizeof box.pmu, "uncore_imc_%u", i);
	return box;
}

static struct page_channel make_channel(unsigned i, unsigned socket)
{
	struct page_channel channel = { .socket = socket, .metric = i % 2, .bytes = 64 };

	snprintf(channel.name, sizeof channel.name, "imc%u", i / 2);
	snprintf(channel.pmu, sizeof channel.pmu, "uncore_imc_%u", i / 2);
	return channel;
}

const struct plan *machine_plan(void)
{
	static const struct plan plan = {
		.platform = &platform,
		.n_sockets = MACHINE_SOCKETS,
		.n_boxes = MACHINE_BOXES,
		.n_channels = MACHINE_CHANNELS,
		.sockets = sockets,
		.boxes = boxes,
		.channels = channels,
	};

	for (unsigned s = 0; s < MACHINE_SOCKETS; s++) {
		struct plan_socket *socket = &sockets[s];

		socket->first_channel = 2 * socket->first_box;
		socket->n_channels = 2 * socket->n_boxes;
		for (unsigned i = socket->first_box; i < socket->first_box + socket->n_boxes; i++)
			boxes[i] = make_box(i, s);
		for (unsigned i = 0; i < socket->n_channels; i++)
			channels[socket->first_channel + i] =
				make_channel(socket->first_channel + i, s);
	}
	return &plan;
}

/* --- its kernel --- */

enum { EVENTS_MAX = 1024 }; /* descriptors */

static struct machine_kernel kernel;
static struct {
	bool open;
	int leader; /* of a leader: itself */
	uint64_t id;
} events[EVENTS_MAX];

void machine_begin(const struct machine_kernel *how)
{
	kernel = *how;
	memset(events, 0, sizeof events);
}

int machine_event(int leader, uint64_t id)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fd >= EVENTS_MAX)
		abort();
	events[fd].open = true;
	events[fd].leader = leader < 0 ? fd : leader;
	events[fd].id = id;
	return fd;
}

static int open_event(
	const struct perf *self, const struct perf_event_attr *attr, int cpu, int group_fd)
{
	static uint64_t last_id = UINT32_MAX;

	(void)self;
	(void)attr;
	(void)cpu;
	return kernel.open_error ? kernel.open_error : machine_event(group_fd, ++last_id);
}

static ssize_t read_group(const struct perf *self, int fd, void *ret_buffer, size_t size_bytes)
{
	static uint64_t last_ns; /* threads read at the same time */
	uint64_t time_ns = __atomic_add_fetch(&last_ns, !kernel.stands, __ATOMIC_RELAXED);
	uint64_t words[3 + PLAN_EVENTS_MAX] = {};

	(void)self;
	if (kernel.read_error || kernel.reads_nothing)
		return kernel.read_error;
	words[1] = words[2] = time_ns;
	for (int i = 0; i < EVENTS_MAX && words[0] < PLAN_EVENTS_MAX; i++)
		if (events[i].open && events[i].leader == fd)
			words[3 + words[0]++] = time_ns;
	if (kernel.group_fell_apart)
		words[0] = 1;
	if ((3 + words[0]) * sizeof *words > size_bytes)
		return -ENOSPC;
	memcpy(ret_buffer, words, (3 + words[0]) * sizeof *words);
	return (ssize_t)((3 + words[0]) * sizeof *words);
}

static void enable(const struct perf *self, int leader_fd)
{
	(void)self;
	(void)leader_fd;
}

static uint64_t id_of(const struct perf *self, int fd)
{
	(void)self;
	return events[fd].id;
}

static void close_event(const struct perf *self, int fd)
{
	(void)self;
	events[fd].open = false;
	close(fd);
}

const struct perf perf_calls = { open_event, read_group, enable, id_of, close_event, NULL };
