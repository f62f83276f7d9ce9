/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Since when a thread has been busy, and with what. The thread tells it as it goes, and another one
 * looks: without a lock, for the thread may hang while it holds one. A thread that sleeps until
 * somebody wants something of it is not busy, so it need never wake up to show that it is alive.
 */
#pragma once

#include <stdint.h>

struct heartbeat {
	const char *doing;
	uint64_t since_ns; /* 0: not busy */
};

/* @doing must live as long as the heartbeat, and may follow "it has been ". */
static inline void heartbeat_begin(struct heartbeat *heartbeat, const char *doing, uint64_t now_ns)
{
	__atomic_store_n(&heartbeat->doing, doing, __ATOMIC_RELAXED);
	__atomic_store_n(&heartbeat->since_ns, now_ns, __ATOMIC_RELEASE);
}

static inline void heartbeat_end(struct heartbeat *heartbeat)
{
	__atomic_store_n(&heartbeat->since_ns, 0, __ATOMIC_RELAXED);
}

/* How long it has been busy with one thing; 0: it is not. *@ret_doing is what, or was at last. */
static inline uint64_t heartbeat_busy_ns(
	const struct heartbeat *heartbeat, uint64_t now_ns, const char **ret_doing)
{
	uint64_t since_ns = __atomic_load_n(&heartbeat->since_ns, __ATOMIC_ACQUIRE);

	*ret_doing = __atomic_load_n(&heartbeat->doing, __ATOMIC_RELAXED);
	return since_ns && since_ns < now_ns ? now_ns - since_ns : 0;
}
