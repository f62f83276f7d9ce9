/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/continuity/truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/test.h"

/*
 * What the first event of each box counts on the stand-in machine, in the order of a socket's
 * boxes.
 */
static const struct {
	const char *metric;
	uint64_t worth;
} counters[TRUTH_COUNTERS] = {
	{ "dram.read", 4096 },
	{ "clock", 1 },
};

void truth_begin(struct truth *truth, const struct daemon_process *daemon)
{
	*truth = (struct truth){
		.daemon = daemon,
		.n_checks = truth->n_checks,
	};
	for (unsigned s = 0; s < TRUTH_SOCKETS_MAX; s++)
		for (unsigned c = 0; c < TRUTH_COUNTERS; c++)
			truth->before[s][c] = (struct truth_range){ INT64_MIN, INT64_MAX };
}

/* The leader of a group comes first among its events. */
static int64_t kernel_count(const struct truth *truth, unsigned socket, unsigned counter)
{
	uint64_t group[3 + 8];
	char name[64];
	int fd;

	snprintf(name, sizeof name, "box%u", socket * TRUTH_COUNTERS + counter);
	fd = manager_find(&truth->daemon->manager, name);
	assert_true(fd >= 0);
	assert_true(read(fd, group, sizeof group) >= (ssize_t)(4 * sizeof *group));
	return (int64_t)group[3];
}

static void read_kernel(const struct truth *truth, int64_t ret[TRUTH_SOCKETS_MAX][TRUTH_COUNTERS])
{
	for (unsigned s = 0; s < standin_sockets(); s++)
		for (unsigned c = 0; c < TRUTH_COUNTERS; c++)
			ret[s][c] = kernel_count(truth, s, c);
}

static void narrow_down(struct truth_range *range, int64_t least, int64_t most)
{
	if (least > range->least)
		range->least = least;
	if (most < range->most)
		range->most = most;
}

/* How many counts are worth @amount. Fails the case if no whole number is. */
static int64_t counts_of(unsigned counter, uint64_t amount)
{
	assert_int_equal(amount % counters[counter].worth, 0);
	return (int64_t)(amount / counters[counter].worth);
}

static void check_value(struct truth *truth, unsigned socket, unsigned counter,
	const struct uncore_value *value, int64_t kernel_before, int64_t kernel_after)
{
	struct truth_range *range = &truth->before[socket][counter];
	int64_t published = counts_of(counter, value->count);

	assert_int_equal(value->quality, UNCORE_STANDIN);
	assert_true(value->count >= truth->last[socket][counter]);
	truth->last[socket][counter] = value->count;
	narrow_down(range, kernel_before - published, kernel_after - published);
	if (range->least > range->most)
		fail_msg("%s of socket %u: %" PRId64 " counts were lost or added twice",
			counters[counter].metric, socket, range->least - range->most);
}

static void check_generation(struct truth *truth, const uint64_t generation[2])
{
	if (!truth->generation[0])
		memcpy(truth->generation, generation, sizeof truth->generation);
	assert_memory_equal(truth->generation, generation, sizeof truth->generation);
}

void truth_check(struct truth *truth)
{
	struct uncore_sample samples[TRUTH_SOCKETS_MAX] = { UNCORE_SAMPLE_INIT,
		UNCORE_SAMPLE_INIT };
	int64_t before[TRUTH_SOCKETS_MAX][TRUTH_COUNTERS], after[TRUTH_SOCKETS_MAX][TRUTH_COUNTERS];
	struct uncore *uncore;

	assert_int_equal(uncore_open(truth->daemon->socket_path, &uncore), 0);
	read_kernel(truth, before);
	assert_int_equal(uncore_read_all(uncore, UNCORE_FRESH, samples, TRUTH_SOCKETS_MAX), 0);
	read_kernel(truth, after);
	check_generation(truth, samples[0].generation);
	for (unsigned s = 0; s < standin_sockets(); s++)
		for (unsigned c = 0; c < TRUTH_COUNTERS; c++) {
			int metric = uncore_find_metric(uncore, counters[c].metric);

			assert_true(metric >= 0);
			check_value(
				truth, s, c, &samples[s].values[metric], before[s][c], after[s][c]);
		}
	uncore_close(uncore);
	truth->n_checks++;
}

uint64_t truth_resolution(const struct truth *truth)
{
	uint64_t worst = 0;

	for (unsigned s = 0; s < standin_sockets(); s++) {
		const struct truth_range *range = &truth->before[s][0];

		if ((uint64_t)(range->most - range->least) > worst)
			worst = (uint64_t)(range->most - range->least);
	}
	return worst;
}
