/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report: what regions of jobs moved, from files or from what uncored keeps. */
#include "client/command/frame/command.h"
#include "client/command/report/report-options.h"
#include "client/ratio/pairs.h"
#include "common/macro.h"

int command_report(int argc, char **argv)
{
	_cleanup_(json_document_done) struct json_document old = { .text = NULL };
	struct report_options options;
	int status = report_options_parse(argc, argv, &options);
	_cleanup_(page_done) struct page page = { &page_report, "uncore report", options.html };

	if (status < 0 && options.against) {
		options.old = pairs_read("uncore report", (char *)options.against, &old);
		status = options.old ? -1 : EXIT_FAILED;
	}
	if (status < 0 && page_open(&page) < 0)
		status = EXIT_FAILED;
	if (status < 0)
		status = (options.n_paths ? report_files : report_kept)(&options, &page);
	hostlist_done(&options.hosts);
	return page_write(&page) < 0 && !status ? EXIT_FAILED : status;
}
