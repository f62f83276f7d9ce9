/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connected client: its connection, and its part of its user (users.h). What it costs the main
 * thread is charged to its account, as sweeps are; while that is in debt, the connection is
 * *parked*: nobody reads from it. Those of an account come back one by one, and
 * each of them soon: a client waits for the budget, and does not fail for it.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "daemon/serve/server.h"

struct peer {
	struct server *server; /* borrowed */
	struct peer *previous, *next;
	int fd;
	uid_t uid;
	unsigned account;
	struct user *user; /* NULL: not welcomed */
	sd_event_source *source;
	uint64_t parked_ns; /* since when; 0: is not parked */
	bool is_due;        /* has waited: what it says next is heard */
	unsigned n_dear;    /* messages from or to it that were */
};

/*
 * Takes over *@fd, just accepted, and links a peer into @server. Whom the policy refuses gets an
 * error message and is closed. 0 also then; -ENOMEM and errno of the event loop. -EAGAIN, with *@fd
 * still the caller's: there is no room, and not all @others_are_heard, some of which may have left.
 */
int peer_accept(struct server *server, int *fd, bool others_are_heard);

/* Applies a configuration that has changed: frees the peer if it may not connect any more. */
void peer_review(struct peer *peer);

/* Reads from it again. */
void peer_unpark(struct peer *peer);

/* Its uid is charged as @account from now on. */
void peer_set_account(struct peer *peer, unsigned account);

/* Unlinks and frees the peer and all it holds. */
struct peer *peer_free(struct peer *peer);
