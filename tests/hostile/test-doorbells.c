/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells rung without end, and all of them held. */
#include "tests/hostile/attack.h"

#include <fcntl.h>
#include <unistd.h>

enum { RINGERS = 64 };

static void *ring(void *argument)
{
	const int *doorbell = argument;

	for (;;) {
		attack_ring(*doorbell);
		attack_did(1);
	}
	return NULL;
}

static int ring_from_64_threads(void *argument)
{
	static int doorbells[RINGERS];

	if (attack_hold(doorbells, RINGERS) < RINGERS)
		return 1;
	attack_start_threads(RINGERS, ring, doorbells, sizeof *doorbells);
	attack_is_on();
	pause();
	return 0;
}

CASE("64 threads that ring without end")
{
	attack_beside_victim(&(struct attack){
		.name = "64 threads that ring without end",
		.body = ring_from_64_threads,
		.n_processes = 1,
		.deeds = 10000,
		.busy_percent = 2,
	});
}

/* One after another, so that the reader always waits for the rest of the batch. */
static int ring_all_in_turn(void *argument)
{
	static int doorbells[CONNECTIONS_MAX];
	unsigned n = attack_hold(doorbells, CONNECTIONS_MAX);

	attack_is_on();
	for (unsigned i = 0;; i = (i + 1) % n) {
		attack_ring(doorbells[i]);
		attack_did(1);
		usleep(10);
	}
	return 0;
}

CASE("holding every doorbell of a user, and ringing them in turn")
{
	attack_beside_victim(&(struct attack){
		.name = "512 doorbells, rung in turn",
		.body = ring_all_in_turn,
		.n_processes = 1,
		.deeds = CONNECTIONS_MAX,
		.busy_percent = 2,
	});
}

/* Fills a doorbell: an eventfd holds a large number, a pipe many small ones. uncored keeps a user's
 * doorbell for the batch that comes, and the batch before has made it block. */
static void fill(int doorbell)
{
	fcntl(doorbell, F_SETFL, O_NONBLOCK);
	for (uint64_t value = UINT64_MAX - 1; value; value /= 2)
		while (write(doorbell, &value, sizeof value) > 0)
			;
	attack_did(1);
}

static void *ring_and_wait(void *argument)
{
	const int *doorbell = argument;

	attack_did(1);
	while (attack_ring(*doorbell))
		;
	return NULL;
}

/* Only threads of the client wait in write(2) then. */
static int ring_full_doorbells(void *argument)
{
	static int doorbells[RINGERS];
	unsigned n = attack_hold(doorbells, RINGERS);

	for (unsigned i = 0; i < n; i++)
		fill(doorbells[i]);
	for (unsigned i = 0; i < n; i += 2) /* several, although all may be one file */
		fcntl(doorbells[i], F_SETFL, 0);
	attack_start_threads(n, ring_and_wait, doorbells, sizeof *doorbells);
	attack_is_on();
	pause();
	return 0;
}

CASE("filling doorbells and making them block")
{
	attack_beside_victim(&(struct attack){
		.name = "64 full doorbells, some of which block",
		.body = ring_full_doorbells,
		.n_processes = 1,
		.deeds = RINGERS,
		.busy_percent = 5,
	});
}

int main(void)
{
	return attack_run();
}
