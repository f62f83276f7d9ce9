/* SPDX-License-Identifier: BSD-3-Clause */
/* Users that share a node: most of them idle, all of them slow, or greedy, or one with many ids. */
#include "tests/bench/ranks/bench.h"

#include <stdlib.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"

enum { USERS = 500, GREEDY_USERS = 50, SAMPLES_MAX = 20000, TIMEOUT_S = 120 };
enum { ALONE_S = 3, SLOW_S = 10, GREEDY_S = 20, ROTATING_S = 20 };
enum { PAUSE_US = 2000, SAVE_UP_US = 2100000 };

/* Subordinate ids as newuidmap(1) gives them, which have no names. */
enum { FIRST_SUBORDINATE = 524288, SUBORDINATES = 400, ROTATORS = 4 };

struct users {
	struct gate gate;
	const char *socket_path;
	uint32_t pause_us;
	struct calls calls;
	unsigned n_samples;
	double us[SAMPLES_MAX];       /* of a user that reads alone */
	uint64_t reads[GREEDY_USERS]; /* reads that were answered */
	unsigned n_users;
};

static int read_once(const struct uncore *uncore, double *ret_us)
{
	struct uncore_sample samples[SOCKETS] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	uint64_t begin_ns = clock_now_ns();
	int r = uncore_read_all(uncore, UNCORE_FRESH, samples, SOCKETS);

	*ret_us = (double)(clock_now_ns() - begin_ns) / 1e3;
	return r;
}

/* A user that reads now and then, far below the budget. Failed reads took that long, too. */
static int read_with_pauses(void *argument)
{
	struct users *users = argument;
	struct uncore *uncore;

	if (uncore_open(users->socket_path, &uncore) < 0)
		return 1;
	usleep(SAVE_UP_US);
	if (!gate_wait(&users->gate))
		return 1;
	while (clock_now_ns() < users->gate.end_ns && users->n_samples < SAMPLES_MAX) {
		usleep(PAUSE_US);
		calls_count(&users->calls, read_once(uncore, &users->us[users->n_samples]));
		users->n_samples++;
	}
	uncore_close(uncore);
	return 0;
}

static struct users *users_of(const struct daemon_process *daemon)
{
	struct users *users = shared_memory(sizeof *users);

	users->socket_path = daemon->socket_path;
	return users;
}

static double median_us(struct users *users)
{
	return users->n_samples ? quantile(users->us, users->n_samples, 0.5) : NAN;
}

/* --- idle ones --- */

/* Stays connected until the gate closes. */
static int sit_idle(void *argument)
{
	struct users *users = argument;
	struct uncore *uncore;
	int r = uncore_open(users->socket_path, &uncore);

	calls_count(&users->calls, r);
	if (!gate_wait(&users->gate) || r < 0)
		return 1;
	while (clock_now_ns() < users->gate.end_ns)
		usleep(100000);
	uncore_close(uncore);
	return 0;
}

static struct users *measure_one(const struct daemon_process *daemon)
{
	struct users *one = users_of(daemon);
	struct batch_processes batch = { .n = 0 };

	batch_add(&batch, NOBODY, read_with_pauses, one);
	gate_open(&one->gate, 1, ALONE_S);
	batch_wait(&batch, TIMEOUT_S);
	return one;
}

void users_idle(void)
{
	struct batch_processes batch = { .n = 0 };
	struct daemon_process daemon = {};
	struct users *idle, *alone, *one;
	struct usage before, spent;

	daemon_start(&daemon, "standin-wide", NULL);
	alone = measure_one(&daemon);
	idle = users_of(&daemon);
	for (unsigned i = 0; i < USERS; i++)
		batch_add(&batch, user_number(i), sit_idle, idle);
	gate_open(&idle->gate, USERS, 3 + 2 * ALONE_S);
	before = usage_now(&daemon);
	one = measure_one(&daemon);
	spent = usage_since(&daemon, &before);
	batch_wait(&batch, TIMEOUT_S);
	daemon_stop(&daemon);
	figure_add(&(struct figure){ "alone_us", "median alone", "us", median_us(alone), NAN });
	figure_add(&(struct figure){ "median_us", "median beside 500", "us", median_us(one), NAN });
	figure_add(
		&(struct figure){ "ratio", "ratio", "", median_us(one) / median_us(alone), 1.5 });
	calls_show(&one->calls, "reads");
	usage_show(&spent);
}

/* --- slow ones --- */

static int read_once_a_second(void *argument)
{
	struct users *users = argument;
	struct uncore *uncore;
	int r = uncore_open(users->socket_path, &uncore);
	double us;

	calls_count(&users->calls, r);
	if (!gate_wait(&users->gate) || r < 0)
		return 1;
	srandom((unsigned)getpid());
	usleep((useconds_t)random() % 1000000);
	for (unsigned i = 0; i < SLOW_S; i++) {
		calls_count(&users->calls, read_once(uncore, &us));
		usleep(1000000);
	}
	uncore_close(uncore);
	return 0;
}

void users_slow(void)
{
	struct batch_processes batch = { .n = 0 };
	struct daemon_process daemon = {};
	struct usage before, spent;
	struct users *users;

	daemon_start(&daemon, "standin-wide", NULL);
	users = users_of(&daemon);
	for (unsigned i = 0; i < USERS; i++)
		batch_add(&batch, user_number(i), read_once_a_second, users);
	before = usage_now(&daemon);
	gate_open(&users->gate, USERS, SLOW_S);
	batch_wait(&batch, TIMEOUT_S);
	spent = usage_since(&daemon, &before);
	daemon_stop(&daemon);
	calls_show(&users->calls, "opens and reads");
	usage_show(&spent);
}

/* --- greedy ones --- */

static int read_without_pause(void *argument)
{
	struct users *users = argument;
	unsigned self = __atomic_fetch_add(&users->n_users, 1, __ATOMIC_SEQ_CST);
	struct uncore *uncore;
	double us;
	int r = uncore_open(users->socket_path, &uncore);

	calls_count(&users->calls, r);
	if (!gate_wait(&users->gate) || r < 0)
		return 1;
	while (clock_now_ns() < users->gate.end_ns) {
		r = read_once(uncore, &us);
		calls_count(&users->calls, r);
		users->reads[self] += r == 0;
	}
	uncore_close(uncore);
	return 0;
}

void users_greedy(void)
{
	struct batch_processes batch = { .n = 0 };
	struct daemon_process daemon = {};
	uint64_t least = UINT64_MAX, most = 0;
	struct usage before, spent;
	struct users *users;

	daemon_start(&daemon, "standin-wide", NULL);
	users = users_of(&daemon);
	for (unsigned i = 0; i < GREEDY_USERS; i++)
		batch_add(&batch, user_number(i), read_without_pause, users);
	before = usage_now(&daemon);
	gate_open(&users->gate, GREEDY_USERS, GREEDY_S);
	batch_wait(&batch, TIMEOUT_S);
	spent = usage_since(&daemon, &before);
	daemon_stop(&daemon);
	for (unsigned i = 0; i < GREEDY_USERS; i++) {
		least = users->reads[i] < least ? users->reads[i] : least;
		most = users->reads[i] > most ? users->reads[i] : most;
	}
	figure_add(&(struct figure){ "least_per_s", "answers per second, of the slowest user", "",
		(double)least / GREEDY_S, NAN });
	figure_add(&(struct figure){ "most_per_s", "answers per second, of the fastest user", "",
		(double)most / GREEDY_S, NAN });
	figure_add(&(struct figure){
		"spread", "fastest / slowest", "", (double)most / (double)least, 2 });
	calls_show(&users->calls, "opens and reads");
	usage_show_share(&spent);
	usage_show(&spent);
}

/* --- one user with many ids --- */

/* The daemon sees the effective id of a client. */
static int read_as_many(void *argument)
{
	struct users *users = argument;
	unsigned self = __atomic_fetch_add(&users->n_users, 1, __ATOMIC_SEQ_CST);

	if (!gate_wait(&users->gate))
		return 1;
	for (unsigned i = self; clock_now_ns() < users->gate.end_ns; i += ROTATORS) {
		struct uncore *uncore;
		double us;

		if (seteuid(0) < 0 || seteuid(FIRST_SUBORDINATE + i % SUBORDINATES) < 0)
			return 1;
		if (uncore_open(users->socket_path, &uncore) < 0)
			continue;
		calls_count(&users->calls, read_once(uncore, &us));
		uncore_close(uncore);
	}
	return 0;
}

void users_rotating(void)
{
	struct batch_processes batch = { .n = 0 };
	struct daemon_process daemon = { .etc = { { "subuid", "1115112:524288:65536\n" } } };
	struct users *users, *alone, *victim;
	struct usage before, spent;

	daemon_start(&daemon, "standin-wide", NULL);
	alone = measure_one(&daemon);
	users = users_of(&daemon);
	for (unsigned i = 0; i < ROTATORS; i++)
		batch_add(&batch, 0, read_as_many, users);
	before = usage_now(&daemon);
	gate_open(&users->gate, ROTATORS, ROTATING_S);
	victim = measure_one(&daemon);
	batch_wait(&batch, TIMEOUT_S);
	spent = usage_since(&daemon, &before);
	daemon_stop(&daemon);
	usage_show_share(&spent);
	figure_add(&(struct figure){
		"rotated", "reads, each with another id", "", (double)users->calls.n, NAN });
	figure_add(&(struct figure){
		"alone_us", "median of another user, alone", "us", median_us(alone), NAN });
	figure_add(&(struct figure){
		"victim_us", "median of another user, beside it", "us", median_us(victim), NAN });
	calls_show(&victim->calls, "reads of that user");
	usage_show(&spent);
}
