/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID's marks in four threads, by a program that knows what it moved; prints what GetRegion says
 * to each thread.
 */
#include <likwid-marker.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mover.h"

enum { THREADS = 4 };

static pthread_barrier_t barrier;

static void show(int thread, const char *name)
{
	double events[4] = { 7 }, time;
	int n_events = 4, count;

	LIKWID_MARKER_GET(name, &n_events, events, &time, &count);
	printf("%d %s %d %d %s %g\n", thread, name, n_events, count,
		time >= 0.01 * count && time < 0.01 * count + 60 ? "right" : "wrong", events[0]);
}

static void *work(void *argument)
{
	int thread = (int)(long)argument;

	LIKWID_MARKER_THREADINIT;
	LIKWID_MARKER_REGISTER("shared");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i <= thread; i++) {
		LIKWID_MARKER_START("shared");
		usleep(10000);
		mover_move(10, 0, 0);
		LIKWID_MARKER_STOP("shared");
	}
	pthread_barrier_wait(&barrier);
	flockfile(stdout);
	show(thread, "shared");
	show(thread, "elsewhere");
	LIKWID_MARKER_RESET("shared");
	show(thread, "shared");
	funlockfile(stdout);
	return NULL;
}

/* A region ends while a later one is open. */
static void overlap(void)
{
	LIKWID_MARKER_START("first");
	mover_move(1, 0, 0);
	LIKWID_MARKER_START("second");
	mover_move(2, 0, 0);
	LIKWID_MARKER_STOP("first");
	mover_move(4, 0, 0);
	LIKWID_MARKER_STOP("second");
	mover_move(8, 0, 0);
}

int main(void)
{
	pthread_t threads[THREADS];
	char longer[100];

	LIKWID_MARKER_INIT;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	overlap();
	for (char last = 'a'; last <= 'b'; last++) {
		memset(longer, 'x', sizeof longer);
		longer[98] = last;
		longer[99] = '\0';
		LIKWID_MARKER_START(longer);
		mover_move(last == 'a' ? 16 : 32, 0, 0);
		LIKWID_MARKER_STOP(longer);
	}
	LIKWID_MARKER_SWITCH;
	LIKWID_MARKER_CLOSE;
	return 0;
}
