/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A simulated team, of which the truth is known: each member goes through regions on its own, and
 * moves bytes at a rate of the region, times a factor of the passage. Readings fall at arbitrary
 * moments, which are known up to a jitter.
 */
#pragma once

#include <math.h>

#include "client/estimate/estimate.h"
#include "tests/harness/test.h"

enum { MEMBERS_MAX = 32, REGIONS = 5, SOCKETS = 2, PLACES = REGIONS + 1 };
enum { NOWHERE = REGIONS }; /* between two regions */

struct team {
	/* what the case sets; times in seconds, rates in bytes per second */
	uint32_t n_members;
	double rates[PLACES][SOCKETS];
	double stay_s[PLACES]; /* on average; 0: nobody goes there */
	double spread;         /* of the factor of a passage, in parts of 1 */
	double jitter_s;       /* of the moment of a reading */
	double background[SOCKETS];
	double capacity;   /* of a socket; 0: endless */
	double faster_s;   /* from then on region 0 is three times as fast; 0: never */
	double joins_s;    /* each so much later another member joins; 0: all are there */
	bool all_together; /* all go to the next region at once, and each change is a reading */
	bool has_shadow;   /* the time in region 2 is that in region 1, within 1 % */

	/* the state of the simulation */
	uint64_t seed;
	double now_s, read_s, next_reading_s;
	double late[SOCKETS]; /* bytes that the last reading did not see yet */
	struct member {
		uint32_t place;
		double until_s, factor;
	} members[MEMBERS_MAX];

	/* what happened: since the last reading, and in all */
	double time_s[PLACES], moved[SOCKETS];
	double total_s[PLACES], truth[PLACES][SOCKETS], exact[SOCKETS];
	uint64_t passages;
};

/* --- chance (splitmix64) --- */

static inline uint64_t chance_next(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Over 0, up to 1. */
static inline double chance_even(uint64_t *seed)
{
	return (double)((chance_next(seed) >> 11) + 1) / 9007199254740992.0;
}

static inline double chance_normal(uint64_t *seed)
{
	double length = sqrt(-2 * log(chance_even(seed)));

	return length * cos(6.283185307179586 * chance_even(seed));
}

/* --- the simulation --- */

static inline uint32_t team_n_present(const struct team *team)
{
	uint32_t n = team->n_members;

	if (team->joins_s > 0)
		n = (uint32_t)fmin(n, 1 + team->now_s / team->joins_s);
	return n;
}

/* Between two passages a member is nowhere for a while. */
static inline void member_move(struct team *team, struct member *member)
{
	uint32_t place = NOWHERE;

	while (member->place == NOWHERE && (place == NOWHERE || !(team->stay_s[place] > 0)))
		place = (uint32_t)(chance_next(&team->seed) % REGIONS);
	member->place = place;
	member->until_s =
		team->now_s + team->stay_s[place] * (0.3 + 1.4 * chance_even(&team->seed));
	member->factor = fmax(0.1, 1 + team->spread * chance_normal(&team->seed));
	team->passages += place != NOWHERE;
}

static inline void members_move(struct team *team)
{
	struct member leader;

	for (uint32_t i = 0; i < team->n_members; i++)
		if (team->members[i].until_s <= team->now_s)
			member_move(team, &team->members[i]);
	leader = team->members[0];
	for (uint32_t i = 1; team->all_together && i < team->n_members; i++)
		team->members[i] = leader;
}

static inline double member_speed(const struct team *team, const struct member *member, uint32_t s)
{
	bool faster = team->faster_s > 0 && team->now_s > team->faster_s && member->place == 0;

	return team->rates[member->place][s] * member->factor * (faster ? 3 : 1);
}

static inline void team_flow(struct team *team, double dt_s)
{
	uint32_t n = team_n_present(team);

	for (uint32_t i = 0; i < n; i++)
		team->time_s[team->members[i].place] += dt_s;
	for (uint32_t s = 0; s < SOCKETS; s++) {
		double speed = 0, share;

		for (uint32_t i = 0; i < n; i++)
			speed += member_speed(team, &team->members[i], s);
		share = team->capacity > 0 ? fmin(1, team->capacity / speed) : 1;
		for (uint32_t i = 0; i < n; i++)
			team->truth[team->members[i].place][s] +=
				member_speed(team, &team->members[i], s) * share * dt_s;
		team->moved[s] += (speed * share + team->background[s]) * dt_s;
	}
}

/* Goes on to the next change or reading. True: a reading. */
static inline bool team_step(struct team *team)
{
	double then_s = team->next_reading_s, joins_s;
	bool reading = true;

	for (uint32_t i = 0; i < team->n_members; i++)
		if (team->members[i].until_s < then_s) {
			then_s = team->members[i].until_s;
			reading = team->all_together;
		}
	joins_s = team->joins_s > 0 ? team_n_present(team) * team->joins_s : 0;
	if (joins_s > team->now_s && joins_s <= then_s) {
		then_s = joins_s + 1e-12;
		reading = true;
	}
	team_flow(team, then_s - team->now_s);
	team->now_s = then_s;
	members_move(team);
	return reading;
}

/* Bytes since the last reading, and what was moved while this one's moment was uncertain. */
static inline void team_see(struct team *team, double dt_s, double *ret_bytes)
{
	for (uint32_t s = 0; s < SOCKETS; s++) {
		double late = team->moved[s] / dt_s * team->jitter_s * chance_normal(&team->seed);

		ret_bytes[s] = fmax(0, team->moved[s] + team->late[s] - late);
		team->late[s] = late;
		team->exact[s] += team->moved[s];
		team->moved[s] = 0;
	}
}

static inline void team_read(struct team *team, const struct estimate *estimate)
{
	double dt_s = team->now_s - team->read_s, bytes[SOCKETS];
	struct estimate_share shares[REGIONS];
	struct estimate_row row = {
		.dt_ns = (uint64_t)(dt_s * 1e9 + 0.5),
		.t0_ns = 20000,
		.outside_ns = (uint64_t)(team->time_s[NOWHERE] * 1e9 + 0.5),
		.shares = shares,
		.n_shares = REGIONS,
		.n_threads = team_n_present(team),
		.bytes = bytes,
	};

	if (!(dt_s > 1e-8))
		return;
	if (team->has_shadow)
		team->time_s[2] = team->time_s[1] * (1 + 0.01 * (chance_even(&team->seed) - 0.5));
	for (uint32_t i = 0; i < REGIONS; i++)
		shares[i] = (struct estimate_share){ i, (uint64_t)(team->time_s[i] * 1e9 + 0.5) };
	team_see(team, dt_s, bytes);
	assert_int_equal(estimate_add(estimate, &row), 0);
	for (uint32_t i = 0; i < PLACES; i++) {
		team->total_s[i] += team->time_s[i];
		team->time_s[i] = 0;
	}
	team->read_s = team->now_s;
	team->next_reading_s = team->now_s + 1e-3 - 0.3e-3 * log(chance_even(&team->seed));
}

static inline void team_run(struct team *team, const struct estimate *estimate, uint64_t passages)
{
	team->now_s = team->read_s = 0;
	team->next_reading_s = 1e-3;
	for (uint32_t i = 0; i < MEMBERS_MAX; i++)
		team->members[i].place = NOWHERE;
	members_move(team);
	team->passages = 0;
	while (team->passages < passages)
		if (team_step(team))
			team_read(team, estimate);
	team_read(team, estimate);
}

/* Empty sums in memory for free(3). */
static inline struct estimate estimate_empty(uint32_t n_sockets, uint32_t n_metrics)
{
	struct estimate estimate = { .n_sockets = n_sockets, .n_metrics = n_metrics };

	estimate.memory = calloc(1, estimate_bytes(n_sockets, n_metrics));
	assert_non_null(estimate.memory);
	return estimate;
}
