/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state with which the main thread of uncored serves: the counters, the connected clients, and
 * their charges. Connecting, reports and going away pass through the main thread; a fresh read
 * never does.
 *
 * Nothing here knows the messages of clients (peer.h, requests.h), or when they are heard
 * (conversation.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "common/wire.h"
#include "daemon/admit/accounts.h"
#include "daemon/admit/owners.h"
#include "daemon/admit/refusals.h"
#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/close/closers.h"
#include "daemon/read/budget.h"
#include "daemon/read/counters.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/shared-report.h"
#include "daemon/serve/users.h"
#include "daemon/site/config.h"
#include "daemon/teams/teams.h"

struct peer;

/* The first two are the topics of INFO (enum wire_topic). */
enum report { REPORT_STATE, REPORT_PLATFORMS, REPORT_CLIENTS, REPORTS };

struct server {
	struct counters *counters; /* borrowed */
	struct config *config;     /* borrowed; SIGHUP changes its content */
	struct listener *listener; /* borrowed */
	sd_event *event;
	sd_event_source *listen_source; /* off while accepting pauses */
	sd_event_source *wake_source;   /* when a parked peer is due */
	sd_event_source *teams_source;  /* when uncored looks at tables of teams; off without any */
	struct peer *peers;             /* doubly linked */
	unsigned n_peers;
	unsigned max_peers; /* the configured limit, or what the file limit leaves */
	unsigned max_peers_of_user;
	struct owners *owners;
	struct accounts accounts;
	struct budget budget; /* of the main thread and the closers */
	uint64_t charged_ns;  /* main thread's CPU time, charged already or to nobody */
	struct users users;
	struct closers *closers;
	struct team_list *teams;
	struct refusals refusals;
	uint64_t n_refused_before;   /* by processes before, in this generation */
	struct log_limits newcomers; /* for lines about users' first clients */
	struct shared_report reports[REPORTS];
};

/*
 * Begins with the accounts of uids, and the tables of teams, that a process before left in @store;
 * serves nothing yet. Errors of owners_new(), team_list_new().
 */
int server_init(struct server *server, struct config *config, struct listener *listener,
	struct fdstore *store, struct fault *fault);

/* Makes all that clients need of @counters, which must be open. -ENOMEM; errno of
 * pthread_create(3). */
int server_begin(struct server *server, struct counters *counters);

/* Frees all but the peers, which must be gone. To be called for every server_init(), even a failed
 * one. */
void server_done(struct server *server);

/* Counts a peer that came (@change 1) or went (-1), and shows it in the page. */
void server_count_peer(struct server *server, int change);

/* Shows in the page how many peers there are, and how many were refused. */
void server_tell_clients(struct server *server);

/* Counts a refusal of @uid, shows it in the page, and logs it, at most once a minute for each user.
 */
void server_count_refusal(struct server *server, uid_t uid, const struct policy_refusal *refusal);

/* The same; also tells @uid, at the other end of @fd, why it is refused. Errors of wire_send(). */
int server_refuse(struct server *server, int fd, uid_t uid, const struct policy_refusal *refusal);

/* The account of @uid, as far as is known, or ACCOUNTS_NONE. */
unsigned server_account_of(struct server *server, uint32_t uid);

/* The CPU time that the main thread has used since the last call, to be charged. */
uint64_t server_take_cost(struct server *server);

/* Has the parked peers looked at, no later than @due_ns. */
void server_wake_at(struct server *server, uint64_t due_ns);

/* Accepts again, as when a peer has gone and its descriptors are free. */
void server_resume_accepting(struct server *server);

/* The user whose job the node runs; see job-owner.h. */
uint32_t server_owner(const struct server *server);

/* Publishes the quantum and the rules for users to know. */
void server_tell_users(struct server *server);

/* Applies the configured quotas, as far as there is room for so many peers. */
void server_limit_peers(struct server *server);

/* Applies the configured budget to the main thread. */
void server_apply_budget(struct server *server);
