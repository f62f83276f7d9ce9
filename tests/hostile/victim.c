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
#include "tests/harness/daemon-process.h"
#include "tests/harness/program.h"

enum { OPENS_MAX = 65536, READS_MAX = 2 * OPENS_MAX };
enum { MEANWHILE_MS = 100, LIFE_S = 600 };

/* Two reads a pause apart stay far below the victim's part of the budget. */
enum { PAUSE_US = 1000, PAUSE_MORE_US = 500 };

/*
 * The library waits for as long as the budget says. But the victim stays within the budget, so a
 * longer wait is a failure.
 */
static const uint64_t STARVED_NS = 1000000000;

/* A measurement of times ends early if the victim is hindered for so long. */
static const uint64_t SECOND_NS = 1000000000, LONGEST_NS = 5000000000;

/* A call that does not return for so long never will. */
static const uint64_t HANGS_NS = 300000000000, PATIENT_NS = 200000000000;

/* --- the process --- */

static double open_us[OPENS_MAX], read_us[READS_MAX];

static void note_failure(struct victim_figures *figures, const char *call)
{
	if (!figures->n_failed++)
		snprintf(figures->failure, sizeof figures->failure, "%s: %s", call,
			uncore_error_text());
}

static void read_once(const struct uncore *uncore, const struct victim_order *order,
	struct victim_figures *figures)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	uint64_t begin_ns, took_ns;

	usleep(PAUSE_US + (useconds_t)random() % PAUSE_MORE_US);
	begin_ns = clock_now_ns();
	if (uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0)
		note_failure(figures, "uncore_read()");
	took_ns = clock_now_ns() - begin_ns;
	if (!order->facts && took_ns > STARVED_NS)
		note_failure(figures, "uncore_read() took more than a second");
	read_us[figures->n_reads++] = (double)took_ns / 1000;
}

/* The test looks at the daemon while the connection is open. */
static void let_look(const struct victim *victim)
{
	char byte = 0;

	if (write(victim->ends[1], &byte, 1) != 1 || read(victim->ends[1], &byte, 1) != 1)
		_exit(1);
}

int victim_open(bool facts, struct uncore **ret)
{
	return facts ? uncore_open_within(the_daemon.socket_path, PATIENT_NS, ret)
		     : uncore_open(the_daemon.socket_path, ret);
}

static void open_once(const struct victim *victim, const struct victim_order *order)
{
	struct victim_figures *figures = victim->figures;
	uint64_t begin_ns = clock_now_ns();
	struct uncore *uncore = NULL;

	if (victim_open(order->facts, &uncore) < 0)
		note_failure(figures, "uncore_open()");
	open_us[figures->n_opens++] = (double)(clock_now_ns() - begin_ns) / 1000;
	if (order->facts)
		let_look(victim);
	uncore_close(uncore);
}

static bool goes_on(
	const struct victim_order *order, const struct victim_figures *figures, uint64_t past_ns)
{
	uint64_t least_ns = order->seconds * SECOND_NS;

	if (past_ns < least_ns)
		return figures->n_opens < OPENS_MAX;
	return figures->n_opens < order->n_opens &&
	       (order->facts || past_ns < least_ns + LONGEST_NS);
}

static void measure(
	const struct victim *victim, const struct uncore *uncore, const struct victim_order *order)
{
	struct victim_figures *figures = victim->figures;
	uint64_t begin_ns = clock_now_ns();

	*figures = (struct victim_figures){};
	while (goes_on(order, figures, clock_now_ns() - begin_ns)) {
		read_once(uncore, order, figures);
		read_once(uncore, order, figures);
		open_once(victim, order);
	}
	figures->open_p50_us = quantile(open_us, figures->n_opens, 0.5);
	figures->open_p99_us = quantile(open_us, figures->n_opens, 0.99);
	figures->read_p50_us = quantile(read_us, figures->n_reads, 0.5);
	figures->read_p99_us = quantile(read_us, figures->n_reads, 0.99);
	figures->read_worst_us = quantile(read_us, figures->n_reads, 1);
}

static int serve(void *argument)
{
	const struct victim *victim = argument;
	struct victim_order order;
	struct uncore *uncore;

	close(victim->ends[0]);
	alarm(LIFE_S);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a case that fails does not stop the victim */
	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return 1;
	while (read(victim->ends[1], &order, sizeof order) == sizeof order) {
		alarm(LIFE_S + order.seconds);
		measure(victim, uncore, &order);
		if (write(victim->ends[1], &order, sizeof order) != sizeof order)
			break;
	}
	return 0;
}

/* --- for the test --- */

void victim_start(struct victim *victim, unsigned uid)
{
	victim->figures = shared_memory(sizeof *victim->figures);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, victim->ends), 0);
	victim->pid = start_as(uid, serve, victim);
	close_fd(&victim->ends[1]);
}

/* Takes a message of the victim. Is it the last one? */
static bool take_message(struct victim *victim, victim_meanwhile *meanwhile, void *argument)
{
	struct victim_order order;
	const ssize_t n = read(victim->ends[0], &order, sizeof order);

	if (n == sizeof order)
		return true;
	if (n != 1)
		fail_msg("The victim could not connect.");
	meanwhile(argument);
	if (send(victim->ends[0], &order, 1, MSG_NOSIGNAL) != 1)
		fail_msg("The victim has ended.");
	return false;
}

void victim_measure(struct victim *victim, const struct victim_order *order,
	victim_meanwhile *meanwhile, void *argument)
{
	struct pollfd end = { .fd = victim->ends[0], .events = POLLIN };
	uint64_t limit_ns = clock_now_ns() + order->seconds * SECOND_NS + HANGS_NS;
	bool is_over = false;

	if (send(victim->ends[0], order, sizeof *order, MSG_NOSIGNAL) != sizeof *order)
		fail_msg("The victim could not connect.");
	while (!is_over && clock_now_ns() < limit_ns) {
		if (poll(&end, 1, MEANWHILE_MS) > 0)
			is_over = take_message(victim, meanwhile, argument);
		else
			meanwhile(argument);
	}
	if (!is_over) { /* the victim hangs and reports nothing */
		*victim->figures = (struct victim_figures){ .n_failed = 1 };
		strcpy(victim->figures->failure, "a call of the library does not return");
	}
}

void victim_stop(struct victim *victim)
{
	kill(victim->pid, SIGKILL);
	wait_for(victim->pid, 5);
	close(victim->ends[0]);
	munmap(victim->figures, sizeof *victim->figures);
}
