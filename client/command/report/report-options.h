/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report: its command line, and what it shows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/frame/user.h"
#include "client/command/page/page.h"
#include "client/command/report/predict.h"
#include "client/launcher/hostlist.h"
#include "client/records/json.h"

enum report_output { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

struct report_options {
	const struct option_table *table; /* of the command */
	enum report_output output;
	const char *html, *against;
	const struct json_value *old; /* what .against names; NULL: nothing */
	bool nodes;
	bool merge;
	bool arrays;
	double candidates; /* a share in percent; 0: all regions are shown */
	struct predictions predictions;
	const char *job; /* the ID of the only one that is shown; NULL: all */
	/* Of `uncore job report`: records of jobs alone; the run with this key, the last or all. */
	bool of_job, all_runs;
	const char *run_key;
	const char *host_list;
	struct hostlist hosts; /* ... parsed */
	struct trust trust;    /* of files in folders */
	bool keep, running;
	uint32_t uid; /* UNCORE_UNKNOWN_USER: the caller's */
	char **paths;
	int n_paths; /* 0: the teams that uncored keeps */
};

/* Returns -1 to go on, or the exit status. In any case, hostlist_done() is for *@ret's hosts. The
 * latter is for `uncore job report`. */
int report_options_parse(int argc, char **argv, struct report_options *ret);
int job_report_options_parse(int argc, char **argv, struct report_options *ret);

/* What both commands do. Returns the exit status. */
int report_show(struct report_options *options);

/* The functions below write an open @page, too. */

/* Records of files: of programs or teams, of one node or joined from several. Returns the exit
 * status. */
int report_files(const struct report_options *options, struct page *page);

/* Without files: shows the teams that uncored keeps and that have ended, and makes uncored forget
 * them once they are written. Returns the exit status. */
int report_kept(const struct report_options *options, struct page *page);

/* The regions of @record for a page without scripts. @join: it is its total; or NULL. */
struct join;
void report_still(FILE *out, const struct record *record, const struct join *join);

/* Writes what the page needs beside its data: the peak of @platform, and the comparison. */
void report_more_json(
	const struct report_options *options, struct page *page, const char *platform);
