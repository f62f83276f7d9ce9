/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/meter.h"

#include <errno.h>
#include <string.h>

#include "client/libuncore/call.h"
#include "client/reader/renew.h"
#include "common/clock.h"

/*
 * A program without a daemon must not pay for an attempt at every region. After a reset it tries at
 * once: the daemon has just ended, and while its socket stays the next daemon answers. Nor must a
 * reader that stands still hold a program up at every region.
 */
#define RETRY_AFTER_NS 10000000000U
/* A daemon that cannot serve has said why, and the administrator needs time to act on it. */
#define RETRY_REFUSED_AFTER_NS 600000000000U

void meter_init(struct meter *ret, struct table *table)
{
	memset(ret, 0, sizeof *ret);
	ret->table = table;
	pthread_rwlock_init(&ret->lock, NULL);
}

static struct uncore *take_handle(struct meter *meter)
{
	/* Taken out before it is closed: a child forked in between must not find half a handle. */
	return __atomic_exchange_n(&meter->handle, NULL, __ATOMIC_ACQ_REL);
}

void meter_disown(struct meter *parents)
{
	uncore_close(take_handle(parents));
}

static int open_now(struct meter *meter)
{
	/* Where that was not enough, further attempts cost less. */
	const uint64_t within_ns = meter->has_failed ? CALL_WITHIN_NS : RENEW_WITHIN_NS;
	struct uncore *handle;
	int r = uncore_open_within(NULL, within_ns, &handle);

	meter->has_failed = r < 0;
	if (r < 0)
		return r;
	r = table_describe(meter->table, handle);
	if (r < 0) {
		uncore_close(handle);
		return r;
	}
	meter->handle = handle;
	return 0;
}

static uint64_t retry_after_ns(int error)
{
	return error == -ENODEV || error == -EPERM || error == -EINVAL ? RETRY_REFUSED_AFTER_NS
								       : RETRY_AFTER_NS;
}

static int open_again(struct meter *meter)
{
	int r;

	if (clock_now_ns() < meter->retry_at_ns)
		return failure_say(&meter->failure);
	r = open_now(meter);
	failure_keep(&meter->failure, r);
	if (r < 0 && r != -ECONNRESET)
		meter->retry_at_ns = clock_now_ns() + retry_after_ns(r);
	return r;
}

/* Opens the connection, unless another thread has meanwhile put a new one in place of @stale. */
static int renew(struct meter *meter, const struct uncore *stale)
{
	int r = 0;

	pthread_rwlock_wrlock(&meter->lock);
	if (meter->handle == stale) {
		uncore_close(take_handle(meter));
		r = open_again(meter);
	}
	pthread_rwlock_unlock(&meter->lock);
	return r;
}

static int make_room(const struct uncore *handle, struct uncore_sample **samples, uint32_t *ret_n)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	int r = uncore_describe(handle, &machine);

	if (r < 0)
		return r;
	if (!*samples)
		*samples = calloc(machine.n_sockets, sizeof **samples);
	if (!*samples) {
		error_say(-ENOMEM, "No memory for the readings of a region.");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < machine.n_sockets; i++)
		(*samples)[i].size = sizeof **samples;
	*ret_n = machine.n_sockets;
	return 0;
}

static void keep_whys(struct meter *meter, const struct uncore_sample samples[], uint32_t n)
{
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t i = 0; i < samples[s].n_values && i < UNCORE_METRICS_MAX; i++)
			if (samples[s].values[i].quality & UNCORE_ABSENT)
				table_keep_why(meter->table, i,
					uncore_why(meter->handle, samples[s].values[i].why));
}

/* A socket that is not measured has no values and no sweep, and the times of the others. */
static void leave_out(
	struct uncore_sample *sample, uint32_t socket, const struct uncore_sample *other)
{
	*sample = *other;
	sample->socket = socket;
	sample->sweep = 0;
	sample->n_values = 0;
}

/* @wanted: bits of sockets, one at least. */
static int read_some(
	const struct meter *meter, uint32_t wanted, struct uncore_sample samples[], uint32_t n)
{
	const struct uncore_sample *measured = NULL;

	for (uint32_t s = 0; s < n; s++) {
		int r = wanted >> s & 1 ? uncore_read(meter->handle, s, UNCORE_FRESH, &samples[s])
					: 0;

		if (r < 0)
			return r;
		if (wanted >> s & 1)
			measured = &samples[s];
	}
	for (uint32_t s = 0; s < n && measured; s++)
		if (!(wanted >> s & 1))
			leave_out(&samples[s], s, measured);
	return 0;
}

static int read_handle(struct meter *meter, struct uncore_sample **samples, uint32_t *ret_n)
{
	const uint32_t wanted = table_sockets(meter->table);
	int r = make_room(meter->handle, samples, ret_n);
	const uint32_t all = r == 0 && *ret_n < 32 ? (UINT32_C(1) << *ret_n) - 1 : UINT32_MAX;

	if (r == 0)
		r = (wanted & all) == all || !(wanted & all)
			    ? uncore_read_all(meter->handle, UNCORE_FRESH, *samples, *ret_n)
			    : read_some(meter, wanted, *samples, *ret_n);
	if (r == 0)
		keep_whys(meter, *samples, *ret_n);
	return r;
}

/* One attempt; *@ret_used is the handle that was read (NULL: none is open). */
static int try_reading(struct meter *meter, struct uncore_sample **samples, uint32_t *ret_n,
	const struct uncore **ret_used)
{
	int r = -ENOTCONN;

	pthread_rwlock_rdlock(&meter->lock);
	*ret_used = meter->handle;
	if (meter->handle && handle_has_descriptors(meter->handle))
		r = read_handle(meter, samples, ret_n);
	pthread_rwlock_unlock(&meter->lock);
	return r;
}

static int read_or_renew(struct meter *meter, struct uncore_sample **samples, uint32_t *ret_n)
{
	const struct uncore *used;
	int r = try_reading(meter, samples, ret_n, &used);

	if (!renew_may_help(r))
		return r;
	r = renew(meter, used);
	return r < 0 ? r : try_reading(meter, samples, ret_n, &used);
}

/* Did a reader stand still, some seconds ago? */
static int check_patience(struct meter *meter)
{
	int r = 0;

	pthread_rwlock_rdlock(&meter->lock);
	if (meter->handle && clock_now_ns() < meter->retry_at_ns)
		r = failure_say(&meter->failure);
	pthread_rwlock_unlock(&meter->lock);
	return r;
}

static void lose_patience(struct meter *meter)
{
	pthread_rwlock_wrlock(&meter->lock);
	failure_keep(&meter->failure, -ETIMEDOUT);
	meter->retry_at_ns = clock_now_ns() + RETRY_AFTER_NS;
	pthread_rwlock_unlock(&meter->lock);
}

int meter_read(struct meter *meter, struct uncore_sample **samples, uint32_t *ret_n)
{
	int r = check_patience(meter);

	if (r < 0)
		return r;
	r = read_or_renew(meter, samples, ret_n);
	if (r == -ETIMEDOUT)
		lose_patience(meter);
	return r;
}
