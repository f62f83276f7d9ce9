/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy of uncored and its limits, as uncored reports them. */
#pragma once

#include <json-c/json.h>

/* Prints the rules in words, then each key. @policy may be NULL. */
void limits_print(struct json_object *policy);
