/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncored when it cannot serve: no known platform, no counters, no permission, a wrong file, no
 * memory. It stays up and tells each client that connects the reason. So the socket stays, too, and
 * a program gets its answer at once.
 *
 * In this state uncored has no page, no readers and no privilege, and a client gets no resource of
 * it. Each connection is answered before anything is read from it, and then closed.
 *
 * Only a new process can open counters. So at SIGHUP uncored ends with RESTART_EXIT_STATUS, and the
 * service manager starts another one. If memory was missing, it also does so by itself, after a
 * minute or, if an end before has not helped, ten minutes after that one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/close/socket-closer.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/watchdog.h"

struct refusing {
	struct listener *listener; /* borrowed */
	int error;                 /* negative errno, see refusing_error() */
	struct fault why;
	uint64_t ended_ns; /* when a process last ended for this; CLOCK_MONOTONIC, 0: none did */
	struct socket_closer closer;
	struct watchdog watchdog;
	sd_event *event;        /* owned */
	sd_event_source *timer; /* owned; on: it ends then */
};

/* Takes the time at which a process last ended from @store. To be called before counters_open(),
 * which empties @store. */
void refusing_init(struct refusing *refusing, struct fdstore *store);

/* Refuses all clients with ->error and ->why until SIGTERM or SIGINT, or until it ends to be
 * started again. Says READY. Returns the exit status, or an error of the event loop. */
int refusing_run(struct refusing *refusing, struct fault *fault);

/*
 * The errno for clients: -EPERM: uncored lacks a permission; -EINVAL: a file is wrong; -ENOMEM: no
 * memory, thread or descriptor; -ENODEV: anything else, there is nothing to count with. Never
 * -EACCES, which says that a user may not connect.
 */
int refusing_error(int error);
