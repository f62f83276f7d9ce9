/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/hostile/attack.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"

enum { NEWCOMER = 65532 };
enum { BATCHES = 5, READS = 100, PROCESSES_MAX = 64 };
enum { READY_MS = 5000, DEEDS_MS = 10000, REST_MS = 3000, LIFE_S = 60 };
enum { STACK_BYTES = 64 * 1024 };

/*
 * Two reads a pause apart stay far below the victim's half of the budget, which the attacker cannot
 * take: what is measured is delay, not the victim's own thrift.
 */
static const useconds_t PAUSE_US = 2000;

/*
 * The victim may take three times as long as alone. An attacker that keeps every CPU busy costs it
 * a place in the scheduler's queue too, with or without uncored; where a quiet median is 10 us,
 * because the victim is woken on a CPU that is awake, that is more than the factor allows.
 */
static const double FACTOR = 3, FLOOR_US = 200;

/* What parent, attackers, victim and newcomer share. */
static struct {
	unsigned n_on;
	uint64_t deeds;
	double median_us;
	double newcomer_us;
} * shared;

/* Before the first attack. */
static uint64_t rss_before_kib;
static long descriptors_before;

/* --- for the attackers --- */

void attack_is_on(void)
{
	__atomic_add_fetch(&shared->n_on, 1, __ATOMIC_SEQ_CST);
}

void attack_did(uint64_t deeds)
{
	__atomic_add_fetch(&shared->deeds, deeds, __ATOMIC_SEQ_CST);
}

int attack_connect(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", the_daemon.socket_path);
	if (fd < 0 || connect(fd, (const void *)&address, sizeof address) < 0)
		_exit(98);
	return fd;
}

bool attack_hello(int fd, struct wire_packet *ret)
{
	union wire_message hello;

	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	wire_send(fd, &hello, NULL, 0);
	if (wire_receive(fd, WIRE_FROM_DAEMON, ret) == 1) {
		if (ret->message.header.opcode == WIRE_WELCOME)
			return true;
		wire_packet_done(ret);
	}
	close(fd);
	return false;
}

unsigned attack_hold(int doorbells[], unsigned most)
{
	struct wire_packet packet;
	unsigned n = 0;

	while (n < most && attack_hello(attack_connect(), &packet)) {
		doorbells[n++] = packet.fds[1];
		for (unsigned i = 0; i < packet.n_fds; i++)
			if (i != 1)
				close(packet.fds[i]);
	}
	return n;
}

void attack_start_threads(unsigned n, void *(*body)(void *), void *arguments, size_t stride)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, body, (char *)arguments + i * stride) != 0)
			_exit(96);
	pthread_attr_destroy(&attr);
}

/* The group of processes is what is killed, so that forks go, too. */
static int run_attack(void *argument)
{
	const struct attack *attack = argument;

	setpgid(0, 0);
	alarm(LIFE_S);
	return attack->body(NULL);
}

/* --- the victim and the newcomer --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure_reads(void *argument)
{
	struct uncore *uncore = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	double us[READS];

	for (unsigned i = 0; i < READS; i++) {
		uint64_t before_ns;

		usleep(PAUSE_US);
		before_ns = clock_now_ns();
		if (uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0)
			return 1;
		us[i] = (double)(clock_now_ns() - before_ns) / 1000;
	}
	qsort(us, READS, sizeof *us, compare);
	shared->median_us = us[READS / 2];
	return 0;
}

static int serve_victim(void *argument)
{
	const int *ends = argument;
	struct uncore *uncore;
	char status;

	close(ends[0]);
	alarm(LIFE_S);
	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return 1;
	/* A late answer is a long one here, and not none. */
	uncore_set_timeout(uncore, 1000000000);
	while (read(ends[1], &status, 1) == 1) {
		status = (char)measure_reads(uncore);
		if (write(ends[1], &status, 1) != 1)
			break;
	}
	return 0;
}

struct victim {
	pid_t pid;
	int ends[2];
};

static void victim_start(struct victim *victim)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, victim->ends), 0);
	victim->pid = start_as(NOBODY, serve_victim, victim->ends);
	close_fd(&victim->ends[1]);
}

static double victim_median_us(const struct victim *victim)
{
	char status = 0;

	assert_int_equal(write(victim->ends[0], &status, 1), 1);
	assert_int_equal(read(victim->ends[0], &status, 1), 1);
	assert_int_equal(status, 0);
	return shared->median_us;
}

static void victim_stop(const struct victim *victim)
{
	kill(victim->pid, SIGKILL);
	wait_for(victim->pid, 5);
	close(victim->ends[0]);
}

/* Opens and reads once, within the library's own limits. */
static int come_and_read(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	uint64_t before_ns = clock_now_ns();
	struct uncore *uncore;

	(void)argument;
	if (uncore_open(the_daemon.socket_path, &uncore) < 0 ||
		uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0) {
		printf("# newcomer: %s\n", uncore_error_text());
		fflush(stdout);
		return 1;
	}
	uncore_close(uncore);
	shared->newcomer_us = (double)(clock_now_ns() - before_ns) / 1000;
	return 0;
}

/* --- the daemon --- */

static uint64_t main_thread_cpu_ns(void)
{
	char path[64];
	uint64_t ns = 0;
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", the_daemon.pid, the_daemon.pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%" SCNu64, &ns), 1);
	return ns;
}

/*
 * A flooder that died is noticed when its second of being ignored is over. What the daemon opens at
 * first need and keeps is no leak: the last report, the event loop's timer.
 */
static void assert_comes_to_rest(long descriptors)
{
	enum { KEPT = 2, AT_REST_NS = 5000000 };
	uint64_t deadline_ns = clock_now_ns() + REST_MS * UINT64_C(1000000), cpu_ns;

	/* The backlog of a flood is still worked off. */
	do {
		cpu_ns = main_thread_cpu_ns();
		usleep(50000);
		cpu_ns = main_thread_cpu_ns() - cpu_ns;
	} while ((cpu_ns > AT_REST_NS || daemon_descriptors(&the_daemon) > descriptors + KEPT) &&
		 clock_now_ns() < deadline_ns);
	assert_in_range(cpu_ns, 0, AT_REST_NS);
	assert_in_range(daemon_descriptors(&the_daemon), descriptors, descriptors + KEPT);
}

/* --- the attack --- */

struct attackers {
	pid_t pids[PROCESSES_MAX];
	unsigned n;
};

static void attackers_start(struct attackers *attackers, const struct attack *attack)
{
	uint64_t deadline_ns = clock_now_ns() + READY_MS * UINT64_C(1000000);

	shared->n_on = 0;
	shared->deeds = 0;
	for (attackers->n = 0; attackers->n < attack->n_processes; attackers->n++)
		attackers->pids[attackers->n] =
			start_as(SOMEBODY, run_attack, (void *)(uintptr_t)attack);
	while (__atomic_load_n(&shared->n_on, __ATOMIC_SEQ_CST) < attack->n_processes &&
		clock_now_ns() < deadline_ns)
		usleep(1000);
}

static void attackers_stop(const struct attackers *attackers)
{
	for (unsigned i = 0; i < attackers->n; i++)
		kill(-attackers->pids[i], SIGKILL);
	for (unsigned i = 0; i < attackers->n; i++) {
		kill(attackers->pids[i], SIGKILL);
		wait_for(attackers->pids[i], 10);
	}
}

static void wait_for_deeds(uint64_t deeds)
{
	uint64_t deadline_ns = clock_now_ns() + DEEDS_MS * UINT64_C(1000000);

	while (__atomic_load_n(&shared->deeds, __ATOMIC_SEQ_CST) < deeds &&
		clock_now_ns() < deadline_ns)
		usleep(1000);
}

struct outcome {
	double quiet_us, attacked_us, busy_percent;
	bool all_on;
	int newcomer;
};

static struct outcome run_batch(const struct attack *attack, const struct victim *victim)
{
	struct outcome outcome = { .quiet_us = victim_median_us(victim) };
	struct attackers attackers;
	uint64_t cpu_ns, begin_ns;

	attackers_start(&attackers, attack);
	outcome.all_on = shared->n_on == attack->n_processes;
	cpu_ns = main_thread_cpu_ns();
	begin_ns = clock_now_ns();
	outcome.attacked_us = victim_median_us(victim);
	outcome.busy_percent =
		100 * (double)(main_thread_cpu_ns() - cpu_ns) / (double)(clock_now_ns() - begin_ns);
	outcome.newcomer = wait_for(start_as(NEWCOMER, come_and_read, NULL), 10);
	wait_for_deeds(attack->deeds);
	attackers_stop(&attackers);
	return outcome;
}

static bool is_within_limit(const struct outcome *outcome)
{
	double limit_us = outcome->quiet_us * FACTOR;

	return outcome->attacked_us <= (limit_us > FLOOR_US ? limit_us : FLOOR_US);
}

static void print_outcome(const struct attack *attack, const struct outcome *outcome)
{
	printf("# %s: victim %.0f -> %.0f us, %.2f x; newcomer %.1f ms; main thread %.0f %%; "
	       "%" PRIu64 " deeds\n",
		attack->name, outcome->quiet_us, outcome->attacked_us,
		outcome->attacked_us / outcome->quiet_us, shared->newcomer_us / 1000,
		outcome->busy_percent, shared->deeds);
	fflush(stdout);
}

void attack_beside_victim(const struct attack *attack)
{
	struct outcome outcome = {};
	struct victim victim;
	bool good = false;

	victim_start(&victim);
	victim_median_us(&victim); /* warm, and all it will ever hold is open */
	if (!rss_before_kib) {
		rss_before_kib = daemon_rss_kib(&the_daemon);
		descriptors_before = daemon_descriptors(&the_daemon);
	}
	for (unsigned i = 0; i < BATCHES && !good; i++) {
		outcome = run_batch(attack, &victim);
		print_outcome(attack, &outcome);
		good = is_within_limit(&outcome) && outcome.busy_percent <= attack->busy_percent;
		assert_true(outcome.all_on);
		assert_int_equal(outcome.newcomer, 0);
		assert_true(shared->deeds >= attack->deeds);
		assert_comes_to_rest(descriptors_before);
	}
	assert_true(good);
	victim_stop(&victim);
}

void nothing_is_left(void **state)
{
	uint64_t rss_kib = daemon_rss_kib(&the_daemon);

	(void)state;
	printf("# memory: %" PRIu64 " -> %" PRIu64 " KiB\n", rss_before_kib, rss_kib);
	assert_in_range(rss_kib, 0, rss_before_kib + 512);
}

int attack_run(const char *name, const struct CMUnitTest cases[], size_t n_cases)
{
	shared = mmap(
		NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	return run_on_daemon(name, "standin", NULL, cases, n_cases);
}
