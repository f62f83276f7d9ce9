/* SPDX-License-Identifier: BSD-3-Clause */
/* What the viewer may know of others on this machine: whose node it is, which jobs are open, and,
 * for root, who reads. */
#pragma once

#include <stdint.h>

#include "client/command/top/shown.h"
#include "client/records/json.h"

struct others {
	struct screen_others seen;
	struct json_document clients; /* as of the last look */
	uint64_t next_ns;             /* of the next look */
};

/* Asks uncored, if the last time is long enough ago. It makes no sweep for that. */
void others_look(struct others *others, const char *socket_path, uint32_t n_clients);
void others_done(struct others *others);
