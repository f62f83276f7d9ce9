/* SPDX-License-Identifier: BSD-3-Clause */
/* Other jobs that were on the hosts of a job meanwhile, as far as their records are there. */
#pragma once

#include <stdio.h>

#include "client/records/join.h"

struct jsonwriter;

struct met_jobs {
	size_t n;
	struct met *all; /* owned */
};

/* Adds the job of @record, on its host. 0; -ENOMEM. */
int met_add(struct met_jobs *met, const struct record *record);

/* Leaves those of @join's hosts and time, sorted, each one once: a log and a file may have the
 * same. */
void met_choose(struct met_jobs *met, const struct join *join);

void met_print(FILE *out, const struct met_jobs *met);
void met_json(struct jsonwriter *json, const struct met_jobs *met); /* the member "other_jobs" */
