/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/post.h"

#include "client/region/state.h"
#include "common/bounds.h"

/* --- writing --- */

static bool post_claim(const struct member *member, struct table_post *post)
{
	uint64_t found = LOAD(post->at_ns);
	const bool is_free = found & POST_WRITTEN
				     ? !member_holds_claim(member, found & ~POST_WRITTEN)
				     : found <= LOAD(member->table->header.ended_at_ns);

	return is_free && REPLACE(post->at_ns, found, POST_WRITTEN | member_claim(member));
}

/* NULL: no place is free. */
static struct table_post *find_place(const struct member *member)
{
	const uint64_t first = LOAD(member->table->header.n_posts);

	for (uint64_t i = 0; i < TABLE_POSTS; i++) {
		struct table_post *post = &member->table->posts[(first + i) % TABLE_POSTS];

		if (post_claim(member, post))
			return post;
	}
	return NULL;
}

/* A change of class that is later may have come meanwhile; the times are still right in sum. */
static void post_rows(const struct table *table, struct table_post *to, uint64_t at_ns)
{
	for (unsigned i = 0; i < TABLE_STATES; i++)
		for (int row = 0; row < STATE_ROWS; row++)
			STORE(to->rows_ns[i][row], state_time_ns(state_at(table, i), row, at_ns));
}

void post(const struct member *member, const struct readout *readout)
{
	const uint32_t n = (uint32_t)least_of(readout->n_sockets, PAGE_SOCKETS_MAX);
	struct table_post *to = find_place(member);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0, at_ns;

	if (!to)
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (uint32_t s = 0; s < n; s++) {
		begin_ns = least_of(begin_ns, readout->samples[s].begin_ns);
		end_ns = most_of(end_ns, readout->samples[s].end_ns);
		table_copy(&to->sockets[s], &readout->samples[s], sizeof to->sockets[s]);
	}
	at_ns = n ? begin_ns + (end_ns - begin_ns) / 2 : 0;
	STORE(to->begin_ns, begin_ns);
	STORE(to->end_ns, end_ns);
	STORE(to->n_sockets, n);
	post_rows(member->table, to, at_ns);
	__atomic_store_n(&to->at_ns, at_ns, __ATOMIC_RELEASE);
	__atomic_add_fetch(&member->table->header.n_posts, 1, __ATOMIC_SEQ_CST);
}

/* --- taking --- */

void post_look(struct posts *ret, const struct table *table)
{
	for (int i = 0; i < TABLE_POSTS; i++)
		ret->at_ns[i] = __atomic_load_n(&table->posts[i].at_ns, __ATOMIC_ACQUIRE);
}

bool post_take(const struct posts *posts, const struct table *table, uint64_t after_ns,
	struct table_post *ret)
{
	const struct table_post *from = NULL;
	uint64_t earliest_ns = POST_WRITTEN;

	for (int i = 0; i < TABLE_POSTS; i++)
		if (posts->at_ns[i] > after_ns && posts->at_ns[i] < earliest_ns) {
			earliest_ns = posts->at_ns[i];
			from = &table->posts[i];
		}
	if (!from)
		return false;
	table_copy(ret, from, offsetof(struct table_post, sockets));
	ret->at_ns = earliest_ns;
	ret->n_sockets = least_of(ret->n_sockets, PAGE_SOCKETS_MAX);
	for (uint32_t s = 0; s < ret->n_sockets; s++) {
		struct uncore_sample *sample = &ret->sockets[s];

		table_copy(sample, &from->sockets[s], sizeof *sample);
		sample->n_values = (uint32_t)least_of(sample->n_values, UNCORE_METRICS_MAX);
	}
	return true;
}
