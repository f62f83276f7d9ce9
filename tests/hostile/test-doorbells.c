/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells rung without end, and all of them held. */
#include "tests/hostile/attack.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { RINGERS = 64 };

static void *ring(void *argument)
{
	const int *doorbell = argument;

	for (;;) {
		eventfd_write(*doorbell, 1);
		attack_did(1);
	}
	return NULL;
}

static int ring_from_64_threads(void *argument)
{
	static int doorbells[RINGERS];

	(void)argument;
	if (attack_hold(doorbells, RINGERS) < RINGERS)
		return 1;
	attack_start_threads(RINGERS, ring, doorbells, sizeof *doorbells);
	attack_is_on();
	pause();
	return 0;
}

static void ringing_from_64_threads(void **state)
{
	const struct attack attack = {
		.name = "64 threads that ring without end",
		.body = ring_from_64_threads,
		.n_processes = 1,
		.deeds = 10000,
		.busy_percent = 2,
	};

	(void)state;
	attack_beside_victim(&attack);
}

/* One after another, so that the reader always waits for the rest of the crowd. */
static int ring_all_in_turn(void *argument)
{
	static int doorbells[CONNECTIONS_MAX];
	unsigned n = attack_hold(doorbells, CONNECTIONS_MAX);

	(void)argument;
	attack_is_on();
	for (unsigned i = 0;; i = (i + 1) % n) {
		eventfd_write(doorbells[i], 1);
		attack_did(1);
		usleep(10);
	}
	return 0;
}

static void holding_and_ringing_every_doorbell(void **state)
{
	const struct attack attack = {
		.name = "512 doorbells, rung in turn",
		.body = ring_all_in_turn,
		.n_processes = 1,
		.deeds = CONNECTIONS_MAX,
		.busy_percent = 2,
	};

	(void)state;
	attack_beside_victim(&attack);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("64 threads that ring without end", ringing_from_64_threads),
		CASE("holding every doorbell of a user, and ringing them in turn",
			holding_and_ringing_every_doorbell),
		CASE("nothing of it is left in the daemon", nothing_is_left),
	};

	return attack_run("doorbells", cases, sizeof cases / sizeof *cases);
}
