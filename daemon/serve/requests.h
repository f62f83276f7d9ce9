/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of clients, and their answers: one row of a table for each (common/wire.h). */
#pragma once

#include "common/wire.h"
#include "daemon/serve/peer.h"

/* Answers @request, with a refusal if it cannot be granted. Negative errno: the peer must go. */
int requests_answer(struct peer *peer, const union wire_message *request);

/* --- tables of teams: struct wire_team --- */

/* Does @request only LOOK or FORGET, or ask for a last reading? A client may send such a request
 * before HELLO, and even if the policy refuses the client. */
bool team_requests_is_collecting(const union wire_message *request);

/* Answers @request, as requests_answer(). */
int team_requests_answer(struct peer *peer, const union wire_message *request);

/* Drops tables that ended long ago or take too much memory: now, and from then on every
 * TEAMS_LOOK_S or sooner, while there are any. Errors of sd_event_add_time(3). */
int team_requests_watch(struct server *server);
