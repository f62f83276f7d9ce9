/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/hostile/victim.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/cpu-time.h"
#include "tests/harness/daemon-process.h"

enum { OPENS = 500, OPENS_TO_WARM = 50, OPENS_MAX = 65536, READS_MAX = 2 * OPENS_MAX };
enum { MEANWHILE_MS = 100, LIFE_S = 200 };

/* Two reads a pause apart stay far below the victim's part of the budget. */
enum { PAUSE_US = 1000, PAUSE_MORE_US = 500 };

/*
 * The library waits for as long as the budget says. But the victim stays within the budget, so a
 * longer wait is a failure.
 */
static const uint64_t STARVED_NS = 1000000000;

/* A measurement ends early if the victim is hindered for so long. */
static const uint64_t SECOND_NS = 1000000000, LONGEST_NS = 5000000000, HANGS_NS = 30000000000;

/* --- the process --- */

static double open_us[OPENS_MAX], read_us[READS_MAX];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Victim, attackers and daemon share the CPUs. So the victim, and the daemon while it answers,
 * wait for a CPU for a ms and more, whatever the daemon does. The kernel counts these waits, and a
 * stopwatch stands still in them. Where both wait at once that time counts twice.
 */
static uint64_t all_waited_ns(void)
{
	struct cpu_time ours, daemons;

	cpu_time(getpid(), getpid(), &ours);
	cpu_time(the_daemon.pid, the_daemon.pid, &daemons);
	return ours.waited_ns + daemons.waited_ns;
}

struct stopwatch {
	uint64_t since_ns, waited_ns;
};

static struct stopwatch stopwatch_start(void)
{
	uint64_t waited_ns = all_waited_ns();

	return (struct stopwatch){ clock_now_ns(), waited_ns };
}

static uint64_t stopwatch_stop(const struct stopwatch *watch)
{
	uint64_t ns = clock_now_ns() - watch->since_ns;
	uint64_t waited_ns = all_waited_ns() - watch->waited_ns;

	return ns > waited_ns ? ns - waited_ns : 0;
}

static void note_failure(struct victim_figures *figures, const char *call)
{
	if (!figures->n_failed++)
		snprintf(figures->failure, sizeof figures->failure, "%s: %s", call,
			uncore_error_text());
}

static void read_once(const struct uncore *uncore, struct victim_figures *figures)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct stopwatch watch;
	uint64_t took_ns;

	usleep(PAUSE_US + (useconds_t)random() % PAUSE_MORE_US);
	watch = stopwatch_start();
	if (uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0)
		note_failure(figures, "uncore_read()");
	took_ns = stopwatch_stop(&watch);
	if (took_ns > STARVED_NS)
		note_failure(figures, "uncore_read() took more than a second");
	read_us[figures->n_reads++] = (double)took_ns / 1000;
}

static void open_once(struct victim_figures *figures)
{
	struct stopwatch watch = stopwatch_start();
	struct uncore *uncore = NULL;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		note_failure(figures, "uncore_open()");
	open_us[figures->n_opens++] = (double)stopwatch_stop(&watch) / 1000;
	uncore_close(uncore);
}

/* How long to measure: so many seconds, and so many opens, unless these take too long. */
struct order {
	unsigned n_opens, seconds;
};

static bool goes_on(
	const struct order *order, const struct victim_figures *figures, uint64_t past_ns)
{
	uint64_t least_ns = order->seconds * SECOND_NS;

	if (past_ns < least_ns)
		return figures->n_opens < OPENS_MAX;
	return figures->n_opens < order->n_opens && past_ns < least_ns + LONGEST_NS;
}

static void measure(
	const struct uncore *uncore, const struct order *order, struct victim_figures *figures)
{
	uint64_t begin_ns = clock_now_ns();

	*figures = (struct victim_figures){};
	while (goes_on(order, figures, clock_now_ns() - begin_ns)) {
		read_once(uncore, figures);
		read_once(uncore, figures);
		open_once(figures);
	}
	qsort(open_us, figures->n_opens, sizeof *open_us, compare);
	qsort(read_us, figures->n_reads, sizeof *read_us, compare);
	figures->open_p50_us = open_us[figures->n_opens / 2];
	figures->open_p99_us = open_us[figures->n_opens * 99 / 100];
	figures->read_p50_us = read_us[figures->n_reads / 2];
	figures->read_p99_us = read_us[figures->n_reads * 99 / 100];
	figures->read_worst_us = read_us[figures->n_reads - 1];
}

static int serve(void *argument)
{
	const struct victim *victim = argument;
	struct uncore *uncore;
	struct order order;

	close(victim->ends[0]);
	alarm(LIFE_S);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a case that fails does not stop the victim */
	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return 1;
	while (read(victim->ends[1], &order, sizeof order) == sizeof order) {
		alarm(LIFE_S + order.seconds);
		measure(uncore, &order, victim->figures);
		if (write(victim->ends[1], &order, sizeof order) != sizeof order)
			break;
	}
	return 0;
}

/* --- for the test --- */

void victim_start(struct victim *victim, unsigned uid)
{
	victim->figures = mmap(NULL, sizeof *victim->figures, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(victim->figures != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, victim->ends), 0);
	victim->pid = start_as(uid, serve, victim);
	close_fd(&victim->ends[1]);
}

static void let_measure(struct victim *victim, struct order order,
	void (*meanwhile)(void *argument), void *argument)
{
	struct pollfd end = { .fd = victim->ends[0], .events = POLLIN };
	uint64_t limit_ns = clock_now_ns() + order.seconds * SECOND_NS + HANGS_NS;

	if (send(victim->ends[0], &order, sizeof order, MSG_NOSIGNAL) != sizeof order)
		fail_msg("The victim could not connect.");
	while (poll(&end, 1, MEANWHILE_MS) == 0 && clock_now_ns() < limit_ns)
		meanwhile(argument);
	if (!end.revents) { /* the victim hangs and reports nothing */
		*victim->figures = (struct victim_figures){ .n_failed = 1 };
		strcpy(victim->figures->failure, "a call of the library does not return");
		return;
	}
	if (read(victim->ends[0], &order, sizeof order) != sizeof order)
		fail_msg("The victim could not connect.");
}

void victim_measure(
	struct victim *victim, unsigned seconds, void (*meanwhile)(void *argument), void *argument)
{
	let_measure(victim, (struct order){ OPENS, seconds }, meanwhile, argument);
}

static void do_nothing(void *argument)
{
}

void victim_warm(struct victim *victim)
{
	let_measure(victim, (struct order){ OPENS_TO_WARM, 0 }, do_nothing, NULL);
}

void victim_stop(struct victim *victim)
{
	kill(victim->pid, SIGKILL);
	wait_for(victim->pid, 5);
	close(victim->ends[0]);
	munmap(victim->figures, sizeof *victim->figures);
}
