/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report, and uncore job report: what regions and jobs moved, from files or from what
 * uncored keeps. */
#include "client/command/frame/command.h"
#include "client/command/report/report-options.h"
#include "client/ratio/pairs.h"
#include "common/macro.h"

int report_show(struct report_options *options)
{
	const char *title = options->table->command;
	_cleanup_(json_document_done) struct json_document old = { .text = NULL };
	_cleanup_(page_done) struct page page = { &page_report, title, options->html };
	int status = EXIT_FAILED;

	if (options->against)
		options->old = pairs_read(title, (char *)options->against, &old);
	if ((!options->against || options->old) && page_open(&page) == 0)
		status = (options->n_paths ? report_files : report_kept)(options, &page);
	return page_write(&page) < 0 ? EXIT_FAILED : status;
}

int command_report(int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(argc, argv, &options);

	if (status < 0)
		status = report_show(&options);
	hostlist_done(&options.hosts);
	return status;
}
