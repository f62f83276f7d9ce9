/* SPDX-License-Identifier: BSD-3-Clause */
/* The quality of one metric on one socket, in words. */
#pragma once

#include <stddef.h>

struct json_object;

/* Room for all flags and the longest reason of the daemon. */
enum { QUALITY_TEXT_MAX = 512 };

/*
 * "standin, partial (5 of 6 boxes: ...)"; "good" if no flag is raised. @state is the daemon's
 * object for the socket. Returns the length of the text, which is cut at @size_bytes.
 */
size_t quality_format(struct json_object *state, char *buffer, size_t size_bytes);

/* If the platform of the daemon's report does not count memory traffic of this machine, prints
 * lines that say what it counts. */
void quality_print_warnings(struct json_object *info);
