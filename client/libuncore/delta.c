/* SPDX-License-Identifier: BSD-3-Clause */
/* Subtracting one sample from another. */
#include <errno.h>

#include "client/libuncore/internal.h"
#include "client/libuncore/sized.h"

static uint64_t midpoint_ns(const struct uncore_sample *sample)
{
	return sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;
}

int delta_stale(void)
{
	return error_say(-ESTALE,
		"uncored began to count anew between the two samples (it was stopped, or came back "
		"without a descriptor store or with other counters): measure again.");
}

static int check_pair(const struct uncore_sample *from, const struct uncore_sample *to)
{
	int r = sized_check(&sized_sample, from);

	if (r == 0)
		r = sized_check(&sized_sample, to);
	if (r < 0)
		return r;
	if (from->socket != to->socket)
		return error_say(-EINVAL, "Samples of two sockets (%u, %u) cannot be subtracted.",
			from->socket, to->socket);
	if (!from->sweep && !from->n_values)
		return error_say(-EINVAL, "The first sample was never read.");
	if (from->generation[0] != to->generation[0] || from->generation[1] != to->generation[1])
		return delta_stale();
	if (to->sweep < from->sweep || to->n_values != from->n_values ||
		to->n_values > UNCORE_METRICS_MAX)
		return error_say(-EINVAL,
			"The second sample (sweep %llu) is older than the first "
			"(sweep %llu).",
			(unsigned long long)to->sweep, (unsigned long long)from->sweep);
	return 0;
}

static struct uncore_delta_value delta_subtract(
	const struct uncore_value *from, const struct uncore_value *to, uint64_t from_sweep)
{
	struct uncore_delta_value d = { .quality = from->quality | to->quality };

	for (uint32_t i = 0; i < UNCORE_PASSING_MAX; i++)
		if (to->raised[i] > from_sweep)
			d.quality |= 1U << i;
	if (d.quality & UNCORE_ABSENT)
		d.why = to->quality & UNCORE_ABSENT ? to->why : from->why;
	else if (to->count < from->count)
		d.quality |= UNCORE_RESET; /* count 0 and a flag, not a wrapped 1.8e19 */
	else
		d.count = to->count - from->count;
	return d;
}

void delta_fill(
	const struct uncore_sample *from, const struct uncore_sample *to, struct uncore_delta *ret)
{
	ret->socket = to->socket;
	ret->n_values = to->n_values;
	ret->window_ns = midpoint_ns(to) - midpoint_ns(from);
	ret->skew_ns = (to->end_ns - to->begin_ns + from->end_ns - from->begin_ns) / 2;
	for (uint32_t i = 0; i < to->n_values; i++)
		ret->values[i] = delta_subtract(&from->values[i], &to->values[i], from->sweep);
}

_public_ int uncore_delta(const struct uncore_sample *from, const struct uncore_sample *to,
	struct uncore_delta *ret_delta)
{
	struct uncore_delta ours = {};
	int r = check_pair(from, to);

	if (r == 0)
		r = sized_check(&sized_delta, ret_delta);
	if (r < 0)
		return r;
	delta_fill(from, to, &ours);
	sized_fill(&sized_delta, ret_delta, &ours);
	return 0;
}
