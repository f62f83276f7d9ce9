/* SPDX-License-Identifier: BSD-3-Clause */
/* The listening socket: made here, or passed by systemd. */
#pragma once

#include <stdbool.h>

#include "common/rules.h"
#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/site/config.h"

enum { LISTENER_AT_ONCE = 33 }; /* connections that are accepted in a turn */

struct listener {
	const struct config *config; /* borrowed; SIGHUP changes its content */
	int fd;
	bool owns_path; /* uncored, not systemd, made the socket and removes it */
};

/*
 * Takes the socket that systemd passed in @store, or makes config->socket_path. Clients may connect
 * from now on and wait. -EADDRINUSE: another uncored listens there; -EINVAL: systemd passed
 * something else; errno of bind(2).
 */
int listener_open(struct listener *listener, const struct config *config, struct fdstore *store,
	struct fault *fault);

/* Removes the socket, if uncored made it. To be called for every listener_open(), even a failed
 * one. */
void listener_close(struct listener *listener);

/* Gives the socket, if uncored made it, the configured mode and group. Errors of chmod(2),
 * chown(2). */
int listener_set_permissions(const struct listener *listener, struct fault *fault);

/* The file of the socket, which uncored or systemd made. False: it cannot be found. */
bool listener_socket(const struct listener *listener, struct rules_socket *ret);

/*
 * Has the kernel keep descriptors, and all else that may be attached to a message, away from all
 * connections that are made to the listening socket @fd from then on.
 */
void listener_take_bare_messages(int fd);

/* The same, except for descriptors, for @fd, a connection that may have been made before. */
void listener_take_bare_newcomer(int fd);
