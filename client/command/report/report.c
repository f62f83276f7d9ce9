/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report: what regions of jobs moved, from files or from what uncored keeps. */
#include "client/command/frame/command.h"
#include "client/command/report/report-files.h"
#include "client/command/report/report-kept.h"
#include "client/command/report/report-options.h"

int command_report(int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(argc, argv, &options);

	if (status < 0)
		status = options.n_paths ? report_files(&options) : report_kept(&options);
	hostlist_done(&options.hosts);
	return status;
}
