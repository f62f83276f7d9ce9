/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listening socket and the event loop of the main thread. Connecting, reports and going away
 * pass through here; a fresh read never does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "common/wire.h"
#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/base/log-limit.h"
#include "daemon/read/budget.h"
#include "daemon/read/counters.h"
#include "daemon/serve/accounts.h"
#include "daemon/serve/closers.h"
#include "daemon/serve/owners.h"
#include "daemon/serve/refusals.h"
#include "daemon/serve/users.h"
#include "daemon/serve/watchdog.h"
#include "daemon/site/config.h"

struct peer;

enum { SERVER_AT_ONCE = 33 }; /* connections that are accepted in a turn */

struct server {
	struct counters *counters; /* borrowed */
	struct config *config;     /* borrowed; SIGHUP replaces what it says */
	sd_event *event;
	int listen_fd;
	bool owns_path; /* we made the socket, not systemd: it is ours to remove */
	sd_event_source *listen_source;
	sd_event_source *retry_source; /* while nobody is accepted */
	sd_event_source *wake_source;  /* when a parked peer is due */
	int waiting[SERVER_AT_ONCE]; /* accepted, and there may be room when all others are heard */
	unsigned n_waiting;
	struct peer *peers; /* doubly linked */
	struct owners *owners;
	struct accounts accounts;
	struct budget budget; /* of the main thread and the closers */
	uint64_t charged_ns;  /* CPU time of the main thread that was charged, or is nobody's */
	struct users users;
	struct closers *closers;
	unsigned n_peers;
	unsigned max_peers; /* the configured limit, or what the file limit leaves */
	unsigned max_peers_of_user;
	struct refusals refusals;
	struct watchdog watchdog;
	struct log_limit lost, paused; /* lines of on_connection() */
	uint64_t n_refused_before;     /* by processes before, in this generation */
	struct report {
		int write_fd, read_fd; /* the same memory for all that are made; -1: none yet */
		uint64_t size_bytes;   /* of the last one */
		uint64_t made_ns;      /* 0: it is out of date */
	} reports[2];                  /* by enum wire_topic */
};

/*
 * Takes the socket that systemd passed in @store, or makes config->socket_path. Clients may connect
 * from now on and wait. -EADDRINUSE: another uncored listens there; -EINVAL: systemd passed
 * something else; errno of bind(2).
 */
int server_listen(
	struct server *server, struct config *config, struct fdstore *store, struct fault *fault);

/* Serves @counters until SIGTERM or SIGINT. Says READY once. Returns the exit status, or an error.
 */
int server_run(struct server *server, struct counters *counters, struct fault *fault);

void server_done(struct server *server);

/* --- for peer.c --- */

/* A peer came (@change 1) or went (-1), which shows in the page. */
void server_count_peer(struct server *server, int change);

/* Counts a refusal, which shows in the page, and logs it, at most once a minute for each user. */
void server_note_refusal(struct server *server, uint32_t uid, const struct policy_refusal *refusal);

/* The account of @uid, as far as is known, or ACCOUNTS_NONE. */
unsigned server_account_of(struct server *server, uint32_t uid);

/* What the main thread has used since the last time that this was asked, to be charged. */
uint64_t server_take_cost(struct server *server);

/* Has peers that are parked looked at, no later than @due_ns. */
void server_wake_at(struct server *server, uint64_t due_ns);

/*
 * What there is to say on @topic as JSON in a memfd: the state at most a tenth of a second
 * old, the platforms as they were when first asked for. Asking often must cost neither CPU nor
 * memory. It stays the server's. -ENOMEM, -EMFILE; -EINVAL: a platform file is wrong by now. The
 * fault says it.
 */
int server_report(struct server *server, enum wire_topic topic, const struct report **ret,
	struct fault *fault);

/*
 * Has the kernel keep descriptors from @fd, a listening socket and so all that it accepts from then
 * on, or one that was accepted; and whatever else may be attached to a message.
 */
void server_take_bare_messages(int fd);

/* Publishes what users are to know: quantum and rules. */
void server_tell_users(struct server *server);

/* A peer has gone: its descriptors are free again. */
void server_resume_accepting(struct server *server);

/* --- for peer.c and reload.c --- */

/* Whose job the node runs. */
uint32_t server_owner(const struct server *server);

/*
 * Notes that it is @owner's. Where only owners may connect, and it is another: withdraws the page
 * from all who have it and disconnects everybody but @but, so that who may connect does so anew.
 * Errors of counters_replace_page(), with nothing changed.
 */
int server_set_owner(struct server *server, uint32_t owner, const struct peer *but);

/* Withdraws the page, and publishes in another for @owner, as above; @but may be NULL. */
int server_withdraw(struct server *server, uint32_t owner, const struct peer *but);

/* --- for reload.c --- */

/* Gives the socket, if we made it, the configured mode and group. Errors of chmod(2), chown(2). */
int server_set_permissions(const struct server *server, struct fault *fault);

/* Takes the quotas of the configuration, as far as there is room for so many. */
void server_limit_peers(struct server *server);

/* Takes the budget of the configuration for the main thread. */
void server_apply_budget(struct server *server);

/* READY=1, to the service manager. */
void server_say_ready(const struct server *server);

/* --- for report.c --- */

/* The file of the socket, which is ours or systemd's. False: it cannot be found. */
bool server_socket(const struct server *server, struct rules_socket *ret);
