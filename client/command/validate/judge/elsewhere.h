/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a node's traffic that does not show in the metrics where it should. */
#pragma once

#include "client/command/validate/judge/evidence.h"
#include "client/command/validate/judge/findings.h"

/* Do the counters of another socket, or of other memory, show most of the traffic? */
bool elsewhere_is_most(const struct evidence *evidence);

/* Names the sockets that show a part of the traffic; returns how much they show. */
double elsewhere_in_part(const struct evidence *evidence, struct findings *findings);

/* Says where the traffic shows if the node's own metrics show nothing of it, or next to nothing. */
void elsewhere_entirely(const struct evidence *evidence, struct findings *findings);
