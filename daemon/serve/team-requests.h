/* SPDX-License-Identifier: BSD-3-Clause */
/* The request for tables of teams (struct wire_team), and its answers. */
#pragma once

#include <stdbool.h>

#include "common/wire.h"
#include "daemon/serve/peer.h"

/* Does @request only LOOK or FORGET? A client may send such a request before HELLO, and even if the
 * policy refuses the client. */
bool team_requests_is_collecting(const union wire_message *request);

/* Answers @request, as requests_answer(). */
int team_requests_answer(struct peer *peer, const union wire_message *request);
