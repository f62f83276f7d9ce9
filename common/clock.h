/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks, all in ns: the node's CLOCK_MONOTONIC, which the page, the library and tables of teams
 * use; the time of day; and the CPU time of a thread. Pass only differences of clock_now_ns() to
 * the kernel, because it waits by the clock of the process.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_MS INT64_C(1000000) /* of 64 bits, as what is made with it */

/* How far this process's clock is ahead of the node's, modulo 2^64. The library sets it. In uncored
 * it is 0, because uncored uses the node's clock. */
extern __attribute__((visibility("hidden"))) uint64_t clock_ahead_ns;

static inline uint64_t clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_of(CLOCK_MONOTONIC) - clock_ahead_ns;
}

/* CLOCK_REALTIME: for display, and for comparison with times that other processes left. */
static inline uint64_t clock_wall_ns(void)
{
	return clock_of(CLOCK_REALTIME);
}

/* CPU time that the calling thread has used. */
static inline uint64_t clock_thread_ns(void)
{
	return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* The time from now to @deadline_ns, but at least @least_ns. */
static inline uint64_t clock_left_ns(uint64_t deadline_ns, uint64_t least_ns)
{
	uint64_t now_ns = clock_now_ns();

	return deadline_ns > now_ns && deadline_ns - now_ns > least_ns ? deadline_ns - now_ns
								       : least_ns;
}

/* A time to wait, as the kernel takes it. */
static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000U), (long)(ns % 1000000000U) };
}

/* The first of @tick_ns and the times every @step_ns after it that is still to come. */
static inline uint64_t clock_next_tick_ns(uint64_t tick_ns, uint64_t step_ns)
{
	uint64_t now_ns = clock_now_ns();

	return tick_ns > now_ns ? tick_ns : tick_ns + ((now_ns - tick_ns) / step_ns + 1) * step_ns;
}

/* The time @timeout_ns from now; UINT64_MAX (never) if that would overflow. */
static inline uint64_t clock_deadline_ns(uint64_t timeout_ns)
{
	uint64_t now_ns = clock_now_ns();

	return timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
}
