/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore validate --kernel`: one kernel over nodes, threads, sizes and halos, without a verdict.
 */
#pragma once

#include <stdio.h>

#include "client/command/validate/session.h"

/* 0, or negative errno after a sentence on stderr. */
int single_run(struct session *session, FILE *out);
