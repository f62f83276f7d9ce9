/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks, all in ns: the node's CLOCK_MONOTONIC, which the page, the library and tables of teams
 * use; the time of day; and the CPU time of a thread. Pass only differences of clock_now_ns() to
 * the kernel, because it waits by the clock of the process.
 */
#pragma once

#include <stdint.h>
#include <time.h>

/* How far this process's clock is ahead of the node's, modulo 2^64. The library sets it. In uncored
 * it is 0, because uncored uses the node's clock. */
extern __attribute__((visibility("hidden"))) uint64_t clock_ahead_ns;

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec - clock_ahead_ns;
}

/* CLOCK_REALTIME: for display, and for comparison with times that other processes left. */
static inline uint64_t clock_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* CPU time that the calling thread has used. */
static inline uint64_t clock_thread_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
}

/* The time from now to @deadline_ns, but at least @least_ns. */
static inline uint64_t clock_left_ns(uint64_t deadline_ns, uint64_t least_ns)
{
	uint64_t now_ns = clock_now_ns();

	return deadline_ns > now_ns && deadline_ns - now_ns > least_ns ? deadline_ns - now_ns
								       : least_ns;
}

/* The time @timeout_ns from now; UINT64_MAX (never) if that would overflow. */
static inline uint64_t clock_deadline_ns(uint64_t timeout_ns)
{
	uint64_t now_ns = clock_now_ns();

	return timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
}
