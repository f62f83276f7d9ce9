/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be said of a job without regions: its traffic, its course, its phases, and whether
 * memory kept it. A function of figures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "client/report/format.h"

struct verdict_socket {
	struct format_socket shown;
	double peak;          /* of DRAM, in bytes per ns; 0: not known */
	double before, after; /* rates of the course's tier without the job; NAN: not known */
	const double *rates;  /* of that tier while the job ran; NAN: absent */
};

struct verdict {
	const char *command, *platform;
	const char *tier; /* "dram" */
	uint32_t n_sockets;
	const struct verdict_socket *sockets;
	size_t n;            /* rates */
	const double *end_s; /* when each of them ends, since the begin */
	const char *failure; /* why not all of the course is known; "": it is */
	bool utf8;
};

void verdict_print(FILE *out, const struct verdict *verdict);
