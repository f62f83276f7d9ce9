/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore validate --keep` found on this machine. */
#pragma once

#include <stdint.h>

struct json_object;

/*
 * The report of this machine if there is one for @platform, or NULL, as always in a build that
 * cannot read JSON. It is the caller's, for validated_free().
 */
struct json_object *validated_read(const char *platform);
void validated_free(struct json_object *report);

/* Prints what it says of each node, below a heading; nothing if @report is NULL. */
void validated_print(struct json_object *report);

/* The most bytes per ns that kernels moved on the DRAM of all nodes of @socket; 0: not known. */
double validated_peak(struct json_object *report, uint32_t socket);
