/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads of one user that wait for sweeps: whoever wakes them should not do it for others. */
#include "tests/hostile/attack.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/page.h"
#include "common/wire.h"

enum { PROCESSES = 4, WAITERS = 1000, RING_EVERY_US = 100 };

static void *wait_for_ever(void *argument)
{
	const uint32_t *word = argument;

	attack_did(1);
	for (;;)
		syscall(SYS_futex, word, FUTEX_WAIT, __atomic_load_n(word, __ATOMIC_ACQUIRE), NULL,
			NULL, 0);
	return NULL;
}

/* Memory that came with the greeting, to be looked at only. */
static void *map(int fd, size_t size_bytes)
{
	void *memory = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		_exit(95);
	return memory;
}

static void say_hello(struct wire_packet *ret)
{
	if (!attack_hello(attack_connect(), ret))
		_exit(94);
}

static int wait_at_the_cell(void *argument)
{
	struct wire_packet packet;
	const struct page_header *page;

	(void)argument;
	say_hello(&packet);
	page = map(packet.fds[0], packet.message.welcome.page_bytes);
	attack_start_threads(
		WAITERS / PROCESSES, wait_for_ever, (void *)&page_cell(page, 0)->finished, 0);
	attack_is_on();
	pause();
	return 0;
}

static void waiting_without_ringing(void **state)
{
	const struct attack attack = {
		.name = "1000 threads that wait and never ring",
		.body = wait_at_the_cell,
		.n_processes = PROCESSES,
		.deeds = WAITERS,
		.busy_percent = 5,
	};

	(void)state;
	attack_beside_victim(&attack);
}

/* Where he is woken: all of them at each of his rings. */
static int wait_at_the_bell_and_ring(void *argument)
{
	struct wire_packet packet;
	const struct page_bell *bells;

	(void)argument;
	say_hello(&packet);
	bells = map(packet.fds[packet.n_fds - 1], sizeof *bells);
	attack_start_threads(WAITERS / PROCESSES, wait_for_ever, (void *)&bells->n_rung, 0);
	attack_is_on();
	for (;;) {
		attack_ring(packet.fds[1]);
		usleep(RING_EVERY_US);
	}
	return 0;
}

static void waiting_and_ringing(void **state)
{
	const struct attack attack = {
		.name = "1000 threads that wait, and rings for all of them",
		.body = wait_at_the_bell_and_ring,
		.n_processes = PROCESSES,
		.deeds = WAITERS,
		.busy_percent = 5,
	};

	(void)state;
	attack_beside_victim(&attack);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("1000 threads that wait for sweeps that others ring for",
			waiting_without_ringing),
		CASE("1000 threads that wait for sweeps that they ring for", waiting_and_ringing),
		CASE("nothing of it is left in the daemon", nothing_is_left),
	};

	return attack_run("waiters", cases, sizeof cases / sizeof *cases);
}
