/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report: records that programs or teams left, of one node or joined from several. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/record/csv.h"
#include "client/record/hostlist.h"
#include "client/record/join-json.h"
#include "client/record/join-print.h"
#include "client/record/json.h"
#include "client/record/notes.h"
#include "client/record/print.h"
#include "client/record/read.h"
#include "client/uncore/command.h"
#include "common/macro.h"

enum { RECORDS_MOST = 65536 };

enum output { TABLE, JSON, CSV };

struct options {
	enum output output;
	bool nodes;
	struct hostlist hosts;
	char **paths;
	int n_paths;
};

/* What was read. */
struct found {
	struct record *records;
	uint32_t n_records;
	bool failed; /* something could not be read */
};

static void found_done(struct found *found)
{
	for (uint32_t i = 0; found->records && i < found->n_records; i++)
		record_done(&found->records[i]);
	free(found->records);
}

static void write_help(void)
{
	printf("Usage: uncore report [OPTION...] FILE|DIR...\n"
	       "Show the regions of a program or job from the JSON that it left (UNCORE_REPORT).\n"
	       "Of several files, and of all files *.json in a DIR, show the sum of all nodes, "
	       "each\n"
	       "node, and how far the nodes differ.\n\n"
	       "      --hosts LIST  the nodes that the job had, as Slurm writes them\n"
	       "                    (n[01-03,7],login1); name those that left no file\n"
	       "      --nodes       each region of each node, however many there are\n"
	       "      --csv         a line for each node, region, socket and metric\n"
	       "  -j, --json        JSON, as uncore-report(5) describes it\n"
	       "  -h, --help\n\n"
	       "Exit status: 0; 1 if a file could not be read, a host is missing, or the output\n"
	       "could not be written; 2 for a wrong option.\n");
}

static int complain(const char *what)
{
	fprintf(stderr, "uncore report: %s. See `uncore report --help`.\n", what);
	return EXIT_USAGE;
}

/* --- options --- */

/* Returns -1 to go on, or the exit status. */
static int take_hosts(const char *text, struct options *options)
{
	hostlist_done(&options->hosts);
	switch (hostlist_parse(text, &options->hosts)) {
	case 0:
		return -1;
	case -E2BIG:
		return complain("--hosts has too many hosts");
	default:
		return complain("--hosts needs a list like n[01-03,7],login1");
	}
}

static int take_option(int letter, struct options *options)
{
	switch (letter) {
	case 'o':
		return take_hosts(optarg, options);
	case 'n':
		options->nodes = true;
		return -1;
	case 'c':
		options->output = CSV;
		return -1;
	case 'j':
		options->output = JSON;
		return -1;
	case 'h':
		write_help();
		return 0;
	default:
		fprintf(stderr, "See `uncore report --help`.\n");
		return EXIT_USAGE;
	}
}

static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{ "hosts", required_argument, NULL, 'o' },
		{ "nodes", no_argument, NULL, 'n' },
		{ "csv", no_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status = -1;

	while (status < 0 && (letter = getopt_long(argc, argv, "jh", names, NULL)) != -1)
		status = take_option(letter, options);
	options->paths = argv + optind;
	options->n_paths = argc - optind;
	if (status < 0 && options->n_paths == 0)
		return complain("a FILE or DIR is needed");
	return status;
}

/* --- reading --- */

static int keep(struct found *found, struct record *record)
{
	uint32_t n = found->n_records;
	struct record *larger = found->records;

	if (n >= RECORDS_MOST)
		return -E2BIG;
	if ((n & (n - 1)) == 0)
		larger = realloc(larger, (n ? 2 * (size_t)n : 1) * sizeof *larger);
	if (!larger)
		return -ENOMEM;
	found->records = larger;
	found->records[found->n_records++] = *record;
	*record = (struct record){ .host = "" };
	return 0;
}

/* In a directory other JSON may lie beside the records: it is named, and no failure. */
static void read_one(const char *path, bool in_directory, struct found *found)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	char why[MEMBER_WHY_MAX];
	int r = record_read(path, &record, why);

	if (r == 0) {
		r = keep(found, &record);
		snprintf(why, sizeof why, "has no room: %s", strerror(-r));
	}
	if (r == 0)
		return;
	fprintf(stderr, "uncore report: %s %s%s.\n", path, why,
		in_directory ? "; it is left out" : "");
	found->failed |= !in_directory || r != -ENOMSG;
}

static int is_json(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > strlen(".json") && strcmp(entry->d_name + n - strlen(".json"), ".json") == 0;
}

static void read_directory(const char *path, struct found *found)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_json, alphasort);

	if (n <= 0) {
		fprintf(stderr, "uncore report: %s %s.\n", path,
			n < 0 ? strerror(errno) : "has no files *.json");
		found->failed = true;
		return;
	}
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *file = NULL;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0) {
			file = NULL;
			found->failed = true;
		} else {
			read_one(file, true, found);
		}
		free(entries[i]);
	}
	free(entries);
}

static void read_all(const struct options *options, struct found *found)
{
	struct stat status;

	for (int i = 0; i < options->n_paths; i++)
		if (stat(options->paths[i], &status) == 0 && S_ISDIR(status.st_mode))
			read_directory(options->paths[i], found);
		else
			read_one(options->paths[i], false, found);
}

/* --- showing --- */

static int show_json(const struct options *options, const struct join *join, const char *notes)
{
	_cleanup_free_ char *text = NULL;
	int r;

	if (join->n_records == 1 && !options->hosts.n_names)
		r = record_json(&join->records[0], &text);
	else
		r = join_json(join, &options->hosts, notes, &text);
	if (r == 0)
		printf("%s\n", text);
	return r;
}

/* The table has the notes within it; elsewhere they must not mix with the output. */
static int show(const struct options *options, const struct join *join, const char *notes)
{
	switch (options->output) {
	case JSON:
		return show_json(options, join, notes);
	case CSV:
		csv_write(stdout, join->records, join->n_records);
		fputs(notes, stderr);
		return 0;
	default:
		if (join->n_records == 1) {
			record_print(stdout, &join->records[0]);
			fputs(notes, stdout);
		} else {
			join_print(stdout, join, notes, options->nodes);
		}
		return 0;
	}
}

/* Takes the records of @found. Returns the number of missing hosts, or negative errno. */
static int join_and_show(const struct options *options, struct found *found)
{
	_cleanup_(join_done) struct join join = { .n_records = 0 };
	_cleanup_free_ char *notes = NULL;
	size_t size_bytes, n_missing;
	FILE *out = open_memstream(&notes, &size_bytes);
	int r;

	if (!out)
		return -ENOMEM;
	notes_leave_out_twins(found->records, &found->n_records, out);
	r = join_records(&found->records, found->n_records, &join);
	n_missing = r == 0 ? notes_write_missing(&join, &options->hosts, out) : 0;
	if (r == 0 && join.n_records > 1)
		notes_write(&join, out);
	if (fclose(out) == EOF)
		r = -ENOMEM;
	if (r == 0)
		r = show(options, &join, notes);
	return r < 0 ? r : (int)n_missing;
}

static int report(const struct options *options)
{
	_cleanup_(found_done) struct found found = { .n_records = 0 };
	int r;

	read_all(options, &found);
	if (!found.n_records) {
		fprintf(stderr, "uncore report: there is no record to show.\n");
		return EXIT_FAILED;
	}
	r = join_and_show(options, &found);
	if (r < 0)
		fprintf(stderr, "uncore report: cannot join the records: %s.\n", strerror(-r));
	return r || found.failed ? EXIT_FAILED : 0;
}

int command_report(int argc, char **argv)
{
	struct options options = { .output = TABLE };
	int status = parse_options(argc, argv, &options);

	if (status < 0)
		status = report(&options);
	hostlist_done(&options.hosts);
	return status;
}
