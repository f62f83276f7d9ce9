/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/costly.h"

#include <sys/socket.h>

#include "common/bounds.h"
#include "common/clock.h"
#include "daemon/close/socket-closer.h"

/* USUAL_NS is five times what a close takes the main thread. */
static const uint64_t USUAL_NS = 50000, COSTLY_NS = 5000000, COSTLY_FOR_NS = 60000000000;

static bool costly_is(const struct costly *costly)
{
	return clock_now_ns() < costly->until_ns;
}

void costly_beware(struct costly *costly)
{
	*costly = (struct costly){ .until_ns = clock_now_ns() + COSTLY_FOR_NS };
}

static void costly_add(struct costly *costly, uint64_t cost_ns)
{
	costly->ns += cost_ns;
	costly->ns -= least_of(costly->ns, USUAL_NS);
	if (costly->ns > COSTLY_NS)
		costly_beware(costly);
}

/* Waking the watchers of a client's end can cost much, so it wakes them once, and then looks
 * whether that took long. */
bool costly_close(struct costly *costly, int *fd)
{
	uint64_t before_ns;
	bool closed;

	if (costly_is(costly))
		return false;
	before_ns = clock_thread_ns();
	shutdown(*fd, SHUT_RDWR);
	closed = clock_thread_ns() - before_ns <= USUAL_NS && socket_close_if_empty(fd);
	costly_add(costly, clock_thread_ns() - before_ns);
	return closed;
}

void costly_show_end(struct costly *costly, int fd)
{
	uint64_t before_ns;

	if (costly_is(costly))
		return;
	before_ns = clock_thread_ns();
	shutdown(fd, SHUT_RDWR);
	costly_add(costly, clock_thread_ns() - before_ns);
}
