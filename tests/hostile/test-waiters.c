/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads of one user that wait for sweeps: a user should not pay for waking the threads of
 * others. */
#include "tests/hostile/attack.h"

#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/page.h"
#include "common/wire.h"
#include "tests/hostile/uring.h"

enum { PROCESSES = 4, WAITERS = 1000, RING_EVERY_US = 100 };
enum { USERS_DESCRIPTORS = 8 }; /* of a user who has left: two sockets' and the wake-ups' */
enum { MANY_WAITERS = 1500000, ROUND_WAITERS = 100000, WAITER_BYTES = 512 };

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

static int wait_at_the_cell(void *argument)
{
	struct wire_packet packet;
	const struct page_header *page;

	attack_greet(&packet);
	page = map(packet.fds[0], packet.message.welcome.page_bytes);
	attack_start_threads(
		WAITERS / PROCESSES, wait_for_ever, (void *)&page_cell(page, 0)->finished, 0);
	attack_is_on();
	pause();
	return 0;
}

CASE("1000 threads that wait for sweeps that others ring for")
{
	attack_beside_victim(&(struct attack){
		.name = "1000 threads that wait and never ring",
		.body = wait_at_the_cell,
		.n_processes = PROCESSES,
		.deeds = WAITERS,
		.busy_percent = 5,
	});
}

/* Each ring of the attacker wakes all its waiters. */
static int wait_and_ring(void *argument)
{
	struct wire_packet packet;
	const uint32_t *wakeup;

	attack_greet(&packet);
	wakeup = attack_wakeup(&packet);
	attack_start_threads(WAITERS / PROCESSES, wait_for_ever, (void *)(uintptr_t)wakeup, 0);
	attack_is_on();
	for (;;) {
		attack_ring(packet.fds[1]);
		usleep(RING_EVERY_US);
	}
	return 0;
}

CASE("1000 threads that wait for sweeps that they ring for")
{
	attack_beside_victim(&(struct attack){
		.name = "1000 threads that wait, and rings for all of them",
		.body = wait_and_ring,
		.n_processes = PROCESSES,
		.deeds = WAITERS,
		.busy_percent = 5,
	});
}

/* As many waiters as leave the computer three quarters of its memory. */
static unsigned waiters_that_fit(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t fit = bytes / 4 / WAITER_BYTES;

	return fit < MANY_WAITERS ? (unsigned)fit : MANY_WAITERS;
}

/* Waits as often as possible once, and then with fewer waiters again and again. */
static _Noreturn int wait_without_threads(void *argument)
{
	unsigned n_waiting = waiters_that_fit(), n_woken;
	struct wire_packet packet;
	const uint32_t *wakeup;
	struct uring uring;

	attack_greet(&packet);
	wakeup = attack_wakeup(&packet);
	if (!uring_open(&uring) || !uring_wait_for_word(&uring, wakeup, n_waiting))
		_exit(93);
	printf("# %u waiters\n", n_waiting);
	fflush(stdout);
	attack_is_on();
	for (;;) {
		attack_ring(packet.fds[1]);
		usleep(RING_EVERY_US);
		n_woken = uring_collect(&uring);
		n_waiting -= n_woken;
		attack_did(n_woken);
		if (n_waiting < ROUND_WAITERS &&
			uring_wait_for_word(&uring, wakeup, ROUND_WAITERS - n_waiting))
			n_waiting = ROUND_WAITERS;
	}
}

/*
 * The kernel keeps the waiters at shared futexes of all programs in 256 lists for each CPU, by a
 * hash of file and place (kernel/futex/core.c). Where a victim's futex is in the list of these
 * waiters, each wake-up of it takes 100 to 160 ms: 9 of 4000 files were (Linux 6.18, 2 CPUs).
 * Each user has a file of its own.
 */
CASE("1.5 million waiters without threads, for which they ring")
{
	const struct attack attack = {
		.name = "1.5 million waiters without threads, rung for",
		.body = wait_without_threads,
		.n_processes = 1,
		.deeds = ROUND_WAITERS,
		.busy_percent = 5,
		.kept = USERS_DESCRIPTORS,
		.other_victims = true,
	};

	if (!uring_can_wait())
		skip();
	attack_beside_victim(&attack);
}

int main(void)
{
	return attack_run();
}
