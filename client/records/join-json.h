/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of several nodes as JSON. See uncore-report(5). */
#pragma once

#include "client/launcher/hostlist.h"
#include "client/records/join.h"

/*
 * The records as they were read, their sum, the imbalance, the notes, and the hosts of @expected
 * that have no record. *@ret_text is the caller's. 0; -ENOMEM.
 */
int join_json(const struct join *join, const struct hostlist *expected, const char *notes,
	char **ret_text);
