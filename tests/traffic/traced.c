/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traced PASSES LINES: a thread reads LINES from socket 0 in each of PASSES passages of "read",
 * inside of "outer"; another thread goes from "first" to "second". Two spans overlap, of which one
 * ends in another thread, and a state is on between them. A forked child has a region of its own,
 * and goes through "outer", too.
 */
#include <err.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "tests/languages/programs/mover.h"

static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
}

static uint64_t spans[2];

static void *other(void *unused)
{
	uncore_span_end(spans[0]);
	uncore_region_begin("first");
	rest();
	uncore_region_next("first", "second");
	rest();
	uncore_region_end("second");
	return unused;
}

static void in_child(void)
{
	uncore_region_begin("child");
	uncore_region_end("child");
	uncore_region_begin("outer");
	rest();
	uncore_region_end("outer");
}

int main(int argc, char **argv)
{
	const uint64_t lines = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	pthread_t thread;
	pid_t child;

	uncore_span_begin("early", &spans[0]);
	uncore_state_set("wait", UNCORE_STATE_OFF);
	uncore_state_set("wait", UNCORE_STATE_ON);
	rest();
	uncore_span_begin("late", &spans[1]);
	uncore_state_set("wait", UNCORE_STATE_OFF);
	if (argc != 3 || pthread_create(&thread, NULL, other, NULL) != 0)
		errx(2, "usage: traced PASSES LINES");
	uncore_region_begin("outer");
	for (int i = 0; i < atoi(argv[1]); i++) {
		uncore_region_begin("read");
		mover_move(lines, 0, 0);
		if (lines)
			rest();
		uncore_region_end("read");
	}
	uncore_region_end("outer");
	pthread_join(thread, NULL);
	uncore_span_end(spans[1]);
	child = fork();
	if (child == 0) {
		in_child();
		return 0;
	}
	waitpid(child, NULL, 0);
	return 0;
}
