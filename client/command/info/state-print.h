/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's whole state, laid out for people. What a daemon of another release does not send is
 * left out.
 */
#pragma once

#include <json-c/json.h>

/* Prints @info, an object as `uncore info --json` prints it, on stdout. */
void state_print(struct json_object *info);
