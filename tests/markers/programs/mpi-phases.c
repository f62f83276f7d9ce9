/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that know what moved while none, some, or all of them were inside of MPI.
 *
 *	mpi-phases together ROUNDS    all ranks go from one phase to the next together
 *	mpi-phases apart ROUNDS       each rank comes and goes as it likes; one is always inside
 *	mpi-phases free ROUNDS        each rank comes and goes as it likes
 *
 * A rank is inside of MPI_Reduce_local() for as long as its operation takes, which is a function
 * here. Nothing moves while a rank goes in or out: that takes a lock which all ranks share.
 */
#include <err.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mover.h"

enum { NONE, SOME, ALL, ROWS };

static struct shared {
	pthread_mutex_t lock;
	int n_inside, n_waiting, turn;
	uint64_t moved[ROWS], n_calls;
} * shared;

static int rank, size, n_rounds;
static unsigned seed;

static void lock(void)
{
	while (pthread_mutex_trylock(&shared->lock))
		sched_yield();
}

static void unlock(void)
{
	pthread_mutex_unlock(&shared->lock);
}

/* Without MPI. */
static void wait_for_all(void)
{
	int turn = __atomic_load_n(&shared->turn, __ATOMIC_SEQ_CST);

	if (__atomic_add_fetch(&shared->n_waiting, 1, __ATOMIC_SEQ_CST) == size) {
		__atomic_store_n(&shared->n_waiting, 0, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&shared->turn, 1, __ATOMIC_SEQ_CST);
		return;
	}
	while (__atomic_load_n(&shared->turn, __ATOMIC_SEQ_CST) == turn)
		sched_yield();
}

static void move_lines(uint64_t lines)
{
	int row = !shared->n_inside ? NONE : shared->n_inside == size ? ALL : SOME;

	mover_move(lines, 0, 0);
	shared->moved[row] += lines;
}

static void move_locked(uint64_t lines)
{
	lock();
	move_lines(lines);
	unlock();
}

static void (*work_inside)(void);

static void operate(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
	shared->n_inside++;
	unlock();
	work_inside();
	lock();
	shared->n_inside--;
}

/* Works inside of MPI. */
static void inside(void (*work)(void), MPI_Op op)
{
	int in = 0, out = 0;

	work_inside = work;
	lock();
	MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
	shared->n_calls++;
	unlock();
}

static void all_inside(void)
{
	wait_for_all();
	move_locked(1);
	wait_for_all();
}

static void go_together(MPI_Op op)
{
	for (int i = 0; i < n_rounds; i++) {
		wait_for_all();
		move_locked(100);
		wait_for_all();
		inside(all_inside, op);
	}
	wait_for_all();
}

static void some_time(void)
{
	for (int n = rand_r(&seed) % 4; n >= 0; n--) {
		move_locked((uint64_t)rand_r(&seed) % 1000);
		usleep((unsigned)rand_r(&seed) % 1000);
	}
}

static void stay(void)
{
	while (__atomic_load_n(&shared->n_waiting, __ATOMIC_SEQ_CST) < size - 1)
		usleep(1000);
}

/* The last rank is inside until all others have done. */
static void go_apart(MPI_Op op)
{
	if (rank == size - 1)
		inside(stay, op);
	while (rank < size - 1 && !__atomic_load_n(&shared->n_inside, __ATOMIC_SEQ_CST))
		usleep(1000);
	for (int i = 0; i < n_rounds && rank < size - 1; i++) {
		some_time();
		inside(some_time, op);
	}
	wait_for_all();
}

static void go_freely(MPI_Op op)
{
	for (int i = 0; i < n_rounds; i++) {
		some_time();
		inside(some_time, op);
	}
	wait_for_all();
}

static void share(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, sizeof *shared) < 0)
		err(1, "%s", path);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		err(1, "%s", path);
	if (rank == 0) {
		pthread_mutexattr_t attributes;

		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
		pthread_mutex_init(&shared->lock, &attributes);
	}
}

int main(int argc, char **argv)
{
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 3)
		errx(2, "What, and how many rounds?");
	n_rounds = atoi(argv[2]);
	seed = (unsigned)rank + 1;
	share("phases");
	MPI_Op_create(operate, 1, &op);
	MPI_Barrier(MPI_COMM_WORLD);
	wait_for_all();
	if (strcmp(argv[1], "together") == 0)
		go_together(op);
	else if (strcmp(argv[1], "apart") == 0)
		go_apart(op);
	else
		go_freely(op);
	if (rank == 0)
		printf("%llu %llu %llu %llu\n", (unsigned long long)shared->moved[NONE],
			(unsigned long long)shared->moved[SOME],
			(unsigned long long)shared->moved[ALL],
			(unsigned long long)shared->n_calls);
	MPI_Finalize();
	return 0;
}
