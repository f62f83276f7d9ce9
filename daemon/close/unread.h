/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that stay open until their clients have received what was sent to them. The kernel
 * counts the descriptors in messages that nobody has received against the user who sent them, up to
 * the limit of open files (net/core/scm.c, too_many_unix_fds()), also after the sender has closed
 * its end. A client that keeps its own ends, and lets uncored close the others, would use up that
 * number, and nobody would get a page any more.
 */
#pragma once

#include <stdbool.h>

struct unread_connection;

struct unread {
	int epoll_fd; /* readable: unread_take_received() may have one */
	struct unread_connection **connections;
	unsigned n;
};

/* Errno of epoll_create1(2). */
int unread_init(struct unread *unread);

/* The caller has taken all back. */
void unread_done(struct unread *unread);

/* Is there something that was sent on @fd and not received? */
bool unread_is_left(int fd);

/* Takes over *@fd, a connection of @account. False: there is no memory, and it is still the
 * caller's. */
bool unread_keep(struct unread *unread, unsigned account, int *fd);

/* Gives back a connection of which all was received, or whose client is gone. False: there is
 * none. */
bool unread_take_received(struct unread *unread, unsigned *ret_account, int *ret_fd);

/* Gives back one, whatever its client has received. False: there is none. */
bool unread_take_last(struct unread *unread, unsigned *ret_account, int *ret_fd);
