/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore job: what each node moved during the jobs of a batch system. */
#include <stdio.h>

#include "client/command/frame/command.h"
#include "client/command/job/job.h"
#include "client/command/job/journal.h"
#include "client/command/job/list.h"
#include "client/command/job/options.h"
#include "client/command/job/report.h"
#include "client/command/job/show.h"

static int say(const struct job_options *options, int error, const struct job_said *said)
{
	const char *title = job_verb_title(options->verb),
		   *what = *said->error ? said->error : said->file;

	if (*said->remark && !options->quiet)
		fprintf(stderr, "%s: %s\n", title, said->remark);
	if (*what) {
		fprintf(stderr, "%s: %s\n", title, what);
		journal_tell(title, options->wish.id, what);
	}
	return error < 0 ? EXIT_FAILED : 0;
}

static int begin(const struct job_options *options)
{
	struct job_said said;
	int r = job_begin(&options->wish, &said);

	return say(options, r, &said);
}

static int end(const struct job_options *options)
{
	struct job_said said;
	int r = job_end(&options->wish, &said);

	return say(options, r, &said);
}

int command_job(int argc, char **argv)
{
	static int (*const verbs[JOB_VERBS])(const struct job_options *options) = {
		[JOB_BEGIN] = begin,
		[JOB_END] = end,
		[JOB_LIST] = job_list,
		[JOB_SHOW] = job_show,
		[JOB_REPORT] = job_report,
	};
	struct job_options options;
	int status = job_options_parse(argc, argv, &options);

	if (status < 0)
		status = verbs[options.verb](&options);
	job_options_done(&options);
	return status;
}
