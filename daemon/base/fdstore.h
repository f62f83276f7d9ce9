/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service manager's descriptor store: descriptors that it keeps open while no uncored runs, and
 * the listening socket, which it passes in the same way. sd_notify(3), FDSTORE=1.
 *
 * Without a manager nothing is passed and nothing is kept; callers need not check.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fault.h"

struct fdstore_item {
	int fd;      /* -1: taken */
	char *name;  /* the manager's name for it; owned */
	uint64_t id; /* ID of a perf event; 0: not a perf event */
};

struct fdstore {
	unsigned n;
	struct fdstore_item *items; /* owned */
};

/* Takes all that the manager passed. -ENOMEM; errno of sd_listen_fds_with_names(3). */
int fdstore_receive(struct fdstore *store, struct fault *fault);

/* Takes the listening sockets out of @store. Returns their number; the caller owns the first. */
unsigned fdstore_take_sockets(struct fdstore *store, int *ret_fd);

/* The descriptor of this name, or of this perf event; the caller owns it from now on. -ENOENT. */
int fdstore_take(struct fdstore *store, const char *name);
int fdstore_take_event(struct fdstore *store, uint64_t id);

/* Closes the descriptors that nobody took, and makes the manager forget the names under which
 * nobody took any, or @all that it passed. The store is empty afterwards. */
void fdstore_drop(struct fdstore *store, bool all);

/* Closes the descriptors that nobody took; the manager keeps its copies. */
void fdstore_done(struct fdstore *store);

/* Hands copies of @fds to the manager, to be kept under @name, 1 to 255 printable characters except
 * ":". From then on they outlive this process. -ENOMEM; errors of notify_send(). */
int fdstore_keep(const char *name, const int fds[], unsigned n_fds);

/* Makes the manager close all that it keeps under @name. -ENOMEM; errors of notify_send(). */
int fdstore_forget(const char *name);
