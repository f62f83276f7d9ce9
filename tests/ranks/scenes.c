/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scenes COUNTERS SCENE RANKS PASSAGES SEED: a team whose traffic is known. Its ranks add to the
 * counts of a simulated memory controller (tests/traffic/counters.h), which only they do, and
 * uncored on the simulated machine reads these counts. Prints the bytes that each region read while
 * it was the innermost one of the thread that moved them, and those that were read in all.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/program-region.h"
#include "tests/harness/program.h"
#include "tests/traffic/counters.h"

enum { RANKS_MOST = 128, REGIONS = 4, STEP_US = 100 };

static const char *const names[REGIONS] = { "A", "B", "C", "outer" };
static const double lines_per_ms[REGIONS] = { 2000, 1000, 300, 500 };

/* What the processes share. */
struct shared {
	pthread_barrier_t barrier;
	uint64_t moved[REGIONS]; /* atomic: lines */
	int n_inside[2];         /* atomic: threads that move lines on each socket */
	bool is_over;
};

static struct shared *shared;
static struct traffic_counters *counters;
static unsigned socket_of_rank;

static void rest(uint64_t time_us)
{
	usleep((useconds_t)time_us);
}

/* --- traffic --- */

static void emit(unsigned socket, uint64_t lines)
{
	__atomic_fetch_add(&counters->lines[socket][TRAFFIC_READ][0], lines, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&counters->lines[socket][TRAFFIC_WRITE][0], lines / 2, __ATOMIC_SEQ_CST);
}

/* Moves lines at a rate for @time_ns, in small steps. Returns how many. */
static uint64_t flow(unsigned socket, double rate, uint64_t time_ns)
{
	const uint64_t begun_ns = clock_now_ns();
	uint64_t passed_ns = 0, moved = 0, due;

	while (passed_ns < time_ns) {
		rest(STEP_US);
		passed_ns = clock_now_ns() - begun_ns;
		passed_ns = passed_ns < time_ns ? passed_ns : time_ns;
		due = (uint64_t)((double)passed_ns * 1e-6 * rate);
		emit(socket, due - moved);
		moved = due;
	}
	return moved;
}

static void count(unsigned region, uint64_t lines)
{
	__atomic_fetch_add(&shared->moved[region], lines, __ATOMIC_RELAXED);
}

static uint64_t random_ns(uint64_t least_ns, uint64_t most_ns)
{
	return least_ns + (uint64_t)rand() % (most_ns - least_ns);
}

/* --- what a rank does inside a region --- */

static void constant(unsigned region)
{
	count(region, flow(socket_of_rank, lines_per_ms[region], random_ns(2000000, 10000000)));
}

static uint64_t burst(unsigned region, uint64_t time_ns)
{
	const uint64_t lines = (uint64_t)(lines_per_ms[region] * (double)time_ns * 1e-6);

	emit(socket_of_rank, lines);
	return lines;
}

static void burst_at_begin(unsigned region)
{
	const uint64_t time_ns = random_ns(2000000, 10000000);

	count(region, burst(region, time_ns));
	rest(time_ns / 1000);
}

static void burst_at_end(unsigned region)
{
	const uint64_t time_ns = random_ns(2000000, 10000000);

	rest(time_ns / 1000);
	count(region, burst(region, time_ns));
}

/* Moves lines at a rate that depends on how many threads do so at the begin. */
static void crowded(unsigned region, double (*rate_of)(double full, int here, int all))
{
	int *inside = &shared->n_inside[socket_of_rank];
	const int here = __atomic_add_fetch(inside, 1, __ATOMIC_SEQ_CST);
	const int there = __atomic_load_n(&shared->n_inside[!socket_of_rank], __ATOMIC_SEQ_CST);
	const double rate = rate_of(lines_per_ms[region], here, here + there);

	count(region, flow(socket_of_rank, rate, random_ns(2000000, 10000000)));
	__atomic_fetch_sub(inside, 1, __ATOMIC_SEQ_CST);
}

/* Together @n threads move at most @most times the rate of A. */
static double at_most(double full, double most, int n)
{
	const double share = most * lines_per_ms[0] / n;

	return full < share ? full : share;
}

static double of_three(double full, int here, int all)
{
	(void)here;
	return at_most(full, 3, all);
}

static double of_four(double full, int here, int all)
{
	(void)here;
	return at_most(full, 4, all);
}

static double on_one_socket(double full, int here, int all)
{
	(void)all;
	return socket_of_rank ? full : at_most(full, 1.5, here);
}

static double of_falling_rate(double full, int here, int all)
{
	(void)here;
	return full / (1 + 0.05 * (all - 1));
}

static void saturating(unsigned region)
{
	crowded(region, of_three);
}

static void mildly_saturating(unsigned region)
{
	crowded(region, of_four);
}

static void saturating_one_socket(unsigned region)
{
	crowded(region, on_one_socket);
}

static void slowing_down(unsigned region)
{
	crowded(region, of_falling_rate);
}

static void in_other_memory(unsigned region)
{
	count(region, flow(!socket_of_rank, lines_per_ms[region], random_ns(2000000, 10000000)));
}

static void varying(unsigned region)
{
	const double factor = 0.2 + 1.6 * rand() / RAND_MAX;

	count(region,
		flow(socket_of_rank, factor * lines_per_ms[region], random_ns(2000000, 10000000)));
}

/* As long as a call. */
static void brief(unsigned region)
{
	const uint64_t end_ns = clock_now_ns() + 8000;

	emit(socket_of_rank, 20);
	while (clock_now_ns() < end_ns)
		;
	count(region, 20);
}

/* --- scenes --- */

static void pass(unsigned region, void (*inside)(unsigned region))
{
	program_begin(names[region]);
	inside(region);
	program_end(names[region]);
}

static void pause_for_a_while(void)
{
	rest((uint64_t)rand() % 4000);
}

static void unsynchronised(void (*inside)(unsigned region))
{
	pass((unsigned)rand() % 3, inside);
	pause_for_a_while();
}

static void nested(void (*inside)(unsigned region))
{
	program_begin("outer");
	pass((unsigned)rand() % 3, inside);
	count(3, flow(socket_of_rank, lines_per_ms[3], 1000000));
	program_end("outer");
	pause_for_a_while();
}

static void synchronised(void (*inside)(unsigned region))
{
	for (unsigned i = 0; i < 3; i++) {
		pass(i, inside);
		pthread_barrier_wait(&shared->barrier);
	}
}

/* Half of the ranks are in A while the others are in B. */
static void in_lockstep(void (*inside)(unsigned region))
{
	(void)inside;
	program_begin(names[socket_of_rank]);
	pthread_barrier_wait(&shared->barrier);
	count(socket_of_rank, flow(socket_of_rank, lines_per_ms[socket_of_rank], 3000000));
	pthread_barrier_wait(&shared->barrier);
	program_end(names[socket_of_rank]);
	pthread_barrier_wait(&shared->barrier);
	rest(500);
}

static void barrier_after_each(void (*inside)(unsigned region))
{
	pass((unsigned)rand() % 2, inside);
	pthread_barrier_wait(&shared->barrier);
}

static void back_to_back(void (*inside)(unsigned region))
{
	pass((unsigned)rand() % 2, inside);
}

static void with_pauses_together(void (*inside)(unsigned region))
{
	for (unsigned i = 0; i < 3; i++)
		pass((unsigned)rand() % 3, inside);
	pthread_barrier_wait(&shared->barrier);
	rest(3000);
	pthread_barrier_wait(&shared->barrier);
}

static void and_outside(void (*inside)(unsigned region))
{
	pass((unsigned)rand() % 3, inside);
	flow(socket_of_rank, lines_per_ms[0] / 2, random_ns(500000, 4000000));
}

/* The rank goes on while its message is on the way. */
static void in_a_span(void (*inside)(unsigned region))
{
	const unsigned region = (unsigned)rand() % 3;
	uint64_t span;

	if (uncore_span_begin(names[region], &span) < 0)
		errx(1, "%s", uncore_error_text());
	inside(region);
	flow(socket_of_rank, lines_per_ms[0] / 2, random_ns(500000, 4000000));
	if (uncore_span_end(span) < 0)
		errx(1, "%s", uncore_error_text());
	pause_for_a_while();
}

/* Traffic of a program that is not in the team. */
static void steady_neighbour(void)
{
	flow(0, 1500, 10000000);
}

static void bursty_neighbour(void)
{
	usleep((useconds_t)rand() % 60000);
	emit(0, 60000);
}

static const struct scene {
	const char *name;
	void (*step)(void (*inside)(unsigned region));
	void (*inside)(unsigned region);
	void (*neighbour)(void);
} scenes[] = {
	{ "constant", unsynchronised, constant, NULL },
	{ "nested", nested, constant, NULL },
	{ "burst-at-begin", unsynchronised, burst_at_begin, NULL },
	{ "burst-at-end", unsynchronised, burst_at_end, NULL },
	{ "saturating", unsynchronised, saturating, NULL },
	{ "mildly-saturating", unsynchronised, mildly_saturating, NULL },
	{ "one-socket", unsynchronised, saturating_one_socket, NULL },
	{ "slowing-down", unsynchronised, slowing_down, NULL },
	{ "synchronised", synchronised, constant, NULL },
	{ "brief-barrier", barrier_after_each, brief, NULL },
	{ "brief", back_to_back, brief, NULL },
	{ "brief-neighbour", back_to_back, brief, steady_neighbour },
	{ "lockstep", in_lockstep, NULL, NULL },
	{ "pauses", with_pauses_together, constant, steady_neighbour },
	{ "neighbour", unsynchronised, constant, steady_neighbour },
	{ "bursty-neighbour", with_pauses_together, constant, bursty_neighbour },
	{ "outside", and_outside, constant, NULL },
	{ "spans", in_a_span, constant, NULL },
	{ "other-memory", unsynchronised, in_other_memory, NULL },
	{ "varying", unsynchronised, varying, NULL },
};

static const struct scene *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		if (strcmp(scenes[i].name, name) == 0)
			return &scenes[i];
	errx(2, "There is no scene %s.", name);
}

/* --- processes --- */

static void be_rank(const struct scene *scene, unsigned rank, unsigned passages, unsigned seed)
{
	srand(seed * RANKS_MOST + rank);
	socket_of_rank = rank % 2;
	usleep((useconds_t)rand() % 5000);
	for (unsigned i = 0; i < passages; i++)
		scene->step(scene->inside);
	exit(0);
}

static void be_neighbour(const struct scene *scene, unsigned seed)
{
	srand(seed);
	while (!__atomic_load_n(&shared->is_over, __ATOMIC_RELAXED))
		scene->neighbour();
	exit(0);
}

static void share(unsigned n_ranks)
{
	pthread_barrierattr_t attributes;

	shared = shared_memory(sizeof *shared);
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (pthread_barrier_init(&shared->barrier, &attributes, n_ranks) != 0)
		errx(1, "Cannot make a barrier.");
}

static void map_counters(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || counters == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
}

static void wait_for(unsigned n)
{
	int status;

	for (unsigned i = 0; i < n; i++)
		if (wait(&status) < 0 || status != 0)
			errx(1, "A process failed.");
}

int main(int argc, char *argv[])
{
	const struct scene *scene;
	unsigned n_ranks, passages, seed;
	uint64_t all = 0;

	if (argc != 6)
		errx(2, "Usage: scenes COUNTERS SCENE RANKS PASSAGES SEED");
	map_counters(argv[1]);
	scene = find(argv[2]);
	n_ranks = (unsigned)program_number(argv[3], RANKS_MOST);
	passages = (unsigned)program_number(argv[4], UINT32_MAX);
	seed = (unsigned)program_number(argv[5], UINT32_MAX);
	share(n_ranks);
	if (scene->neighbour && fork() == 0)
		be_neighbour(scene, seed);
	for (unsigned i = 0; i < n_ranks; i++)
		if (fork() == 0)
			be_rank(scene, i, passages, seed);
	wait_for(n_ranks);
	__atomic_store_n(&shared->is_over, true, __ATOMIC_RELAXED);
	if (scene->neighbour)
		wait_for(1);
	for (unsigned i = 0; i < REGIONS; i++)
		printf("%s %llu\n", names[i],
			(unsigned long long)shared->moved[i] * TRAFFIC_LINE_BYTES);
	for (unsigned i = 0; i < 2; i++)
		all += __atomic_load_n(&counters->lines[i][TRAFFIC_READ][0], __ATOMIC_SEQ_CST);
	printf("all %llu\n", (unsigned long long)all * TRAFFIC_LINE_BYTES);
	return 0;
}
