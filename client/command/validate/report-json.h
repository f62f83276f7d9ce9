/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of `uncore validate` as JSON: a report on a machine, without its name. */
#pragma once

#include "client/command/validate/judge.h"

/* For free(3); NULL: out of memory. */
char *report_json(const struct session *session, const struct judged_node nodes[], unsigned n);
