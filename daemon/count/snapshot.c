/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/bpf.h"
#include "daemon/base/privilege.h"
#include "daemon/count/snapshot-program.h"

#ifndef BPF_F_PRESERVE_ELEMS
#define BPF_F_PRESERVE_ELEMS (1U << 11) /* linux/bpf.h since Linux 5.10 */
#endif

/* Preemption is off during a call. */
enum {
	CALL_EVENTS = 192, /* 64 boxes of 3 events */
	CALL_NS = 100000,
	LONG_CALLS = 16, /* in a row: an interrupt or a hypervisor makes one call long */
};

/* A PMU that reads the events of a group in one transaction would make one for each event:
 * arch/powerpc/perf/hv-24x7.c, the only one in Linux 6.18. */
static bool takes_part(const struct box *box)
{
	return box->mode == BOX_PINNED && strcmp(box->plan->pmu, "hv_24x7") != 0;
}

/* --- loading --- */

/* What is needed until the program is loaded. */
struct loading {
	struct snapshot_program program;
	const struct box *boxes;
	unsigned n_boxes;
};

static void loading_done(struct loading *loading)
{
	close_fd(&loading->program.events_fd);
	close_fd(&loading->program.readings_fd);
}

static int count_events(struct loading *loading, struct snapshot *ret)
{
	for (unsigned i = 0; i < loading->n_boxes; i++)
		if (takes_part(&loading->boxes[i])) {
			loading->program.n_leaders++;
			loading->program.n_events += loading->boxes[i].plan->n_events;
		}
	ret->n_events = loading->program.n_events;
	ret->events_per_call = CALL_EVENTS;
	return ret->n_events ? 0 : -ENODATA;
}

/* The leaders are the first events. */
static int make_events(struct loading *loading)
{
	struct snapshot_program *program = &loading->program;
	uint32_t leader = 0, other = program->n_leaders;
	int r;

	/* Without PRESERVE_ELEMS, closing the descriptor would empty the map. */
	program->events_fd = r = bpf_map_new(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t),
		program->n_events, BPF_F_PRESERVE_ELEMS);
	for (unsigned i = 0; i < loading->n_boxes; i++) {
		const struct box *box = &loading->boxes[i];

		for (unsigned k = 0; takes_part(box) && k < box->plan->n_events && r >= 0; k++)
			r = bpf_map_put_event(
				program->events_fd, k ? other++ : leader++, box->fds[k]);
	}
	return r < 0 ? r : bpf_map_freeze(program->events_fd);
}

static int make_readings(struct loading *loading, struct snapshot *ret)
{
	const struct snapshot_program *program = &loading->program;
	size_t size_bytes = program->n_leaders * sizeof(struct box_reading) +
			    (program->n_events - program->n_leaders) * sizeof(int64_t);
	int fd = bpf_map_new(BPF_MAP_TYPE_ARRAY, (uint32_t)size_bytes, 1, BPF_F_MMAPABLE);
	int r = fd < 0 ? fd : bpf_map_freeze(fd);
	void *readings;

	loading->program.readings_fd = fd;
	if (r < 0)
		return r;
	readings = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (readings == MAP_FAILED)
		return -errno;
	ret->readings = readings;
	ret->size_bytes = size_bytes;
	return 0;
}

static int snapshot_load_program(struct loading *loading, struct snapshot *ret)
{
	int r = count_events(loading, ret);

	if (r >= 0)
		r = make_events(loading);
	if (r >= 0)
		r = make_readings(loading, ret);
	if (r < 0)
		return r;
	if (getrandom(&ret->secret, sizeof ret->secret, GRND_NONBLOCK) != sizeof ret->secret)
		return -EAGAIN;
	loading->program.secret = ret->secret;
	ret->program_fd = snapshot_program_load(&loading->program);
	return ret->program_fd < 0 ? ret->program_fd : 0;
}

/* Boxes are in the order of make_events(). */
static void tell_boxes(
	const struct loading *loading, const struct snapshot *snapshot, struct box *box)
{
	const struct box_reading *reading = snapshot->readings;
	const int64_t *counts = (const void *)(reading + loading->program.n_leaders);

	for (const struct box *end = box + loading->n_boxes; box < end; box++)
		if (takes_part(box)) {
			box->reading = reading++;
			box->other_counts = counts;
			counts += box->plan->n_events - 1;
		}
}

int snapshot_load(
	struct snapshot *snapshot, struct box boxes[], unsigned n_boxes, struct fault *why)
{
	_cleanup_(loading_done) struct loading loading = { { -1, -1 }, boxes, n_boxes };
	int r = snapshot_load_program(&loading, snapshot);

	if (r >= 0) {
		tell_boxes(&loading, snapshot, boxes);
		return 0;
	}
	snapshot_done(snapshot);
	return r == -ENODATA ? fault_set(why, r, "No box of this socket is pinned to its counters.")
			     : privilege_explain_program(r, why);
}

/* --- taking --- */

/* Reads the events from @first to @end. */
static int snapshot_run(const struct snapshot *snapshot, unsigned first, unsigned end)
{
	const uint64_t arguments[BPF_ARGUMENTS] = {
		[PROGRAM_FIRST] = first,
		[PROGRAM_END] = end,
		[PROGRAM_SECRET] = snapshot->secret,
	};
	int r = bpf_program_run(snapshot->program_fd, arguments);

	return r < 0 ? r : r == 1 ? 0 : -EKEYREJECTED;
}

int snapshot_use(struct snapshot *snapshot, struct fault *why)
{
	int r = snapshot_run(snapshot, 0, 0);

	if (r < 0)
		return fault_set(why, r,
			"Without CAP_BPF, which uncored has given up, this kernel does not let it "
			"run its program: %s. Linux does since 5.19.",
			strerror(-r));
	__atomic_store_n(&snapshot->is_used, true, __ATOMIC_RELEASE);
	return 0;
}

/* Calls that are always long get shorter. */
static void note_call(struct snapshot *snapshot, uint64_t took_ns)
{
	if (took_ns > snapshot->longest_ns)
		snapshot->longest_ns = took_ns;
	snapshot->n_long = took_ns > CALL_NS ? snapshot->n_long + 1 : 0;
	if (snapshot->n_long == LONG_CALLS) {
		snapshot->n_long = 0;
		snapshot->events_per_call = (snapshot->events_per_call + 1) / 2;
	}
}

bool snapshot_take(struct snapshot *snapshot)
{
	unsigned step = snapshot->events_per_call;

	if (!snapshot_is_used(snapshot))
		return false;
	for (unsigned first = 0; first < snapshot->n_events; first += step) {
		uint64_t began_ns = clock_now_ns();

		if (snapshot_run(snapshot, first, first + step) < 0)
			return false;
		note_call(snapshot, clock_now_ns() - began_ns);
	}
	return true;
}

void snapshot_done(struct snapshot *snapshot)
{
	if (!snapshot->readings)
		return;
	munmap((void *)snapshot->readings, snapshot->size_bytes);
	if (snapshot->program_fd > 0)
		close(snapshot->program_fd);
	*snapshot = (struct snapshot){};
}
