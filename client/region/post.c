/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/post.h"

#include <string.h>

#include "client/region/state.h"
#include "common/bounds.h"

/* When a reading was taken: the middle of its sweeps. */
static uint64_t middle_ns(const struct readout *readout)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t s = 0; s < readout->n_sockets; s++) {
		begin_ns = least_of(begin_ns, readout->samples[s].begin_ns);
		end_ns = most_of(end_ns, readout->samples[s].end_ns);
	}
	return readout->n_sockets ? begin_ns + (end_ns - begin_ns) / 2 : 0;
}

static void post_socket(struct table_reading *to, const struct uncore_sample *sample)
{
	struct table_reading reading = {
		.sweep = sample->sweep, .begin_ns = sample->begin_ns, .end_ns = sample->end_ns
	};

	memcpy(reading.generation, sample->generation, sizeof reading.generation);
	for (uint32_t i = 0; i < sample->n_values && i < UNCORE_METRICS_MAX; i++)
		reading.values[i] = sample->values[i];
	table_copy(to, &reading, sizeof reading);
}

/* A change of class that is later may have come meanwhile; the times are still right in sum. */
static void post_rows(const struct table *table, struct table_post *to)
{
	for (unsigned i = 0; i < TABLE_STATES; i++)
		for (int row = 0; row < STATE_ROWS; row++)
			STORE(to->rows_ns[i][row],
				state_time_ns(state_at(table, i), row, LOAD(to->at_ns)));
}

void post(struct table *table, const struct readout *readout)
{
	const uint64_t number = __atomic_add_fetch(&table->header.n_posts, 1, __ATOMIC_SEQ_CST);
	struct table_post *to = post_at(table, number);

	STORE(to->number, 0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	STORE(to->at_ns, middle_ns(readout));
	STORE(to->n_sockets, readout->n_sockets);
	post_rows(table, to);
	for (uint32_t s = 0; s < readout->n_sockets && s < PAGE_SOCKETS_MAX; s++)
		post_socket(&to->sockets[s], &readout->samples[s]);
	__atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}

bool post_take(const struct table *table, uint64_t number, struct table_post *ret)
{
	const struct table_post *from = post_at(table, number);
	bool is_whole = __atomic_load_n(&from->number, __ATOMIC_ACQUIRE) == number;

	table_copy(ret, from, offsetof(struct table_post, sockets));
	ret->n_sockets = least_of(ret->n_sockets, PAGE_SOCKETS_MAX);
	for (uint32_t s = 0; s < ret->n_sockets; s++)
		table_copy(&ret->sockets[s], &from->sockets[s], sizeof ret->sockets[s]);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_whole && LOAD(from->number) == number;
}

uint64_t post_next(const struct table *table, uint64_t first, uint64_t last, uint64_t after_ns)
{
	uint64_t earliest_ns = UINT64_MAX, found = 0;

	for (uint64_t i = first; i <= last; i++) {
		const struct table_post *post = post_at(table, i);
		const bool is_whole = __atomic_load_n(&post->number, __ATOMIC_ACQUIRE) == i;
		const uint64_t at_ns = LOAD(post->at_ns);

		if (is_whole && at_ns > after_ns && at_ns < earliest_ns) {
			earliest_ns = at_ns;
			found = i;
		}
	}
	return found;
}
