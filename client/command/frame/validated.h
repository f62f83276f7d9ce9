/* SPDX-License-Identifier: BSD-3-Clause */
/* The last report of this machine: `uncore validate --keep` writes it for `uncore info`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/records/json.h"

enum { VALIDATED_BOOT_MAX = 40 };

struct validated {
	struct json_document document;
	const struct json_value *report; /* NULL: there is none */
};

/* Writes @report, readable by all. 0, or negative errno after a sentence on stderr. */
int validated_keep(const char *report);

/* Reads the report of this machine. False: there is none for @platform. *@ret is for
 * validated_done() in any case. */
bool validated_read(struct validated *ret, const char *platform);
void validated_done(struct validated *validated);

/* The kernel's ID of this boot, or "". */
void validated_boot(char ret[VALIDATED_BOOT_MAX]);
bool validated_is_of_this_boot(const struct validated *validated);

/* Prints what the report for @platform says of each node, below a heading; nothing if there is
 * none. */
void validated_print(const char *platform);

/* The most bytes per ns that kernels moved on the nodes of @socket that are of @tier, such as
 * "hbm"; 0: not known. */
double validated_peak_of(const struct validated *validated, uint32_t socket, const char *tier);

/* The same of all sockets with DRAM that the report names; 0: it has not the peak of each. */
double validated_peak_of_all(const struct validated *validated);

static inline double validated_peak(const struct validated *validated, uint32_t socket)
{
	return validated_peak_of(validated, socket, "dram");
}
