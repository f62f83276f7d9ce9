/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/meter.h"

#include <errno.h>
#include <string.h>

#include "client/renew.h"
#include "common/clock.h"

/*
 * A program without a daemon must not pay for an attempt at every region. After a reset it tries at
 * once: the daemon has just ended, and while its socket stays the next daemon answers.
 */
#define RETRY_AFTER_NS 10000000000U
/* A daemon that cannot serve has said why, and the administrator needs time to act on it. */
#define RETRY_REFUSED_AFTER_NS 600000000000U

void meter_init(struct meter *ret)
{
	memset(ret, 0, sizeof *ret);
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

static void adopt_machine(
	struct meter *meter, const struct uncore *handle, const struct uncore_machine *machine)
{
	strcpy(meter->platform, machine->platform);
	meter->n_sockets = machine->n_sockets;
	meter->n_metrics = machine->n_metrics;
	for (uint32_t i = 0; i < machine->n_metrics; i++) {
		strcpy(meter->names[i], uncore_metric_name(handle, i));
		strcpy(meter->units[i], uncore_metric_unit(handle, i));
	}
}

/* Sums of different things must not be mixed. */
static bool machine_agrees(const struct meter *meter, const struct uncore *handle,
	const struct uncore_machine *machine)
{
	if (machine->n_sockets != meter->n_sockets || machine->n_metrics != meter->n_metrics)
		return false;
	for (uint32_t i = 0; i < machine->n_metrics; i++)
		if (strcmp(meter->names[i], uncore_metric_name(handle, i)) != 0 ||
			strcmp(meter->units[i], uncore_metric_unit(handle, i)) != 0)
			return false;
	return true;
}

static int open_now(struct meter *meter)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;
	int r = uncore_open(NULL, &handle);

	if (r < 0)
		return r;
	uncore_describe(handle, &machine);
	if (!*meter->platform)
		adopt_machine(meter, handle, &machine);
	if (!machine_agrees(meter, handle, &machine)) {
		uncore_close(handle);
		return error_say(-ESTALE, "uncored serves other metrics now than when the first "
					  "region began.");
	}
	memcpy(meter->generation, machine.generation, sizeof meter->generation);
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

static int make_room(const struct meter *meter, struct uncore_sample **samples)
{
	if (!*samples)
		*samples = calloc(meter->n_sockets, sizeof **samples);
	if (!*samples)
		return error_say(-ENOMEM, "No memory for the readings of a region.");
	for (uint32_t i = 0; i < meter->n_sockets; i++)
		(*samples)[i].size = sizeof **samples;
	return 0;
}

/* One attempt; *@ret_used is the handle that was read (NULL: none is open). */
static int try_reading(
	struct meter *meter, struct uncore_sample **samples, const struct uncore **ret_used)
{
	int r = -ENOTCONN;

	pthread_rwlock_rdlock(&meter->lock);
	*ret_used = meter->handle;
	if (meter->handle) {
		r = make_room(meter, samples);
		if (r == 0)
			r = uncore_read_all(
				meter->handle, UNCORE_FRESH, *samples, meter->n_sockets);
	}
	pthread_rwlock_unlock(&meter->lock);
	return r;
}

int meter_read(struct meter *meter, struct uncore_sample **samples)
{
	const struct uncore *used;
	int r = try_reading(meter, samples, &used);

	if (!renew_may_help(r))
		return r;
	r = renew(meter, used);
	return r < 0 ? r : try_reading(meter, samples, &used);
}
