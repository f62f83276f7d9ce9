/* SPDX-License-Identifier: BSD-3-Clause */
/* One look at the tiers: nodes, pages of processes, and what sockets moved since the look before.
 */
#pragma once

#include "client/command/frame/total.h"
#include "client/command/tiers/nodes.h"
#include "client/command/tiers/pages.h"
#include "client/reader/reader.h"
#include "common/option.h"

struct tiers_options {
	const char *socket_path;
	struct option_numbers pids;
	uint64_t interval_ns; /* 0: once */
	bool json, csv;
};

struct tiers {
	struct tiers_options options;
	struct nodes nodes;
	struct nodes_counted counted;
	struct pages pages;
	struct reader reader;
	struct readout before, now;
	struct total total; /* .runs 0: there are no figures, for the reason of .failure */
	char failure[512];
	uint64_t begun_ns, looked_ns; /* CLOCK_MONOTONIC */
	bool headed;                  /* the heading of CSV is written */
};

/* They write the look to stdout. */
void tiers_print(const struct tiers *tiers);
void tiers_json(const struct tiers *tiers);
void tiers_csv(struct tiers *tiers);
