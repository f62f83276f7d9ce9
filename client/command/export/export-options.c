/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export-options.h"

#include <getopt.h>

#include "client/command/frame/command.h"

/* Refuses options that exclude each other. -1, or the exit status after a sentence on stderr. */
static int check(const struct export_options *options)
{
	if (options->http && (options->clustercockpit || options->output_path))
		return option_complain(&export_table,
			"--http answers with text for Prometheus, on its connection");
	if (options->wish.channels && options->clustercockpit)
		return option_complain(&export_table,
			"--clustercockpit has the bandwidth of sockets, not of channels");
	if (options->every_s && !options->clustercockpit)
		return option_complain(&export_table,
			"--every goes with --clustercockpit; for Prometheus use a timer");
	return -1;
}

int export_options_parse(int argc, char **argv, struct export_options *ret)
{
	int status;

	*ret = (struct export_options){ .every_s = 0 };
	status = option_parse(&export_table, argc, argv, ret, NULL);
	if (status >= 0)
		return status;
	ret->wish.hurried = ret->http;
	ret->wish.report = UNCORE_WITH_JSON && !ret->clustercockpit;
	ret->wish.difference = ret->clustercockpit;
	status = option_no_argument(&export_table, argc, argv);
	return status < 0 ? check(ret) : status;
}
