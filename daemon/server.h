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
#include "daemon/config.h"
#include "daemon/fault.h"
#include "daemon/hardware.h"
#include "daemon/log-limit.h"
#include "daemon/refusals.h"
#include "daemon/store.h"
#include "daemon/undertaker.h"

struct bells;
struct peer;

struct server {
	struct hardware *hardware; /* borrowed */
	struct config *config;     /* borrowed; SIGHUP replaces what it says */
	sd_event *event;
	int listen_fd;
	bool owns_path; /* we made the socket, not systemd: it is ours to remove */
	sd_event_source *listen_source;
	sd_event_source *retry_source; /* while nobody is accepted */
	struct peer *peers;            /* doubly linked */
	struct bells *bells;           /* of the users who have peers */
	unsigned n_peers;
	unsigned max_peers; /* the configured limit, or what the file limit leaves */
	unsigned max_peers_of_user;
	struct undertaker undertaker;
	struct refusals refusals;
	struct log_limit lost, paused; /* lines of on_connection() */
	uint64_t n_refused_before;     /* by processes before, in this generation */
	struct report {
		int fd; /* the last one, sealed: all who ask get this; -1: none yet */
		uint64_t size_bytes;
		uint64_t made_ns;
	} reports[2]; /* by enum wire_topic */
};

/*
 * Takes the socket that systemd passed in @store, or makes config->socket_path. Clients may connect
 * from now on and wait. -EADDRINUSE: another uncored listens there; -EINVAL: systemd passed
 * something else; errno of bind(2).
 */
int server_listen(
	struct server *server, struct config *config, struct store *store, struct fault *fault);

/* Serves @hardware until SIGTERM or SIGINT. Says READY once. Returns the exit status, or an error.
 */
int server_run(struct server *server, struct hardware *hardware, struct fault *fault);

void server_done(struct server *server);

/* --- for peer.c --- */

/* A peer came (@change 1) or went (-1), which shows in the page. */
void server_count_peer(struct server *server, int change);

/* Counts a refusal, which shows in the page, and logs it, at most once a minute for each user. */
void server_note_refusal(struct server *server, uint32_t uid, const struct policy_refusal *refusal);

/*
 * What there is to say on @topic as JSON in a sealed memfd: the state at most a tenth of a second
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

/* A peer has gone: its descriptors are free again. */
void server_resume_accepting(struct server *server);

/* --- for peer.c and reload.c --- */

/* Whose job the node runs. */
uint32_t server_owner(const struct server *server);

/*
 * Notes that it is @owner's. Where only owners may connect, and it is another: withdraws the page
 * from all who have it and disconnects everybody but @but, so that who may connect does so anew.
 * Errors of hardware_replace_page(), with nothing changed.
 */
int server_set_owner(struct server *server, uint32_t owner, const struct peer *but);

/* Withdraws the page, and publishes in another for @owner, as above; @but may be NULL. */
int server_withdraw(struct server *server, uint32_t owner, const struct peer *but);

/* --- for reload.c --- */

/* Gives the socket, if we made it, the configured mode and group. Errors of chmod(2), chown(2). */
int server_set_permissions(const struct server *server, struct fault *fault);

/* Takes the quotas of the configuration, as far as there is room for so many. */
void server_limit_peers(struct server *server);

/* READY=1, to the service manager. */
void server_say_ready(const struct server *server);

/* --- for report.c --- */

/* The permissions of the socket, whoever made it. False: they cannot be found out. */
bool server_socket_mode(const struct server *server, uint32_t *ret_mode);
