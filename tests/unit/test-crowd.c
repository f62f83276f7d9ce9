/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of rings, and when it is worth waiting for the rest of a crowd. */
#include "daemon/crowd.h"
#include "tests/test.h"

enum { RANKS = 64 };

static const uint64_t US = 1000;

/* All of @n ring in turn, 1 us apart, each answered at once. */
static void ring_one_by_one(struct crowd *crowd, uint32_t rounds[], unsigned n, uint64_t begin_ns)
{
	for (unsigned i = 0; i < n; i++) {
		crowd_ring(crowd, &rounds[i], begin_ns + i * US);
		crowd_swept(crowd, begin_ns + i * US);
	}
}

static void a_lone_reader_never_waits(void **state)
{
	struct crowd crowd = {};
	uint32_t round = CROWD_NO_ROUND;

	(void)state;
	for (unsigned i = 1; i < 100; i++) {
		crowd_ring(&crowd, &round, i * US);
		assert_false(crowd_is_incomplete(&crowd));
		assert_true(crowd_is_one(&crowd));
		crowd_swept(&crowd, i * US);
	}
}

static void the_first_of_a_crowd_is_answered_at_once(void **state)
{
	struct crowd crowd = {};
	uint32_t rounds[RANKS] = {};

	(void)state;
	ring_one_by_one(&crowd, rounds, RANKS, 1000 * US);
	crowd_ring(&crowd, &rounds[7], 2000 * US);
	assert_int_equal(crowd.n_expected, RANKS);
	assert_false(crowd_is_one(&crowd));
	assert_false(crowd_is_incomplete(&crowd));
}

static void the_second_is_worth_waiting_for_the_rest(void **state)
{
	struct crowd crowd = {};
	uint32_t rounds[RANKS] = {};

	(void)state;
	ring_one_by_one(&crowd, rounds, RANKS, 1000 * US);
	crowd_ring(&crowd, &rounds[0], 2000 * US);
	crowd_swept(&crowd, 2040 * US);
	for (unsigned i = 1; i < RANKS - 1; i++) {
		crowd_ring(&crowd, &rounds[i], 2041 * US);
		assert_true(crowd_is_incomplete(&crowd));
	}
	crowd_ring(&crowd, &rounds[RANKS - 1], 2050 * US);
	assert_false(crowd_is_incomplete(&crowd));
}

static void two_who_alternate_never_wait(void **state)
{
	struct crowd crowd = {};
	uint32_t rounds[2] = {};

	(void)state;
	for (unsigned i = 1; i < 100; i++) {
		crowd_ring(&crowd, &rounds[i % 2], i * US);
		assert_false(crowd_is_incomplete(&crowd));
		crowd_swept(&crowd, i * US);
	}
}

static void silence_ends_a_round(void **state)
{
	struct crowd crowd = {};
	uint32_t rounds[RANKS] = {};

	(void)state;
	ring_one_by_one(&crowd, rounds, 3, 1000 * US);
	crowd_ring(&crowd, &rounds[3], 9000 * US);
	assert_int_equal(crowd.n_rang, 1);
	assert_int_equal(crowd.n_expected, 3);
}

static void rounds_wrap(void **state)
{
	struct crowd crowd = { .round = UINT32_MAX };
	uint32_t round = UINT32_MAX, never = CROWD_NO_ROUND;

	(void)state;
	crowd_ring(&crowd, &round, 1000 * US);
	assert_int_equal(crowd.round, 1);
	crowd_swept(&crowd, 1000 * US);
	crowd_ring(&crowd, &never, 1001 * US);
	assert_int_equal(crowd.n_rang, 2);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("who reads alone never waits", a_lone_reader_never_waits),
		CASE("the first of a crowd is answered at once",
			the_first_of_a_crowd_is_answered_at_once),
		CASE("the second waits for as many as rang in the last round",
			the_second_is_worth_waiting_for_the_rest),
		CASE("two who read in turn never wait", two_who_alternate_never_wait),
		CASE("silence ends a round", silence_ends_a_round),
		CASE("the number of the round may wrap", rounds_wrap),
	};

	return cmocka_run_group_tests_name("crowd", cases, NULL, NULL);
}
