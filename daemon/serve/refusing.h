/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncored where it cannot serve: no known platform, no counters, no permission, a wrong file, no
 * memory. It stays up and gives everybody who connects the reason, so that the socket stays, too,
 * and a program that asks is told at once.
 *
 * It has no page, no readers and no privilege in this state, and a client holds nothing of it: each
 * connection is answered before anything is read from it, and closed.
 *
 * At SIGHUP it looks again, which needs no privilege. Only a new process can open counters: if
 * there is something to open now it ends with RESTART_EXIT_STATUS, for the service manager to start
 * one, but not twice within a minute.
 *
 * Where memory was what it wanted it looks again by itself, each minute, and ends when there is
 * some: once, and the next process that finds too little not for ten minutes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/read/counters.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/socket-closer.h"
#include "daemon/site/config.h"

struct refusing {
	/* where it looks again */
	struct config_origin origin;
	const char *root;
	const char *const *platform_dirs;

	struct config *config;     /* borrowed: as it was when uncored started */
	struct listener *listener; /* borrowed */
	int error;                 /* negative errno, see refusing_error() */
	struct fault why;
	bool denied;       /* the kernel refused the counters */
	int paranoid;      /* perf_event_paranoid at that time */
	uint64_t ended_ns; /* when a process last ended for this; CLOCK_MONOTONIC, 0: none */
	struct socket_closer closer;
	sd_event *event; /* owned */
	bool waits;      /* to look again when the minute is over */
	bool awaits_memory;
};

/* Takes from @store when a process last ended. Before counters_open(), which empties it. */
void refusing_init(struct refusing *refusing, struct fdstore *store);

/*
 * Refuses with ->error, ->why and ->denied until SIGTERM or SIGINT, or until there is something to
 * open. Says READY. Returns the exit status, or an error of the event loop.
 */
int refusing_run(struct refusing *refusing, struct fault *fault);

/*
 * The errno for clients: -EPERM: uncored lacks a permission; -EINVAL: a file is wrong; -ENOMEM: no
 * memory, thread or descriptor; -ENODEV: anything else, there is nothing to count with. Never
 * -EACCES, which says that a user may not connect.
 */
int refusing_error(int error);
