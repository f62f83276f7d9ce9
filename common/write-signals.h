/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing without the signals that a write can raise. Beyond the limit of file sizes the kernel
 * sends SIGXFSZ, and to a pipe that nobody reads SIGPIPE; both end a process that does not expect
 * them. A library may not change what its program does about signals. So it holds them back in its
 * thread while it writes, and takes away what its own write has raised: write(2) then fails with
 * EFBIG or EPIPE, as if the signal were ignored.
 */
#pragma once

#include <signal.h>

struct write_signals {
	sigset_t before;  /* the thread's mask */
	sigset_t pending; /* these were pending before, so they are not ours */
};

void write_signals_hold(struct write_signals *ret);

/* Leaves errno as it is. */
void write_signals_release(const struct write_signals *signals);
