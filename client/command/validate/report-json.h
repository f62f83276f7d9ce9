/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of `uncore validate` as JSON: a report on a machine, without its name. */
#pragma once

#include <json-c/json.h>

#include "client/command/validate/judge.h"

/* The report is the caller's, for json_object_put(3). */
struct json_object *report_json(
	const struct session *session, const struct judged_node nodes[], unsigned n);
