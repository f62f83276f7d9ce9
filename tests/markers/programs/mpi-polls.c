/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-polls N PAUSE_US: one rank polls N times, with a pause after each, and then has a barrier.
 * Prints how long the polls took, in ns.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 0;
	const useconds_t pause_us = argc > 2 ? (useconds_t)atol(argv[2]) : 0;
	long long begun_ns;
	int found = 0, all = 0;

	MPI_Init(&argc, &argv);
	begun_ns = now_ns();
	for (long i = 0; i < n; i++) {
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		all += found;
		if (pause_us)
			usleep(pause_us);
	}
	printf("%lld\n", now_ns() - begun_ns);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return all;
}
