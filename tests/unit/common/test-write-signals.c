/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/write-signals.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/test.h"

/* A write to a pipe that nobody reads. */
static void write_in_vain(void)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	close_fd(&ends[0]);
	assert_int_equal(write(ends[1], "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	close_fd(&ends[1]);
}

static bool is_pending(int number)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

CASE("a write in vain raises no signal, and the mask and errno are as before")
{
	struct write_signals signals;
	sigset_t mask;

	write_signals_hold(&signals);
	write_in_vain();
	errno = ENOENT;
	write_signals_release(&signals);
	assert_int_equal(errno, ENOENT);
	assert_false(is_pending(SIGPIPE));
	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
	assert_int_equal(sigismember(&mask, SIGPIPE) + sigismember(&mask, SIGXFSZ), 0);
}

CASE("a signal that the program itself has pending stays")
{
	struct write_signals signals;
	int taken;
	sigset_t own;

	sigemptyset(&own);
	sigaddset(&own, SIGPIPE);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &own, NULL), 0);
	raise(SIGPIPE);
	write_signals_hold(&signals);
	write_in_vain();
	write_signals_release(&signals);
	assert_true(is_pending(SIGPIPE));
	assert_int_equal(sigwait(&own, &taken), 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &own, NULL), 0);
}

int main(void)
{
	return run_cases(NULL, NULL);
}
