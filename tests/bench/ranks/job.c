/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of one job: processes of one user, each with a connection of its own. */
#include "tests/bench/ranks/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"

enum { RANKS = 128, REGIONS = 50, TRIES = 3, MANY_RANKS = 576 };
enum { REGION_US = 5000, LONG_S = 20, BARE_S = 2, TIMEOUT_S = 120 };

/* The time that saves up the whole burst. */
enum { SAVE_UP_US = 2100000 };

struct job {
	struct gate gate;
	const char *socket_path; /* NULL: regions are not measured */
	const char *team;        /* NULL: each rank is alone */
	unsigned regions;        /* of each rank; 0: as many as there is time for */
	struct calls calls;
	uint64_t n_done;     /* regions of all */
	uint64_t ended_ns;   /* when the last of them was over */
	uint64_t slowest_ns; /* uncore_open() */
};

static void at_most_once(uint64_t *latest_ns, uint64_t ns)
{
	uint64_t seen_ns = __atomic_load_n(latest_ns, __ATOMIC_RELAXED);

	while (seen_ns < ns && !__atomic_compare_exchange_n(latest_ns, &seen_ns, ns, false,
				       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void sleep_us(unsigned us)
{
	const struct timespec time = { .tv_nsec = (long)us * 1000 };

	nanosleep(&time, NULL);
}

static void pass_region(struct job *job)
{
	if (job->socket_path)
		calls_count(&job->calls, uncore_region_begin("step"));
	sleep_us(REGION_US);
	if (job->socket_path)
		calls_count(&job->calls, uncore_region_end("step"));
	__atomic_add_fetch(&job->n_done, 1, __ATOMIC_RELAXED);
}

/* As in a real job, the connection is made before the work begins. */
static void connect_early(const struct job *job)
{
	if (!job->socket_path)
		return;
	setenv("UNCORE_SOCKET", job->socket_path, 1);
	if (job->team)
		setenv("UNCORE_TEAM", job->team, 1);
	uncore_region_begin("start");
	uncore_region_end("start");
	usleep(SAVE_UP_US);
}

static int run_rank(void *argument)
{
	struct job *job = argument;

	srandom((unsigned)getpid());
	connect_early(job);
	if (!gate_wait(&job->gate))
		return 1;
	sleep_us((unsigned)random() % REGION_US);
	for (unsigned i = 0; job->regions ? i < job->regions : clock_now_ns() < job->gate.end_ns;
		i++)
		pass_region(job);
	at_most_once(&job->ended_ns, clock_now_ns());
	return 0;
}

static void run_job(struct job *job, double seconds)
{
	struct batch_processes batch = { .n = 0 };

	memset(&job->gate, 0, sizeof job->gate);
	job->n_done = job->ended_ns = 0;
	for (unsigned i = 0; i < RANKS; i++)
		batch_add(&batch, NOBODY, run_rank, job);
	gate_open(&job->gate, RANKS, seconds);
	batch_wait(&batch, TIMEOUT_S);
}

static double wall_s(const struct job *job)
{
	return (double)(job->ended_ns - job->gate.start_ns) / 1e9;
}

/* --- a job that is shorter than the burst lasts --- */

static double short_job_s(struct job *job, const struct daemon_process *daemon)
{
	job->socket_path = daemon ? daemon->socket_path : NULL;
	job->regions = REGIONS;
	run_job(job, 0);
	return wall_s(job);
}

static void short_jobs(const char *team)
{
	struct job *bare = shared_memory(sizeof *bare), *free_job = shared_memory(sizeof *free_job),
		   *job = shared_memory(sizeof *job);
	double bare_s[TRIES], free_s[TRIES], job_s[TRIES], floor;
	struct daemon_process shipped = {}, boundless = {};
	struct usage before, spent;

	free_job->team = job->team = team;
	daemon_start(&shipped, "standin-wide", NULL);
	daemon_start(&boundless, "standin-wide", "[reader]\nbudget_percent = 100\n");
	before = usage_now(&shipped);
	for (int i = 0; i < TRIES; i++) {
		bare_s[i] = short_job_s(bare, NULL);
		free_s[i] = short_job_s(free_job, &boundless);
		job_s[i] = short_job_s(job, &shipped);
	}
	spent = usage_since(&shipped, &before);
	daemon_stop(&shipped);
	daemon_stop(&boundless);
	floor = quantile(free_s, TRIES, 0.5) / quantile(bare_s, TRIES, 0.5);
	figure_add(&(struct figure){
		"bare_s", "wall without reads", "s", quantile(bare_s, TRIES, 0.5), NAN });
	figure_add(&(struct figure){
		"wall_s", "wall, defaults as shipped", "s", quantile(job_s, TRIES, 0.5), NAN });
	figure_add(&(struct figure){
		"floor", "ratio with budget_percent = 100: the floor", "", floor, NAN });
	figure_add(&(struct figure){ "ratio", "ratio, defaults as shipped", "",
		quantile(job_s, TRIES, 0.5) / quantile(bare_s, TRIES, 0.5), fmax(1.3, floor) });
	calls_show(&job->calls, "begins and ends of regions");
	usage_show(&spent);
}

void ranks_short(void)
{
	short_jobs(NULL);
}

void ranks_team(void)
{
	short_jobs("bench");
}

/* --- a job that has spent the burst --- */

/* The mean of one rank. */
static double region_ms(const struct job *job)
{
	return wall_s(job) * 1e3 * RANKS / (double)job->n_done;
}

static void long_job(const char *team)
{
	struct job *bare = shared_memory(sizeof *bare), *job = shared_memory(sizeof *job);
	struct daemon_process daemon = {};
	struct usage before, spent;
	double due_ms;

	run_job(bare, BARE_S);
	daemon_start(&daemon, "standin-wide", NULL);
	before = usage_now(&daemon);
	job->socket_path = daemon.socket_path;
	job->team = team;
	run_job(job, LONG_S);
	spent = usage_since(&daemon, &before);
	daemon_stop(&daemon);
	due_ms = usage_per_sweep_us(&spent) / 1e3 / BUDGET_SHARE;
	figure_add(&(struct figure){
		"bare_ms", "a region without reads", "ms", region_ms(bare), NAN });
	figure_add(&(struct figure){
		"region_ms", "a region, defaults as shipped", "ms", region_ms(job), NAN });
	figure_add(&(struct figure){
		"sweep_due_ms", "CPU time of a sweep with its wakes / budget", "ms", due_ms, NAN });
	if (team)
		figure_add(&(struct figure){
			"ratio", "ratio", "", region_ms(job) / region_ms(bare), 1.3 });
	else
		figure_add(&(struct figure){ "ratio", "ratio; the goal is 1 + 3 x that / 5 ms", "",
			region_ms(job) / region_ms(bare), 1 + 3 * due_ms * 1e3 / REGION_US });
	calls_show(&job->calls, "begins and ends of regions");
	usage_show(&spent);
}

void ranks_long(void)
{
	long_job(NULL);
}

void ranks_team_long(void)
{
	long_job("bench");
}

/* --- a job as wide as a large node --- */

/* No rank leaves before all have come. */
static int come_at_once(void *argument)
{
	struct uncore_sample samples[SOCKETS] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct job *job = argument;
	struct uncore *uncore;
	uint64_t begin_ns;
	int r;

	if (!gate_wait(&job->gate))
		return 1;
	begin_ns = clock_now_ns();
	r = uncore_open(job->socket_path, &uncore);
	at_most_once(&job->slowest_ns, clock_now_ns() - begin_ns);
	calls_count(&job->calls, r);
	if (r < 0)
		return 0;
	__atomic_add_fetch(&job->n_done, 1, __ATOMIC_RELAXED);
	calls_count(&job->calls, uncore_read_all(uncore, UNCORE_FRESH, samples, SOCKETS));
	while (clock_now_ns() < job->gate.end_ns)
		usleep(REGION_US);
	uncore_close(uncore);
	return 0;
}

void ranks_576(void)
{
	struct job *job = shared_memory(sizeof *job);
	struct batch_processes batch = { .n = 0 };
	struct daemon_process daemon = {};
	struct usage before, spent;

	/* A machine of 2 x 288 CPUs. */
	daemon_start(&daemon, "standin-576", NULL);
	before = usage_now(&daemon);
	job->socket_path = daemon.socket_path;
	for (unsigned i = 0; i < MANY_RANKS; i++)
		batch_add(&batch, NOBODY, come_at_once, job);
	gate_open(&job->gate, MANY_RANKS, 3);
	batch_wait(&batch, TIMEOUT_S);
	spent = usage_since(&daemon, &before);
	daemon_stop(&daemon);
	figure_add(&(struct figure){
		"not_admitted", "not admitted of 576", "", MANY_RANKS - (double)job->n_done, 0 });
	figure_add(&(struct figure){ "slowest_open_ms", "slowest uncore_open()", "ms",
		(double)job->slowest_ns / 1e6, NAN });
	calls_show(&job->calls, "opens and reads");
	usage_show(&spent);
}
