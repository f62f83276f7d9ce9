/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/command/job/record/record-folder.h"
#include "client/command/job/record/spool.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/text.h"

static struct {
	const char *name;
	char title[20]; /* what getopt(3) begins its complaints with */
	const char *letters;
} verbs[JOB_VERBS] = {
	[JOB_BEGIN] = { "begin", "uncore job begin", "urcqs" },
	[JOB_END] = { "end", "uncore job end", "rteqs" },
	[JOB_LIST] = { "list", "uncore job list", "j" },
	[JOB_SHOW] = { "show", "uncore job show", "js" },
	[JOB_REPORT] = { "report", "uncore job report", "oraTj" },
};

const char *job_verb_title(enum job_verb verb)
{
	return verbs[verb].title;
}

static void write_help(void)
{
	printf("Usage: uncore job begin ID --uid USER [OPTION...]\n"
	       "       uncore job end ID [--to DIR] [--exit TEXT] [OPTION...]\n"
	       "       uncore job list [--json]\n"
	       "       uncore job show ID [--json]\n"
	       "       uncore job report ID [OPTION...] FILE|DIR|-...\n"
	       "A record for each job of a batch system, of how many bytes each socket of its "
	       "node\n"
	       "read and wrote. The batch system says when a job begins and ends (root); see\n"
	       "uncored-jobs(7).\n\n"
	       "begin:\n"
	       "      --uid USER     whose job it is, a name or a number\n"
	       "      --run KEY      tells two runs of one ID apart\n"
	       "      --cpus LIST    those that the job can use, as in 0-3,8; self: those that\n"
	       "                     this command may run on (default: all)\n\n"
	       "end:\n"
	       "      --to DIR       also write the record to DIR/ID@BEGIN.json; %%j in DIR is\n"
	       "                     the ID\n"
	       "      --exit TEXT    how the job ended, for the record\n"
	       "      --run KEY      leave a run with another KEY open\n\n"
	       "report:\n"
	       "      --hosts LIST   the nodes that the job had; name those without a record\n"
	       "      --run KEY      this run of several (default: the last)\n"
	       "      --all          all runs\n"
	       "      --trust USER   in a DIR also believe files of USER, a name or a number; as\n"
	       "                     often as there are such users (default: root and yourself)\n"
	       "\n"
	       "  -j, --json         list, show, report: JSON, see uncore-report(5)\n"
	       "  -q, --quiet        begin, end: do not say on stderr what makes the record\n"
	       "                     incomplete\n"
	       "      --socket PATH  begin, end, show: where uncored listens (default:\n"
	       "                     $UNCORE_SOCKET, then /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: 0, also where uncored is away and the record will be incomplete; 1 "
	       "if\n"
	       "the job cannot be kept, or not all of the output was written, there is no such\n"
	       "job, or a host has no complete record; 2 for a wrong option.\n");
}

static int complain(const struct job_options *options, const char *what)
{
	fprintf(stderr, "%s: %s. See `uncore job --help`.\n", job_verb_title(options->verb), what);
	return EXIT_USAGE;
}

/* --- options --- */

/* The functions below return -1 to go on, or the exit status. */

static int take_user(const char *text, struct job_options *options)
{
	if (user_find(text, &options->wish.uid) == 0)
		return -1;
	fprintf(stderr, "%s: this machine has no user %s.\n", job_verb_title(options->verb), text);
	return EXIT_USAGE;
}

/* A prolog gives what its batch system has, which may be nothing. */
static int take_key(const char *text, struct job_options *options)
{
	options->wish.key = *text ? text : NULL;
	return !*text || job_key_is_valid(text)
		       ? -1
		       : complain(options, "a KEY is plain text of at most 64 bytes");
}

static int take_hosts(const char *text, struct job_options *options)
{
	hostlist_done(&options->hosts);
	return hostlist_parse(text, &options->hosts) == 0
		       ? -1
		       : complain(options, "--hosts needs a list like n[01-03,7],login1");
}

/* A later call, which runs in another folder, may have to write the record there. */
static int take_folder(const char *text, struct job_options *options)
{
	_cleanup_free_ char *here = *text == '/' ? NULL : getcwd(NULL, 0);
	const char *at = here ? here : "";
	size_t n = 0;

	if (!record_folder_is_valid(text) || (!here && *text != '/'))
		return complain(options, "--to needs a folder, in whose name %j is the job's ID, "
					 "%% a %, and no other % is allowed");
	for (; *at && n + 2 < sizeof options->to; at++) {
		if (*at == '%')
			options->to[n++] = '%';
		options->to[n++] = *at;
	}
	n += (size_t)snprintf(
		options->to + n, sizeof options->to - n, "%s%s", here ? "/" : "", text);
	if (*at || n >= sizeof options->to)
		return complain(options, "--to needs a folder whose path has less than 1024 bytes");
	options->wish.to = options->to;
	return -1;
}

/* Whatever a batch system says here keeps no job from its end. */
static int take_exit(const char *text, struct job_options *options)
{
	snprintf(options->exit, sizeof options->exit, "%s", text);
	text_make_plain(options->exit);
	options->wish.exit = options->exit;
	return -1;
}

static int take_option(int letter, struct job_options *options)
{
	switch (letter) {
	case 'u':
		return take_user(optarg, options);
	case 'r':
		return take_key(optarg, options);
	case 'c':
		return packages_parse(optarg, &options->wish.packages) == 0
			       ? -1
			       : complain(options, "--cpus needs a list like 0-3,8, or self");
	case 't':
		return take_folder(optarg, options);
	case 'e':
		return take_exit(optarg, options);
	case 'o':
		return take_hosts(optarg, options);
	case 'T':
		return trust_add(&options->trust, job_verb_title(options->verb), optarg)
			       ? -1
			       : EXIT_FAILED;
	case 's':
		options->wish.socket_path = optarg;
		return -1;
	case 'a':
		options->all = true;
		return -1;
	case 'q':
		options->quiet = true;
		return -1;
	default: /* 'j' */
		options->json = true;
		return -1;
	}
}

/* --- the whole --- */

static int take_arguments(int argc, char **argv, struct job_options *options)
{
	const bool has_id = options->verb != JOB_LIST;

	if (has_id && argc < 1)
		return complain(options, "which job? Give its ID");
	if (has_id && !job_id_is_valid(*argv))
		return complain(options, "an ID is 1 to 64 letters, digits and ._+-, and begins "
					 "with no point");
	options->wish.id = has_id ? *argv : NULL;
	options->paths = argv + has_id;
	options->n_paths = argc - has_id;
	if (options->verb == JOB_REPORT && !options->n_paths)
		return complain(options, "which records? Give files, folders, or - for stdin");
	if (options->verb != JOB_REPORT && options->n_paths)
		return complain(options, has_id ? "one ID is enough" : "it takes no ID");
	if (options->verb == JOB_BEGIN && options->wish.uid == UNCORE_UNKNOWN_USER)
		return complain(options, "whose job is it? Give --uid USER");
	return -1;
}

static int parse_verb(int argc, char **argv, struct job_options *options)
{
	static const struct option names[] = {
		{ "uid", required_argument, NULL, 'u' },
		{ "run", required_argument, NULL, 'r' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "to", required_argument, NULL, 't' },
		{ "exit", required_argument, NULL, 'e' },
		{ "hosts", required_argument, NULL, 'o' },
		{ "trust", required_argument, NULL, 'T' },
		{ "all", no_argument, NULL, 'a' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "json", no_argument, NULL, 'j' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status = -1;

	optind = 0;
	*argv = verbs[options->verb].title;
	while (status < 0 && (letter = getopt_long(argc, argv, "jqh", names, NULL)) != -1) {
		if (letter == 'h') {
			write_help();
			return 0;
		}
		if (letter == '?') {
			fprintf(stderr, "See `uncore job --help`.\n");
			return EXIT_USAGE;
		}
		if (!strchr(verbs[options->verb].letters, letter))
			return complain(options, "that option is for another of its commands");
		status = take_option(letter, options);
	}
	return status < 0 ? take_arguments(argc - optind, argv + optind, options) : status;
}

int job_options_parse(int argc, char **argv, struct job_options *ret)
{
	const char *verb = argc > 1 ? argv[1] : "";

	*ret = (struct job_options){
		.wish = {
			.folder_path = FOLDER_PATH,
			.spool_path = SPOOL_PATH,
			.uid = UNCORE_UNKNOWN_USER,
		},
	};
	if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) {
		write_help();
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verb, verbs[i].name) == 0) {
			ret->verb = (enum job_verb)i;
			return parse_verb(argc - 1, argv + 1, ret);
		}
	fprintf(stderr, "uncore job: what about jobs? Say begin, end, list, show or report. See "
			"`uncore job --help`.\n");
	return EXIT_USAGE;
}

void job_options_done(struct job_options *options)
{
	hostlist_done(&options->hosts);
}
