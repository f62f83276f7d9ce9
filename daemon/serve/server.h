/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of uncored's main thread while it serves: the counters, the connected clients, and
 * their charges. Connecting, reports and disconnecting pass through the main thread; a fresh read
 * never does.
 *
 * This file knows neither the messages of clients (peer.h, requests.h) nor when they are served
 * (conversation.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "common/wire.h"
#include "daemon/admit/accounts.h"
#include "daemon/admit/owners.h"
#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/base/log.h"
#include "daemon/close/closers.h"
#include "daemon/read/budget.h"
#include "daemon/read/counters.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/shared-report.h"
#include "daemon/serve/users.h"
#include "daemon/site/config.h"
#include "daemon/teams/teams.h"

struct peer;
struct death;

/* The first two are the topics of INFO (enum wire_topic). */
enum report { REPORT_STATE, REPORT_PLATFORMS, REPORT_CLIENTS, REPORTS };

struct server {
	struct counters *counters; /* borrowed */
	struct config *config;     /* borrowed; SIGHUP changes its content */
	struct listener *listener; /* borrowed */
	sd_event *event;
	sd_event_source *listen_source; /* off while accepting pauses */
	sd_event_source *wake_source;   /* when a parked peer is due */
	unsigned next_turn; /* the account of parked peers that is next, modulo their number */
	sd_event_source *teams_source; /* when tables of teams are reviewed; off without any */
	struct peer *peers;            /* doubly linked */
	unsigned n_peers;
	unsigned max_peers; /* the configured limit, or what open files have room for */
	unsigned max_peers_of_user;
	struct owners owners;
	struct accounts accounts;
	struct budget budget; /* of the main thread and the closers */
	uint64_t charged_ns;  /* the main thread's CPU time at the last server_take_cost() */
	struct users users;
	struct closers *closers;
	struct team_list *teams;
	struct death *deaths[TEAMS_MAX]; /* owned; by the place of their table; see deaths.h */
	uint64_t n_refused, n_refused_by_rule[POLICY_RULES];
	uint64_t n_refused_before;   /* by earlier processes, in this generation */
	struct log_limits refusals;  /* for lines about refusals */
	struct log_limits newcomers; /* for lines about users' first clients */
	struct shared_report reports[REPORTS];
};

/* Takes over the tables of teams that an earlier process left in @store. Serves nothing yet. Errors
 * of team_list_new(). */
int server_init(struct server *server, struct config *config, struct listener *listener,
	struct fdstore *store, struct fault *fault);

/* Makes everything that clients need. @counters must be open. -ENOMEM; errno of
 * pthread_create(3). */
int server_begin(struct server *server, struct counters *counters);

/* Frees everything; all peers must be gone. To be called for every server_init(), even a failed
 * one. */
void server_done(struct server *server);

/* Counts a peer that came (@change 1) or went (-1), and shows it in the page. */
void server_count_peer(struct server *server, int change);

/* Shows in the page how many peers there are, and how many were refused. */
void server_tell_clients(struct server *server);

/* Counts a refusal of @uid, shows it in the page, and logs it, at most once a minute for each user.
 */
void server_count_refusal(struct server *server, uid_t uid, const struct policy_refusal *refusal);

/* As server_count_refusal(); also tells the client at the other end of @fd why it is refused.
 * Errors of wire_send(). */
int server_refuse(struct server *server, int fd, uid_t uid, const struct policy_refusal *refusal);

/* The number of the account of @uid, or ACCOUNTS_NONE. */
unsigned server_account_of(struct server *server, uint32_t uid);

/* The CPU time that the main thread has used since the last call. A function that works for an
 * account calls this at the end and charges the account. A function that works for nobody calls
 * this at the end, too, and charges nobody: otherwise the next account would pay. */
uint64_t server_take_cost(struct server *server);

/* Resumes accepting, for example when a peer has gone and its descriptors are free. */
void server_resume_accepting(struct server *server);

/* The job owner; see job-owner.h. */
uint32_t server_owner(const struct server *server);

/* Publishes the quantum and the rules for connecting to all users. */
void server_tell_users(struct server *server);

/* Applies the configured limits of peers, or lower ones if open files have no room for so many. */
void server_limit_peers(struct server *server);

/* Applies the configured budget to the main thread. */
void server_apply_budget(struct server *server);
