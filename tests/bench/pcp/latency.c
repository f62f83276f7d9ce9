/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One client, for which the kinds take turns, so that all see the same machine. It is once asleep
 * before each read, as monitoring is, and once busy, which keeps its CPU awake.
 */
#include "tests/bench/pcp/bench.h"

#include <err.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/bench/pcp/private-pmcd.h"
#include "tests/harness/daemon-process.h"

enum { READS = 800, WARM_UP = 50 };

/* How the reads of a kind follow each other. */
struct pace {
	int block; /* this many reads, then it is the next kind's turn */
	useconds_t asleep_us;
	unsigned busy_us;
};

/* Clients of uncored that read within a millisecond would be taken for a batch and wait. */
static const struct pace asleep = { 1, 1500, 0 };

/*
 * Long enough for uncored's readers to end their work and sleep. A read that comes sooner finds
 * them awake and is a third shorter. But PCP's own work between two reads takes as long, too.
 */
static const struct pace busy = { 20, 0, 20 };

struct turns {
	const char *uncored_socket;
	const struct pace *pace;
	double (*ret_us)[READS]; /* of each kind */
};

static void wait_before(const struct pace *pace)
{
	uint64_t until_ns = clock_deadline_ns(pace->busy_us * 1000U);

	if (pace->asleep_us) /* usleep(0) would still take 50 us */
		usleep(pace->asleep_us);
	while (clock_now_ns() < until_ns)
		;
}

static void take_turn(const struct client *client, const struct turns *turns, int first, int kind)
{
	for (int i = first; i < first + turns->pace->block; i++) {
		wait_before(turns->pace);
		turns->ret_us[kind][i] = client_time_us(client, kind);
	}
}

static int take_turns(void *argument)
{
	struct turns *turns = argument;
	struct client client;
	enum kind order[KINDS];

	pin_to_cpu(SHARED_CPU);
	client_open(&client, turns->uncored_socket);
	for (int i = 0; i < WARM_UP; i++)
		for (int kind = 0; kind < KINDS; kind++)
			client_time_us(&client, kind);
	for (int i = 0; i < READS; i += turns->pace->block) {
		shuffle_kinds(order);
		for (int k = 0; k < KINDS; k++)
			take_turn(&client, turns, i, order[k]);
	}
	client_close(&client);
	return 0;
}

static void measure_pace(const char *uncored_socket, const struct pace *pace)
{
	double(*times)[READS] = shared_memory(sizeof *times * KINDS), *us[KINDS];
	struct turns turns = { uncored_socket, pace, times };

	if (as_nobody(take_turns, &turns))
		errx(1, "The measurement of one client failed.");
	for (int kind = 0; kind < KINDS; kind++)
		us[kind] = times[kind];
	fetches_add(us, READS);
}

void measure_latency(const char *uncored_socket)
{
	figures_begin("asleep", "one client, asleep for 1500 us before each");
	measure_pace(uncored_socket, &asleep);
	figures_begin("busy", "one client, busy for 20 us before each");
	measure_pace(uncored_socket, &busy);
}
