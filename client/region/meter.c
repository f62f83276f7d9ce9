/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/meter.h"

#include <errno.h>
#include <string.h>

#include "client/libuncore/call.h"
#include "common/clock.h"

/*
 * Limits how often attempts to connect or to read may delay the program. After a reset it retries
 * at once: the daemon has just ended, and while its socket stays the next daemon answers.
 */
#define RETRY_AFTER_NS 10000000000U
/* For a daemon that refused with a reason: the administrator needs time to act on it. */
#define RETRY_REFUSED_AFTER_NS 600000000000U

/* A program that succeeds is not to be held up by its measurement. So once an attempt to connect
 * has failed, others get less time; and a reader that stands still holds it up for so long at most.
 */
#define RETRY_WITHIN_NS 1000000000U
#define READ_WITHIN_NS  2000000000U

void meter_init(struct meter *ret, struct table *table)
{
	memset(ret, 0, sizeof *ret);
	ret->table = table;
	pthread_rwlock_init(&ret->lock, NULL);
	pthread_mutex_init(&ret->renewing, NULL);
}

void meter_disown(struct meter *parents)
{
	reader_close(&parents->reader);
}

static int open_now(struct meter *meter)
{
	const uint64_t within_ns = meter->has_failed ? RETRY_WITHIN_NS : READER_CONNECT_NS;
	int r = reader_open(&meter->reader, within_ns);

	meter->has_failed = r < 0;
	if (r < 0)
		return r;
	meter->reader.handle->patience_ns = READ_WITHIN_NS;
	r = table_describe(meter->table, meter->reader.handle, !meter->is_observers);
	if (r < 0)
		reader_close(&meter->reader);
	return r;
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
	if (r < 0)
		meter->retry_at_ns = clock_now_ns() + retry_after_ns(r);
	return r;
}

static bool meter_has_newer(struct meter *meter, unsigned number)
{
	bool has;

	pthread_rwlock_rdlock(&meter->lock);
	has = meter->reader.handle && meter->reader.n_connections != number;
	pthread_rwlock_unlock(&meter->lock);
	return has;
}

/* Connects, unless another thread has already replaced the connection number @stale. Only one
 * thread at a time waits to write: beside threads that read without end, others might wait for
 * minutes. */
static int meter_renew(struct meter *meter, unsigned stale)
{
	int r = 0;

	pthread_mutex_lock(&meter->renewing);
	if (!meter_has_newer(meter, stale)) {
		pthread_rwlock_wrlock(&meter->lock);
		reader_close(&meter->reader);
		r = open_again(meter);
		pthread_rwlock_unlock(&meter->lock);
	}
	pthread_mutex_unlock(&meter->renewing);
	return r;
}

int meter_connect(struct meter *meter)
{
	return meter_renew(meter, 0);
}

static void keep_whys(struct meter *meter, const struct readout *readout)
{
	for (uint32_t s = 0; s < readout->n_sockets; s++) {
		const struct uncore_sample *sample = &readout->samples[s];

		for (uint32_t i = 0; i < sample->n_values && i < UNCORE_METRICS_MAX; i++)
			if (sample->values[i].quality & UNCORE_ABSENT)
				table_keep_why(meter->table, i,
					uncore_why(meter->reader.handle, sample->values[i].why));
	}
}

/* Sockets that are not measured get no values and no sweep, but the times of a measured one. */
static void meter_leave_out(uint32_t measured, struct readout *readout)
{
	struct uncore_sample *samples = readout->samples;
	uint32_t other = 31 - (uint32_t)__builtin_clz(measured);

	for (uint32_t s = 0; s < readout->n_sockets; s++) {
		if (measured >> s & 1)
			continue;
		samples[s] = samples[other];
		samples[s].socket = s;
		samples[s].sweep = 0;
		samples[s].n_values = 0;
	}
}

/* The bits of the sockets to read; 0: all. */
static uint32_t chosen_sockets(const struct meter *meter)
{
	const uint32_t n = meter->reader.machine.n_sockets;
	const uint32_t all = n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX;
	const uint32_t wanted = table_sockets(meter->table) & all;

	return wanted == all ? 0 : wanted;
}

static int read_connected(struct meter *meter, struct readout *ret)
{
	const struct reader_wish wish = { .use = READER_DIFFERENCE,
		.sockets = chosen_sockets(meter) };
	int r = reader_read(&meter->reader, &wish, ret);

	if (r == -ENOMEM)
		error_say(r, "No memory for the readings of a region.");
	if (r < 0)
		return r;
	if (wish.sockets)
		meter_leave_out(wish.sockets, ret);
	keep_whys(meter, ret);
	return 0;
}

/* A reader has hung: for some seconds no other call waits for it. */
static void lose_patience(struct meter *meter)
{
	pthread_rwlock_wrlock(&meter->lock);
	failure_keep(&meter->failure, -ETIMEDOUT);
	meter->retry_at_ns = clock_now_ns() + RETRY_AFTER_NS;
	pthread_rwlock_unlock(&meter->lock);
}

/* Makes one attempt. *@ret_number is that of the last connection, which was read if it is open. */
static int try_reading(struct meter *meter, struct readout *ret, unsigned *ret_number)
{
	bool is_read = false;
	int r = -ENOTCONN;

	pthread_rwlock_rdlock(&meter->lock);
	*ret_number = meter->reader.n_connections;
	if (meter->reader.handle && clock_now_ns() < meter->retry_at_ns) {
		r = failure_say(&meter->failure);
	} else if (meter->reader.handle && handle_has_descriptors(meter->reader.handle)) {
		r = read_connected(meter, ret);
		is_read = true;
	}
	pthread_rwlock_unlock(&meter->lock);
	if (is_read && r == -ETIMEDOUT)
		lose_patience(meter);
	return r;
}

int meter_read(struct meter *meter, struct readout *ret)
{
	unsigned number;
	int r = try_reading(meter, ret, &number);

	if (!reader_may_renew(r))
		return r;
	r = meter_renew(meter, number);
	return r < 0 ? r : try_reading(meter, ret, &number);
}
