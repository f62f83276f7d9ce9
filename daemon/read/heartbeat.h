/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of a thread, and the time since when it has been busy with it. The thread writes
 * both. Another thread reads them without a lock, because the first may hang while it holds one. A
 * thread that sleeps until work comes is not busy, so it need never wake up only to show that it is
 * alive. A thread that sleeps until something is due counts as busy from that time on.
 */
#pragma once

#include <stdint.h>

struct heartbeat {
	const char *doing;
	uint64_t since_ns; /* 0: not busy; may be later than now */
	uint32_t n_begun;  /* activities so far; wraps */
};

/* @doing must live as long as the heartbeat, and must make sense after "it has been ". */
static inline void heartbeat_begin(struct heartbeat *heartbeat, const char *doing, uint64_t now_ns)
{
	__atomic_store_n(&heartbeat->doing, doing, __ATOMIC_RELAXED);
	__atomic_store_n(&heartbeat->since_ns, now_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&heartbeat->n_begun, heartbeat->n_begun + 1, __ATOMIC_RELEASE);
}

/* The thread sleeps, and will be busy at @due_ns at the latest; 0: nothing is due. */
static inline void heartbeat_rest(struct heartbeat *heartbeat, uint64_t due_ns)
{
	__atomic_store_n(&heartbeat->doing, "asleep although an answer was due", __ATOMIC_RELAXED);
	__atomic_store_n(&heartbeat->since_ns, due_ns, __ATOMIC_RELEASE);
}

static inline uint32_t heartbeat_n_begun(const struct heartbeat *heartbeat)
{
	return __atomic_load_n(&heartbeat->n_begun, __ATOMIC_ACQUIRE);
}

/* How long a thread has been busy with one thing; 0: not busy. *@ret_doing: its last activity. */
static inline uint64_t heartbeat_busy_ns(
	const struct heartbeat *heartbeat, uint64_t now_ns, const char **ret_doing)
{
	uint64_t since_ns = __atomic_load_n(&heartbeat->since_ns, __ATOMIC_ACQUIRE);

	*ret_doing = __atomic_load_n(&heartbeat->doing, __ATOMIC_RELAXED);
	return since_ns && since_ns < now_ns ? now_ns - since_ns : 0;
}
