/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last reading of a team whose processes were all killed (TABLES OF TEAMS in uncored(8)).
 *
 * Each member has a connection. When one ends, uncored asks the kernel which tables of this uid no
 * process holds a lock on any more. The kernel releases a process's locks before it ends the
 * process's connections. A member that is stopped, or in another pid namespace, holds its lock; one
 * that executes another program is not a member any more.
 *
 * A table that was reported is owed nothing, and any other one reading, once it was found alive:
 * before that, a process may have filled it and not locked its place yet. The reading is one
 * claim of the user, which waits for budget and intervals like a client's (doorbells_keep()). No
 * thread waits for it. The reading does not outlive this process.
 */
#pragma once

#include "daemon/serve/peer.h"

/* Notes which tables of @peer's uid live that were never found alive: a member locks its place in
 * the table before it connects. */
void deaths_note_living(const struct peer *peer);

/* Looks for tables of @peer's uid that have ended. Does nothing if the policy refuses @peer. */
void deaths_look(const struct peer *peer);

/* Looks at all tables. Does nothing if rules keep anybody from reading: then a client has to be
 * there that they admit. */
void deaths_look_at_all(struct server *server);

/* Answers WIRE_LAST for @team; NULL: there is no such table. Negative errno: the peer must go. */
int deaths_answer(struct peer *peer, const struct team *team);
