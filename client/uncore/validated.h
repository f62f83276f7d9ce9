/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore validate --keep` found on this machine. */
#pragma once

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The report of this machine if there is one for @platform, or NULL. It is the caller's, for
 * json_object_put(3).
 */
struct json_object *validated_read(const char *platform);

/* Prints what it says of each node, below a heading; nothing if @report is NULL. */
void validated_print(struct json_object *report);

/* The most bytes per ns that kernels moved on the DRAM of all nodes of @socket; 0: not known. */
double validated_peak(struct json_object *report, uint32_t socket);
