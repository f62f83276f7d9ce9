/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service manager's descriptor store: descriptors that it keeps open for us while no uncored
 * runs, and the listening socket, which it passes in the same way. sd_notify(3), FDSTORE=1.
 *
 * Where there is no manager, nothing is passed and nothing is kept; callers need not ask.
 */
#pragma once

#include <stdint.h>

#include "daemon/base/fault.h"

struct fdstore_item {
	int fd;      /* -1: taken */
	char *name;  /* the manager's name for it; owned */
	uint64_t id; /* of a perf event; 0: it is no perf event */
};

struct fdstore {
	unsigned n;
	struct fdstore_item *items; /* owned */
};

/* Takes all that the manager passed. -ENOMEM; errno of sd_listen_fds_with_names(3). */
int fdstore_receive(struct fdstore *store, struct fault *fault);

/* Takes the listening sockets out of @store. Returns their number; the first becomes the
 * caller's. */
unsigned fdstore_take_sockets(struct fdstore *store, int *ret_fd);

/* The descriptor of this name, which stays the store's. -ENOENT. */
int fdstore_find(const struct fdstore *store, const char *name);

/* The descriptor of this name, or of this perf event; it becomes the caller's. -ENOENT. */
int fdstore_take(struct fdstore *store, const char *name);
int fdstore_take_event(struct fdstore *store, uint64_t id);

/*
 * The first closes the descriptors that nobody took, and has the manager forget the names under
 * which nobody took any; the second has it forget all that it passed. The store is empty then.
 */
void fdstore_drop_rest(struct fdstore *store);
void fdstore_drop_all(struct fdstore *store);

/* Closes the descriptors that nobody took; the manager keeps its own. */
void fdstore_done(struct fdstore *store);

/* Hands copies of @fds to the manager, to be kept under @name, 1 to 255 printable characters except
 * ":". They outlive this process from then on. -ENOMEM; as notify_send(). */
int fdstore_keep(const char *name, const int fds[], unsigned n_fds);

/* Has the manager close all that it keeps under @name. -ENOMEM; as notify_send(). */
int fdstore_forget(const char *name);
