/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent's view of uncored: the connection, and the snapshot that answers one fetch.
 *
 * pmcd serves all its clients in one thread and waits for its agents, so nothing here may take
 * long. A snapshot gets IMPATIENT_NS for all that it needs, or PATIENT_NS if no snapshot has waited
 * in vain for some time; inside pmcd always BRIEF_NS. After a failure uncored is left alone for a
 * while, up to RETRY_MOST_NS. A client that asks during this time is told at once that there is no
 * snapshot.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

enum admission { UNDECIDED, ADMITTED, REFUSED };

struct view {
	bool is_brief;       /* others wait while this process waits */
	uint64_t retry_ns;   /* CLOCK_MONOTONIC: no snapshot is tried before */
	unsigned n_failures; /* in a row */
	uint64_t waited_ns;  /* when a snapshot last waited for long, in vain; 0: never */
	uint64_t told_ns;    /* when the log was last told that uncored is away */
	bool told;           /* ... and not yet that it is back */
	char reason[1024];   /* why there is no snapshot; "": there is one */

	struct reader reader;
	bool is_current;   /* the snapshot below is of this fetch */
	bool has_channels; /* ... and its channels, too */
	struct readout readout;
	int64_t epoch_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t now_ns;  /* CLOCK_MONOTONIC */
	struct uncore_daemon daemon;
};

/*
 * Takes a snapshot: one fresh reading of all sockets, and of their channels if @with_channels; each
 * socket's values are of one sweep. If the site's policy delays the reading for too long, the last
 * reading is used, which is not older than the policy's interval. Reconnects once if the connection
 * turns out to be dead. False: there is no snapshot, .reason says why.
 */
bool view_refresh(struct view *view, bool with_channels);

/* The index of the metric @name on this machine; -1: it has none in @unit. */
int view_find(const struct view *view, const char *name, const char *unit);

/* May @user be told the snapshot? REFUSED: uncore_error_text() says why not. UNDECIDED: there is no
 * snapshot to decide by. */
enum admission view_admits(const struct view *view, const struct uncore_user *user);

/* The time since the last view_refresh(). */
uint64_t view_age_ns(const struct view *view);

/* Ends the connection, for good. */
void view_done(struct view *view);
