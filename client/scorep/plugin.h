/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both plugins share: a connection, the metrics that the user chose, and their totals since
 * initialize(). One thread of a process calls all of it.
 *
 * Score-P's strict interface wants a number at each event, and has none that says "not known". A
 * reading that fails therefore gives a *mark*: a value that is at least 2^53 away from any value
 * that it is subtracted from. The next reading that succeeds has no mark if no count was lost;
 * otherwise its mark stays. So a region shows a mark if it begins or ends with a reading that
 * failed, or contains a loss, and no other region does.
 */
#pragma once

#include "client/reader/reader.h"
#include "client/scorep/interface.h"

struct chosen {
	char name[UNCORE_NAME_MAX], title[UNCORE_NAME_MAX + 20]; /* dram.read, dram.read:socket0 */
	uint32_t socket, quality;                                /* its flags at first */
	uint64_t total;
	uint64_t lost; /* the failure that lost counts of it; 0: none did */
};

struct plugin {
	const char *name; /* for messages */
	bool is_recording;
	struct reader reader;
	struct readout before, now;
	struct chosen chosen[SCOREP_METRICS_MAX];
	int32_t n_chosen;
	uint64_t n_readings, n_failures;
	bool is_failing;   /* the last reading has failed */
	uint32_t quality;  /* all flags so far */
	char failure[256]; /* the first one */
};

extern struct plugin plugin;

int32_t plugin_initialize(void);
void plugin_finalize(void);
struct scorep_metric *plugin_list(char *token);
int32_t plugin_add(char *title);

/* Takes a reading, and adds what moved since the last one. False: it failed. */
bool plugin_take(void);

/* What the last reading says of the metric, with its mark. */
uint64_t plugin_value(int32_t id);
