/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore job: what each node moved during the jobs of a batch system. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/job/job.h"
#include "client/command/job/options.h"
#include "common/macro.h"

/*
 * Tells an administrator about a begin or end, since a batch system's hook may hide its stderr. The
 * sentence goes to the journal, or to any other owner of syslog(3)'s socket, as "uncore". If there
 * is none, or if its queue is full, nothing is told: no job waits for a log. syslog(3) itself would
 * wait for a journal that hangs.
 */
static void tell_journal(const char *title, const char *id, const char *sentence)
{
	const struct sockaddr_un log = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char line[2048];
	int n = snprintf(line, sizeof line, "<%d>uncore[%d]: %s %s: %s", LOG_DAEMON | LOG_ERR,
		(int)getpid(), title, id, sentence);

	if (fd >= 0 && n > 0)
		(void)!sendto(fd, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1,
			MSG_NOSIGNAL, (const struct sockaddr *)&log, sizeof log);
}

static int job_say(const struct job_options *options, int error, const struct job_said *said)
{
	const char *title = job_verb_title(options->verb),
		   *what = *said->error ? said->error : said->file;

	if (*said->remark && !options->quiet)
		fprintf(stderr, "%s: %s\n", title, said->remark);
	if (*what) {
		fprintf(stderr, "%s: %s\n", title, what);
		tell_journal(title, options->wish.id, what);
	}
	return error < 0 ? EXIT_FAILED : 0;
}

static int begin_or_end(const struct job_options *options)
{
	struct job_said said = {};
	int r = (options->verb == JOB_BEGIN ? job_begin : job_end)(&options->wish, &said);

	return job_say(options, r, &said);
}

static int report_of_job(const struct job_options *options)
{
	struct report_options report;
	int status = job_report_options_parse(options->argc, options->argv, &report);

	if (status < 0)
		status = report_show(&report);
	hostlist_done(&report.hosts);
	return status;
}

int command_job(int argc, char **argv)
{
	static int (*const verbs[JOB_VERBS])(const struct job_options *options) = {
		[JOB_BEGIN] = begin_or_end,
		[JOB_END] = begin_or_end,
		[JOB_LIST] = job_list,
		[JOB_SHOW] = job_show,
		[JOB_REPORT] = report_of_job,
	};
	struct job_options options;
	int status = job_options_parse(argc, argv, &options);

	if (status < 0)
		status = verbs[options.verb](&options);
	return status;
}
