/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of clients, and their answers: one row of a table for each (common/wire.h). */
#pragma once

#include "common/wire.h"
#include "daemon/serve/peer.h"

/* Answers @request, with a refusal if it cannot be granted. Negative errno: the peer must go. */
int requests_answer(struct peer *peer, const union wire_message *request);
