/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

void stat_complain(struct stat_run *run, const char *text)
{
	bool told_later = run->options.anyway && !run->started_ns;
	bool in_json = run->options.form == STAT_JSON && run->out && !run->options.output_path;

	snprintf(run->failure, sizeof run->failure, "%s", text);
	if (!told_later && !in_json)
		fprintf(stderr, "uncore stat: %s\n", text);
}
