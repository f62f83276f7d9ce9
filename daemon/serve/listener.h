/* SPDX-License-Identifier: BSD-3-Clause */
/* The listening socket: made here, or passed by systemd. */
#pragma once

#include <stdbool.h>

#include "common/rules.h"
#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/site/config.h"

enum { LISTENER_AT_ONCE = 33 }; /* connections accepted in one turn of the loop */

struct listener {
	const struct config *config; /* borrowed; SIGHUP changes its content */
	int fd;
	bool owns_path; /* uncored, not systemd, made the socket and removes it */
};

/*
 * Takes the socket that systemd passed in @store, or makes config->socket_path. From now on clients
 * may connect, and wait to be accepted. -EADDRINUSE: another uncored listens there; -EINVAL:
 * systemd passed something else; errno of bind(2).
 */
int listener_open(struct listener *listener, const struct config *config, struct fdstore *store,
	struct fault *fault);

/* Removes the socket, if uncored made it. To be called for every listener_open(), even a failed
 * one. */
void listener_close(struct listener *listener);

/* Sets the configured mode and group of the socket's file, if uncored made the socket. Errors of
 * chmod(2), chown(2). */
int listener_set_permissions(const struct listener *listener, struct fault *fault);

/* The owner, group and mode of the socket's file, also if systemd made it. False: the file cannot
 * be found. */
bool listener_socket(const struct listener *listener, struct rules_socket *ret);

/* Tells the kernel to keep descriptors and all other ancillary data away from the connections that
 * are made to the listening socket @fd from now on. */
void listener_take_bare_messages(int fd);

/* The same, except for descriptors, for the connection @fd, which may have been made earlier. */
void listener_take_bare_newcomer(int fd);
