/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a reader. In each turn it sleeps until somebody rings, admits claims, waits for the
 * rest of a batch, makes a sweep, wakes the waiters of the answered users, and charges these users.
 */
#pragma once

#include "daemon/read/reader.h"

/* Starts the thread. It is not an error if the system refuses SCHED_FIFO or the CPU: reader_state()
 * shows the refusal. Errno of pthread_create(3). reader_done() ends the thread. */
int reader_thread_start(struct reader *reader);
