/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/frame/trust.h"
#include "client/launcher/hostlist.h"

enum report_output { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

struct report_options {
	enum report_output output;
	bool nodes;
	const char *host_list;
	struct hostlist hosts; /* ... parsed */
	struct trust trust;    /* of files in folders */
	bool keep, running;
	uint32_t uid; /* UNCORE_UNKNOWN_USER: the caller's */
	char **paths;
	int n_paths; /* 0: the teams that uncored keeps */
};

/* Returns -1 to go on, or the exit status. In any case, hostlist_done() is for *@ret's hosts. */
int report_options_parse(int argc, char **argv, struct report_options *ret);
