/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncored when it cannot serve: no known platform, no counters, no permission, a wrong file, no
 * memory. It stays up and tells each client that connects the reason. So the socket stays, too, and
 * a program gets its answer at once.
 *
 * In this state uncored has no page, no readers and no privilege, and a client gets no resource of
 * it. Each connection is answered before anything is read from it, and then closed.
 *
 * At SIGHUP uncored checks again whether it can serve, which needs no privilege. Only a new process
 * can open counters. So if there is something to open now, uncored ends with RESTART_EXIT_STATUS,
 * and the service manager starts a new process. It does so at most once a minute.
 *
 * If memory was missing, uncored also checks again by itself after a minute, and ends if it finds
 * no other reason to refuse, because only a start can tell whether there is enough memory. If the
 * next process lacks memory again, it does not check by itself until ten minutes after that end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/close/socket-closer.h"
#include "daemon/read/counters.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/watchdog.h"
#include "daemon/site/config.h"

struct refusing {
	/* what it checks again */
	struct config_origin origin;
	struct counters_origin machine;

	struct config *config;     /* borrowed: as it was when uncored started */
	struct listener *listener; /* borrowed */
	int error;                 /* negative errno, see refusing_error() */
	struct fault why;
	bool denied;       /* the kernel refused the counters */
	int paranoid;      /* perf_event_paranoid at that time */
	uint64_t ended_ns; /* when a process last ended for this; CLOCK_MONOTONIC, 0: none did */
	struct socket_closer closer;
	struct watchdog watchdog;
	sd_event *event;        /* owned */
	sd_event_source *timer; /* owned; on: it checks again then */
};

/* Takes the time at which a process last ended from @store. To be called before counters_open(),
 * which empties @store. */
void refusing_init(struct refusing *refusing, struct fdstore *store);

/* Refuses all clients with ->error, ->why and ->denied until SIGTERM or SIGINT, or until there is
 * something to open. Says READY. Returns the exit status, or an error of the event loop. */
int refusing_run(struct refusing *refusing, struct fault *fault);

/*
 * The errno for clients: -EPERM: uncored lacks a permission; -EINVAL: a file is wrong; -ENOMEM: no
 * memory, thread or descriptor; -ENODEV: anything else, there is nothing to count with. Never
 * -EACCES, which says that a user may not connect.
 */
int refusing_error(int error);
