/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connected client: its connection, and its share in its user (users.h). Its account is charged
 * for the main thread's work on it, as it is for sweeps. While the account is in debt, the
 * connection is *parked*: uncored does not read from it until the account has paid. The parked
 * connections of an account are heard in the order in which they were parked (conversation.h).
 *
 * A client that the policy refuses now may still have tables of teams here, which hold only what
 * was allowed at the time. It becomes a peer that may LOOK at them and FORGET them. Any other
 * request is answered with the refusal, and ends the connection.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "common/wire.h"
#include "daemon/serve/server.h"

struct peer {
	struct server *server; /* borrowed */
	struct peer *previous, *next;
	int fd;
	uid_t uid;
	unsigned account;
	struct user *user;  /* NULL: not welcomed yet */
	bool only_collects; /* tables: the policy refuses its user */
	sd_event_source *source;
	uint64_t parked_ns;                        /* when it was parked; 0: it is not parked */
	struct peer *parked_before, *parked_after; /* parked peers of its account */
	bool is_bare;                              /* socket_is_bare() */
	bool has_left;                             /* its client has left */
	bool was_sent_files;                       /* descriptors, by peer_send() */
	uint64_t excused_ns; /* CPU time of its present message that was spent for all clients */
	uint64_t since_ns;   /* when it connected, CLOCK_MONOTONIC */
	uint64_t n_requests;
};

/*
 * Edge-triggered: a readable peer that waits for its turn is reported once, not again in each turn
 * of the loop. For a parked peer, only the end of the connection is reported. Messages would use up
 * its rate, and then the end would not be noticed for a second.
 */
enum { PEER_PARKED = (int)EPOLLET, PEER_READABLE = EPOLLIN | PEER_PARKED };

/* Takes over *@fd, a connection of @uid, and links a peer into @server. -ENOMEM, errno of
 * setsockopt(2): *@fd is still the caller's. */
int peer_new(struct server *server, int *fd, uid_t uid, unsigned account, struct peer **ret);

/* Unlinks and frees the peer and all it holds. Returns NULL. */
struct peer *peer_free(struct peer *peer);

/* The account that is charged for the peer. */
struct account *peer_account(const struct peer *peer);

/* Stops reading from the peer. It is the last of its account's parked peers. */
void peer_park(struct peer *peer, uint64_t now_ns);

/* A parked peer is no longer parked. The event loop does not report it until peer_look_again(). */
void peer_unpark(struct peer *peer);

/* Makes the event loop report the peer again if there is something to read. */
void peer_look_again(struct peer *peer);

/* Like wire_send() and wire_receive(). */
int peer_send(
	struct peer *peer, const union wire_message *message, const int fds[], unsigned n_fds);
int peer_receive(struct peer *peer, struct wire_packet *ret);

/* Answers a request with DONE. */
int peer_done(struct peer *peer);

/* Answers a peer that may only collect tables with its refusal. Returns negative errno, so that the
 * caller frees the peer. */
int peer_turn_away(struct peer *peer);

/* Answers a request with a refusal, as server_refuse(). */
int peer_refuse(struct peer *peer, enum policy_rule rule, const char *text);

/* Logs that the peer is the first client of its user, at most once an hour for each uid. */
void peer_tell_newcomer(const struct peer *peer);

/* Applies the configured rate: uncored stops reading from a client that floods its connection until
 * the second is over. */
int peer_limit_rate(struct peer *peer);
