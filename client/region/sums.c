/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/sums.h"

enum { TRIES = 1000 };

static uint32_t bounded(uint64_t n_sockets)
{
	return n_sockets < PAGE_SOCKETS_MAX ? (uint32_t)n_sockets : PAGE_SOCKETS_MAX;
}

/* --- one socket --- */

/* The differences of such bounds add up to @bytes, whatever is rounded. */
static uint64_t share_bound(uint64_t bytes, uint64_t at, uint64_t total)
{
	return total ? (uint64_t)((unsigned __int128)bytes * (at < total ? at : total) / total) : 0;
}

static void sums_add_value(struct table_sum *sum, const struct uncore_delta_value *moved,
	const struct table_part *part)
{
	const uint64_t after_ns = part->before_ns + part->own_ns;
	const uint64_t own = share_bound(moved->count, after_ns, part->total_ns) -
			     share_bound(moved->count, part->before_ns, part->total_ns);

	sum->quality |= moved->quality;
	sum->share += own;
	if (part->is_alone)
		sum->alone += own;
	if (part->is_open)
		sum->all += moved->count;
}

static void sums_add_socket(struct table_socket *socket, const struct uncore_delta *moved,
	const struct table_part *part)
{
	for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++)
		sums_add_value(&socket->metrics[i], &moved->values[i], part);
	if (!part->is_open || !moved->n_values)
		return;
	socket->open_ns += moved->window_ns;
	socket->alone_ns += part->is_alone ? moved->window_ns : 0;
	socket->skew_ns += moved->skew_ns;
	socket->n_readings++;
}

/* --- all sockets --- */

/* The copy that counts. */
static unsigned latest(const struct table_sums *sums)
{
	return __atomic_load_n(&sums->number[1], __ATOMIC_ACQUIRE) >
	       __atomic_load_n(&sums->number[0], __ATOMIC_ACQUIRE);
}

/* What there is of a socket. */
static struct table_socket sums_copy_socket(
	const struct table_sums *sums, uint32_t s, unsigned from)
{
	struct table_socket socket = { .n_readings = 0 };

	if (s < bounded(LOAD(sums->n_sockets[from])))
		table_copy(&socket, &sums->sockets[s][from], sizeof socket);
	return socket;
}

void sums_add(struct table_sums *sums, uint64_t number, const struct table_interval *interval,
	const struct table_part *part)
{
	const unsigned from = latest(sums), to = !from;
	const uint32_t n = bounded(interval->to.n_sockets);

	if (LOAD(sums->number[from]) >= number)
		return;
	for (uint32_t s = 0; s < n; s++) {
		struct table_socket socket = sums_copy_socket(sums, s, from);

		if (s < bounded(interval->n_sockets))
			sums_add_socket(&socket, &interval->moved[s], part);
		table_copy(&sums->sockets[s][to], &socket, sizeof socket);
	}
	STORE(sums->n_sockets[to], n);
	STORE(sums->lost_ns[to],
		LOAD(sums->lost_ns[from]) + (interval->n_sockets ? 0 : part->open_ns));
	__atomic_store_n(&sums->number[to], number, __ATOMIC_RELEASE);
}

void sums_read(struct sums *ret, const struct table_sums *sums)
{
	for (int i = 0; i < TRIES; i++) {
		const unsigned from = latest(sums);
		const uint64_t number = LOAD(sums->number[from]);

		ret->lost_ns = LOAD(sums->lost_ns[from]);
		ret->n_sockets = bounded(LOAD(sums->n_sockets[from]));
		for (uint32_t s = 0; s < ret->n_sockets; s++)
			table_copy(
				&ret->sockets[s], &sums->sockets[s][from], sizeof ret->sockets[s]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (LOAD(sums->number[from]) == number && latest(sums) == from)
			return;
	}
}
