/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agent sees of uncored: the connection, and the snapshot that answers one fetch.
 *
 * pmcd serves all its clients in one thread and waits for its agents, so nothing here may take
 * long: a snapshot gets IMPATIENT_NS for all that it needs, or PATIENT_NS if none has waited in
 * vain for some time; and after a failure uncored is left alone for a while, up to RETRY_MOST_NS.
 * Whoever asks meanwhile is told at once that there is nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/uncore.h"

enum admission { UNDECIDED, ADMITTED, REFUSED };

struct view {
	const char *socket_path; /* of uncored; NULL: as libuncore finds it */
	struct uncore *handle;   /* NULL: not connected */
	uint64_t retry_ns;       /* CLOCK_MONOTONIC: not before */
	unsigned n_failures;     /* in a row */
	uint64_t waited_ns;      /* when a snapshot last waited for long, in vain; 0: never */
	uint64_t told_ns;        /* when the log last had that it is away */
	bool told;               /* ... and did not have since that it is back */
	char reason[1024];       /* why there is no snapshot; "": there is one */

	/* Of the last connection there was; n_connections counts them. */
	unsigned n_connections;
	struct uncore_machine machine; /* .platform is the one below */
	char platform[UNCORE_NAME_MAX];
	struct uncore_sample *samples;         /* .n_sockets */
	struct uncore_channel_value *channels; /* .n_channels */

	uint64_t deadline_ns; /* CLOCK_MONOTONIC: of the snapshot that is being taken */
	bool is_current;      /* the snapshot below is of this fetch */
	bool has_channels;    /* ... and .channels, too */
	int64_t epoch_ns;     /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t now_ns;      /* CLOCK_MONOTONIC */
	struct uncore_daemon daemon;
};

/*
 * Takes a snapshot: one fresh reading of all sockets, and of their channels if @with_channels; each
 * socket's values are of one sweep. Where the site's policy holds that back for too long, the last
 * reading will do, which is no older than that policy wants. Reconnects once where the connection
 * turns out to be dead. False: there is none, .reason says why.
 */
bool view_refresh(struct view *view, bool with_channels);

/* May @user be told what the snapshot says? REFUSED: uncore_error_text() says why not. UNDECIDED:
 * nobody can say, for there is none. */
enum admission view_admits(const struct view *view, const struct uncore_user *user);

/* ... and may everybody? */
bool view_admits_all(const struct view *view);

/* How long ago uncored was last looked at. */
uint64_t view_age_ns(const struct view *view);

/* Ends the connection and makes .reason of @reason: what uncored says cannot be used. */
void view_give_up(struct view *view, const char *reason);

/* Ends the connection, for good. */
void view_done(struct view *view);
