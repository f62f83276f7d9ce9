/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore validate --keep` found on this machine. */
#pragma once

#include <stdint.h>

struct json_object;

/*
 * The report of this machine if there is one for @platform, else NULL. It is always NULL in a build
 * that cannot read JSON. The caller owns it and passes it to validated_free().
 */
struct json_object *validated_read(const char *platform);
void validated_free(struct json_object *report);

/* Prints what @report says of each node, below a heading; nothing if @report is NULL. */
void validated_print(struct json_object *report);

/* The most bytes per ns that kernels moved on the DRAM of all nodes of @socket; 0: not known. */
double validated_peak(struct json_object *report, uint32_t socket);
