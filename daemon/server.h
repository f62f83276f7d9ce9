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
#include "daemon/store.h"

struct peer;

struct server {
	struct hardware *hardware;   /* borrowed */
	const struct config *config; /* borrowed */
	sd_event *event;
	int listen_fd;
	bool owns_path; /* we made the socket, not systemd: it is ours to remove */
	sd_event_source *listen_source;
	struct peer *peers; /* doubly linked */
	unsigned n_peers;
	unsigned max_peers; /* the configured limit, or what the file limit leaves */
	unsigned max_peers_of_user;
	uint64_t n_refused;
	uint64_t refusal_logged_ns;
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
int server_listen(struct server *server, const struct config *config, struct store *store,
	struct fault *fault);

/* Serves @hardware until SIGTERM or SIGINT. Says READY once. */
int server_run(struct server *server, struct hardware *hardware, struct fault *fault);

void server_done(struct server *server);

/* --- for peer.c --- */

/* A peer came (@change 1) or went (-1); a request was refused. Both show in the page. */
void server_count_peer(struct server *server, int change);
void server_count_refusal(struct server *server);

/* Counts a refusal and logs it, at most once a minute. */
void server_note_refusal(struct server *server, uint32_t uid, const char *why);

/*
 * What there is to say on @topic as JSON in a sealed memfd: the state at most a tenth of a second
 * old, the platforms as they were when first asked for. Asking often must cost neither CPU nor
 * memory. It stays the server's. -ENOMEM, -EMFILE; -EINVAL: a platform file is wrong by now. The
 * fault says it.
 */
int server_report(struct server *server, enum wire_topic topic, const struct report **ret,
	struct fault *fault);

/* A peer has gone: its descriptors are free again. */
void server_resume_accepting(struct server *server);
