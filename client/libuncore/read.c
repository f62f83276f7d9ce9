/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading. A cached read copies out of the page, without a system call. It allocates memory only
 * for channels, which may be too many for a thread's stack. A fresh read notes each cell's sweep
 * number before it rings, so that only a sweep that begins later can end its wait. Copies go
 * through a local struct page_sweep, because a copy that a writer disturbed must not reach the
 * caller's sample.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "client/libuncore/internal.h"
#include "client/libuncore/sized.h"
#include "common/bounds.h"
#include "common/clock.h"

/* --- checks --- */

/* May this handle be read at all, in this way? */
static int check_reading(const struct uncore *handle, int how)
{
	if (!handle_is_ours(handle))
		return handle_check(handle);
	if (how != UNCORE_CACHED && how != UNCORE_FRESH)
		return error_say(-EINVAL,
			"There is no way %d to read: say UNCORE_CACHED or UNCORE_FRESH.", how);
	if (live_word(handle, handle->tables->state) == PAGE_RETIRED)
		return error_say(-EACCES,
			"uncored has withdrawn this page: the rules on who may read have changed, "
			"or the counters have. Close this handle and open a new one; `uncore info` "
			"says which policy applies.");
	return 0;
}

/* --- waiting --- */

static uint64_t sum_ns(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/*
 * When a fresh read that began to wait at @begin_ns gives up. The site's policy or the budget may
 * hold a read back, which is not a failure. uncored publishes when the ring is due, and may
 * postpone it, so each wait computes this again.
 */
static uint64_t deadline_ns(const struct uncore *handle, uint32_t socket, uint64_t begin_ns)
{
	uint64_t hold_ns = live_word(handle, handle->tables->daemon.min_interval_ns);
	uint64_t due_ns = page_wakeup_due_ns(&handle->wakeups[socket]);

	if (handle->timeout_ns)
		return sum_ns(begin_ns, handle->timeout_ns);
	due_ns = most_of(due_ns, sum_ns(begin_ns, hold_ns));
	return sum_ns(due_ns, handle->patience_ns);
}

/* How often a waiting read checks that the daemon is still there. */
#define LOOK_EVERY_NS 5000000U

static int daemon_gone(void)
{
	return error_say(-ENOTCONN, "uncored has gone away, or does not let this user in any more: "
				    "close this handle and open a new one; look at `systemctl "
				    "status uncored`.");
}

/* No answer yet: checks that the daemon is still there and this page is valid. */
static int check_daemon(const struct uncore *handle)
{
	struct pollfd connection = { .fd = handle->connection, .events = POLLRDHUP };
	int r = check_reading(handle, UNCORE_FRESH);

	if (r < 0)
		return r;
	if (poll(&connection, 1, 0) > 0 && connection.revents & (POLLHUP | POLLRDHUP | POLLERR)) {
		__atomic_store_n(&handle->mark->gone, 1, __ATOMIC_RELAXED);
		return daemon_gone();
	}
	return 0;
}

/*
 * Why the caller's own limit was too short. uncored promises a sweep to all clients that the budget
 * or the policy holds back. Without a promise, or with a broken one, the reader has not got to it.
 */
static const char *why_not_within_limit(const struct page_wakeup *wakeup)
{
	if (page_wakeup_is_claimed(wakeup) && page_wakeup_due_ns(wakeup) > clock_now_ns())
		return "its budget is spent, or the site holds reads back (`uncore info` says so)";
	return "its reader got no CPU time, or hangs, or a reading takes longer: see `systemctl "
	       "status uncored`";
}

static int too_late(
	const struct uncore *handle, uint32_t socket, uint64_t begin_ns, uint64_t last_ns)
{
	double ms = (double)(last_ns - begin_ns) / 1e6;

	if (handle->timeout_ns)
		return error_say(-ETIMEDOUT,
			"uncored did not read socket %u within %.0f ms, this program's limit: %s.",
			socket, ms, why_not_within_limit(&handle->wakeups[socket]));
	return error_say(-ETIMEDOUT,
		"uncored did not read socket %u within %.0f ms, although it was due: its reader "
		"got no CPU time, or hangs; look at `systemctl status uncored`.",
		socket, ms);
}

/* Waits for a sweep of @socket later than @started. Notices a daemon that has died. */
static int wait_for_sweep(
	const struct uncore *handle, uint32_t socket, uint32_t started, uint64_t begin_ns)
{
	const struct page_cell *cell = handle_cell_of(handle, socket);
	const struct page_wakeup *wakeup = &handle->wakeups[socket];
	uint64_t look_ns, last_ns;
	int r;

	do {
		last_ns = deadline_ns(handle, socket, begin_ns);
		look_ns = least_of(clock_deadline_ns(LOOK_EVERY_NS), last_ns);
		if (page_wait(cell, wakeup, started, look_ns) == 0)
			return 0;
		r = check_daemon(handle);
		if (r < 0)
			return r;
	} while (look_ns < deadline_ns(handle, socket, begin_ns));
	return too_late(handle, socket, begin_ns, last_ns);
}

/* One write to the doorbell. -EAGAIN: it is full. */
static int read_push_bell(const struct uncore *handle, uint32_t socket)
{
	uint64_t one = 1;

	while (write(handle->doorbells[socket], &one, sizeof one) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int ring(const struct uncore *handle, uint32_t socket)
{
	int r;

	/* A waiting claim gets a sweep that begins after this; page_started() was read before. */
	if (page_wakeup_is_claimed(&handle->wakeups[socket]))
		return 0;
	r = read_push_bell(handle, socket);
	if (r == -EAGAIN) {
		r = handle_renew_doorbells(handle);
		if (r == 0)
			r = read_push_bell(handle, socket);
	}
	return r < 0 ? error_say(r, "Cannot ring uncored for socket %u: %m.", socket) : 0;
}

/*
 * Rings sockets @first .. @first + @n - 1. A socket whose reader runs on this CPU comes last: its
 * reader takes the CPU at once, so the other sockets would be rung only after its sweep.
 */
static int ring_all(const struct uncore *handle, uint32_t first, uint32_t n, uint32_t ret_started[])
{
	const struct page_socket *sockets = page_sockets(handle->tables);
	int r, here = sched_getcpu();
	uint32_t own = n; /* looked up once: the CPU may change, and every socket must be rung */

	for (uint32_t i = 0; i < n; i++)
		if (live_word(handle, sockets[first + i].cpu) == here)
			own = i;
	for (int last = 0; last <= 1; last++)
		for (uint32_t i = 0; i < n; i++) {
			if ((i == own) != last)
				continue;
			ret_started[i] = page_started(handle_cell_of(handle, first + i));
			r = ring(handle, first + i);
			if (r < 0)
				return r;
		}
	return 0;
}

/* For each socket @first .. @first + @n - 1, waits for a sweep that begins after this call. */
static int wait_for_sweeps(const struct uncore *handle, uint32_t first, uint32_t n)
{
	uint32_t started[PAGE_SOCKETS_MAX];
	uint64_t begin_ns;
	int r;

	if (__atomic_load_n(&handle->mark->gone, __ATOMIC_RELAXED))
		return daemon_gone();
	r = ring_all(handle, first, n, started);
	if (r < 0)
		return r;
	begin_ns = clock_now_ns();
	for (uint32_t i = 0; i < n && r >= 0; i++)
		r = wait_for_sweep(handle, first + i, started[i], begin_ns);
	return r;
}

/* --- reading --- */

/* Room for channels; empty if none are wanted. */
struct channel_room {
	struct page_channel_value *values;
	uint32_t n;
};

static const struct channel_room no_channels;

static int copy_cell(const struct uncore *handle, uint32_t socket, struct page_sweep *ret_sweep,
	const struct channel_room *channels)
{
	if (page_copy(handle_cell_of(handle, socket), ret_sweep, handle->tables->n_metrics,
		    channels->values, channels->n) < 0)
		return error_say(-EAGAIN,
			"Socket %u is half written: uncored died while it wrote, "
			"or does so without pause. Try again.",
			socket);
	if (ret_sweep->number == 0)
		return error_say(
			-EAGAIN, "Socket %u was never read yet: read it UNCORE_FRESH.", socket);
	return 0;
}

/* A later release writes new members only if the caller's .size includes them. */
static_assert(sizeof(struct uncore_sample) == 56 + UNCORE_METRICS_MAX * sizeof(struct uncore_value),
	"the layout that programs are built with");

static void fill_sample(const struct uncore *handle, uint32_t socket,
	const struct page_sweep *sweep, struct uncore_sample *sample)
{
	const struct page_header *page = handle->tables;

	sample->socket = socket;
	sample->n_values = page->n_metrics;
	sample->generation[0] = page->generation[0];
	sample->generation[1] = page->generation[1];
	sample->sweep = sweep->number;
	sample->begin_ns = sweep->begin_ns;
	sample->end_ns = sweep->end_ns;
	memcpy(sample->values, sweep->values, page->n_metrics * sizeof sweep->values[0]);
	sized_clear_rest(&sized_sample, sample);
}

static int check_socket(
	const struct uncore *handle, uint32_t socket, int how, const struct uncore_sample *sample)
{
	int r = check_reading(handle, how);

	if (r == 0)
		r = sized_check(&sized_sample, sample);
	if (r < 0)
		return r;
	if (socket >= handle->tables->n_sockets)
		return error_say(-EINVAL, "There is no socket %u: this machine has %u.", socket,
			handle->tables->n_sockets);
	return 0;
}

/* Reads a checked socket, and its first channels. */
static int read_socket(const struct uncore *handle, uint32_t socket, int how,
	struct uncore_sample *ret_sample, const struct channel_room *channels)
{
	struct page_sweep sweep;
	int r = how == UNCORE_FRESH ? wait_for_sweeps(handle, socket, 1) : 0;

	if (r == 0)
		r = copy_cell(handle, socket, &sweep, channels);
	if (r == 0)
		fill_sample(handle, socket, &sweep, ret_sample);
	return r;
}

_public_ int uncore_read(
	const struct uncore *handle, uint32_t socket, int how, struct uncore_sample *ret_sample)
{
	int r = check_socket(handle, socket, how, ret_sample);

	return r < 0 ? r : read_socket(handle, socket, how, ret_sample, &no_channels);
}

/* Elements are as far apart as the caller's .size says. */
static struct uncore_sample *sample_at(struct uncore_sample samples[], uint32_t i)
{
	return (void *)((char *)samples + (size_t)i * samples->size);
}

static int check_samples(struct uncore_sample samples[], uint32_t n)
{
	int r = n ? sized_check(&sized_sample, samples) : 0;

	for (uint32_t i = 1; i < n && r == 0; i++)
		if (sample_at(samples, i)->size != samples->size)
			r = error_say(-EINVAL,
				"Not all elements of the array of struct uncore_sample have the "
				"same .size: initialise each with UNCORE_SAMPLE_INIT.");
	return r;
}

static int copy_all(
	const struct uncore *handle, struct page_sweep room[], struct uncore_sample ret_samples[])
{
	const uint32_t n = handle->tables->n_sockets;
	int r = 0;

	for (uint32_t i = 0; i < n && r == 0; i++)
		r = copy_cell(handle, i, &room[i], &no_channels);
	for (uint32_t i = 0; i < n && r == 0; i++)
		fill_sample(handle, i, &room[i], sample_at(ret_samples, i));
	return r;
}

/* A program's thread may have a stack of 16 KiB, and a signal handler may not allocate memory. */
enum { FEW = 4 };

__attribute__((noinline)) static int copy_few(
	const struct uncore *handle, struct uncore_sample ret_samples[])
{
	struct page_sweep room[FEW];

	return copy_all(handle, room, ret_samples);
}

__attribute__((noinline)) static int copy_many(
	const struct uncore *handle, struct uncore_sample ret_samples[])
{
	struct page_sweep room[PAGE_SOCKETS_MAX]; /* 25 KiB */

	return copy_all(handle, room, ret_samples);
}

_public_ int uncore_read_all(const struct uncore *handle, int how,
	struct uncore_sample ret_samples[], uint32_t n_samples)
{
	uint32_t n_sockets;
	int r = check_reading(handle, how);

	if (r < 0)
		return r;
	n_sockets = handle->tables->n_sockets;
	if (!ret_samples || n_samples < n_sockets)
		return error_say(-EINVAL,
			"Room for %u samples is too little: this machine has %u sockets.",
			n_samples, n_sockets);
	r = check_samples(ret_samples, n_sockets);
	if (r < 0)
		return r;
	if (how == UNCORE_FRESH)
		r = wait_for_sweeps(handle, 0, n_sockets);
	if (r < 0)
		return r;
	return n_sockets > FEW ? copy_many(handle, ret_samples) : copy_few(handle, ret_samples);
}

_public_ int uncore_read_channels(const struct uncore *handle, uint32_t socket, int how,
	struct uncore_sample *ret_sample, struct uncore_channel_value ret_values[],
	uint32_t n_values)
{
	_cleanup_free_ struct page_channel_value *channels = NULL;
	uint32_t n;
	int r = check_socket(handle, socket, how, ret_sample);

	if (r < 0)
		return r;
	n = page_sockets(handle->tables)[socket].n_channels;
	if (n_values < n || (n && !ret_values))
		return error_say(-EINVAL, "Room for %u channels is too little: socket %u has %u.",
			n_values, socket, n);
	channels = calloc(n + 1, sizeof *channels);
	if (!channels)
		return error_say(-ENOMEM, "Cannot read the channels of socket %u: %m.", socket);
	r = read_socket(handle, socket, how, ret_sample, &(struct channel_room){ channels, n });
	if (r < 0)
		return r;
	if (n)
		memcpy(ret_values, channels, n * sizeof *channels);
	return (int)n;
}
