/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a reader. In each turn it sleeps until somebody rings, admits claims, waits for the
 * rest of a batch, makes a sweep, wakes those it answers, and charges them for the turn.
 */
#pragma once

#include "daemon/read/reader.h"

/*
 * Starts the thread. Being refused SCHED_FIFO or the CPU is not an error: reader_state() says it.
 * Errno of pthread_create(3). reader_done() ends it.
 */
int reader_thread_start(struct reader *reader);
