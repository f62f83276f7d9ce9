/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/write-signals.h"

#include <errno.h>
#include <time.h>

static void write_signals_fill(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGXFSZ);
	sigaddset(ret, SIGPIPE);
}

void write_signals_hold(struct write_signals *ret)
{
	sigset_t held;

	write_signals_fill(&held);
	sigpending(&ret->pending);
	pthread_sigmask(SIG_BLOCK, &held, &ret->before);
}

/* The kernel sends both to the thread that writes (mm/filemap.c, net/core/stream.c), so what this
 * thread takes was not sent by others, unless it was pending before. */
void write_signals_release(const struct write_signals *signals)
{
	const struct timespec at_once = { 0 };
	const int error = errno;
	sigset_t ours;

	write_signals_fill(&ours);
	if (sigismember(&signals->pending, SIGXFSZ))
		sigdelset(&ours, SIGXFSZ);
	if (sigismember(&signals->pending, SIGPIPE))
		sigdelset(&ours, SIGPIPE);
	while (sigtimedwait(&ours, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
	errno = error;
}
