/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/validate/kernels/kernel.h"
#include "common/number.h"

enum {
	TIME_S_MAX = 3600,
	NODE_MAX = 1023,
	THREADS_MAX = 1024,
	HALO_MAX = 65536,
	SIZE_LEAST = 16,
	EDGE_MAX = 65536, /* of a matrix or a cube */
};
static const uint64_t SIZE_MAX_ELEMENTS = UINT64_C(1) << 34, CACHE_LEAST = 65536,
		      CACHE_MOST = UINT64_C(1) << 36;
static const double ERROR_LEAST = 0.1, ERROR_MOST = 20; /* percent */

static void write_help(void)
{
	printf("Usage: uncore validate [OPTION...]\n"
	       "Run kernels of which it is known how many bytes they move, on each NUMA node, and "
	       "say\n"
	       "whether uncored's counters show that: right, or what is wrong. Needs no privilege; "
	       "use\n"
	       "it while the machine is idle.\n\n"
	       "  -q, --quick         only what the verdict needs: no evasion, no remote memory\n"
	       "      --node LIST     only these NUMA nodes\n"
	       "  -e, --error PERCENT repeat until the standard error is below (%g to %g; 1)\n"
	       "  -t, --time SECONDS  ... but no longer for one kernel (1 to %d; 10)\n"
	       "      --cache SIZE    last-level cache of a node, where the machine tells it "
	       "wrongly\n"
	       "                      (8M, 512K, bytes)\n"
	       "  -j, --json          print JSON: a report that a site can send in\n"
	       "      --host-name     ... with the name of the host\n"
	       "  -o, --output FILE   print to FILE\n"
	       "      --keep          also write /var/lib/uncored/validated.json, for `uncore "
	       "info`\n"
	       "                      (root)\n\n"
	       "One kernel over cores and sizes, without a verdict:\n"
	       "  -k, --kernel NAME   this kernel; `list` shows all\n"
	       "      --threads LIST  numbers of threads (1-8,16; all cores of the node)\n"
	       "      --size LIST     elements, columns or N, as `--kernel list` says\n"
	       "      --halo LIST     elements behind each row that are left out (halocopy)\n"
	       "      --csv           print CSV\n\n"
	       "      --socket PATH   where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                      /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: 0 right; 1 a defect; 3 inconclusive; 125 nothing could be measured, "
	       "or\n"
	       "the result not be written; 2 for a wrong option.\n",
		ERROR_LEAST, ERROR_MOST, TIME_S_MAX);
}

static int complain(const char *option, const char *wanted, const char *text)
{
	fprintf(stderr, "uncore validate: %s is %s, not %s.\n", option, wanted, text);
	return EXIT_USAGE;
}

/* --- values --- */

/* Takes "1-4,8" of numbers from @least to @most. */
static bool parse_list(const char *text, uint64_t least, uint64_t most, struct options_list *ret)
{
	ret->n = 0;
	do {
		uint64_t first, last;

		text = number_parse_range(text, most, &first, &last);
		if (!text || first < least || last - first >= OPTIONS_LIST_MAX - ret->n)
			return false;
		for (; first <= last; first++)
			ret->number[ret->n++] = first;
	} while (*text++ == ',');
	return text[-1] == '\0';
}

/* Takes "8M". */
static bool parse_bytes(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	uint64_t number, shift = 0;
	const char *rest = number_parse(text, 10, CACHE_MOST, &number);

	for (unsigned i = 0; rest && *rest && units[i]; i++)
		if (*rest == units[i]) {
			shift = 10 * (i + 1);
			rest++;
			break;
		}
	if (!rest || *rest || number > CACHE_MOST >> shift || number << shift < CACHE_LEAST)
		return false;
	*ret = number << shift;
	return true;
}

static bool parse_percent(const char *text, double *ret)
{
	double percent;

	if (!number_parse_percent(text, &percent) || percent < ERROR_LEAST || percent > ERROR_MOST)
		return false;
	*ret = percent;
	return true;
}

static bool parse_time(const char *text, double *ret)
{
	uint64_t seconds;

	if (!number_parse_whole(text, 10, TIME_S_MAX, &seconds) || seconds < 1)
		return false;
	*ret = (double)seconds;
	return true;
}

/* --- options --- */

enum { NODE = 256, CACHE, HOST_NAME, KEEP, THREADS, SIZE, HALO, CSV, SOCKET };

static const struct option names[] = {
	{ "quick", no_argument, NULL, 'q' },
	{ "node", required_argument, NULL, NODE },
	{ "error", required_argument, NULL, 'e' },
	{ "time", required_argument, NULL, 't' },
	{ "cache", required_argument, NULL, CACHE },
	{ "json", no_argument, NULL, 'j' },
	{ "host-name", no_argument, NULL, HOST_NAME },
	{ "output", required_argument, NULL, 'o' },
	{ "keep", no_argument, NULL, KEEP },
	{ "kernel", required_argument, NULL, 'k' },
	{ "threads", required_argument, NULL, THREADS },
	{ "size", required_argument, NULL, SIZE },
	{ "halo", required_argument, NULL, HALO },
	{ "csv", no_argument, NULL, CSV },
	{ "socket", required_argument, NULL, SOCKET },
	{ "help", no_argument, NULL, 'h' },
	{},
};

static int list_kernels(void)
{
	const struct kernel *kernel;

	for (size_t i = 0; (kernel = kernel_nth(i)); i++)
		printf("%-9s %s; --size: %s%s%s\n", kernel->name, kernel->what, kernel->measure,
			kernel->absent ? ". Not here: " : "", kernel->absent ? kernel->absent : "");
	return 0;
}

/* Returns -1 to go on, or the exit status. */
static int take_kernel(struct validate_options *options)
{
	const struct kernel *kernel = kernel_find(optarg);

	if (!kernel && optarg[0] == 'l' && !strcmp(optarg, "list"))
		return list_kernels();
	if (!kernel)
		return complain("--kernel", "one of those that `--kernel list` shows", optarg);
	options->kernel = optarg;
	return -1;
}

static int take_list(const char *option, uint64_t least, uint64_t most, struct options_list *ret)
{
	char wanted[160];

	if (parse_list(optarg, least, most, ret))
		return -1;
	snprintf(wanted, sizeof wanted,
		"a list of at most %d numbers from %llu to %llu, like 1-4,8", OPTIONS_LIST_MAX,
		(unsigned long long)least, (unsigned long long)most);
	return complain(option, wanted, optarg);
}

/* Options with a value; returns -1 to go on, or the exit status. */
static int take_value(int letter, struct validate_options *options)
{
	switch (letter) {
	case NODE:
		return take_list("--node", 0, NODE_MAX, &options->nodes);
	case THREADS:
		return take_list("--threads", 1, THREADS_MAX, &options->threads);
	case SIZE:
		return take_list("--size", SIZE_LEAST, SIZE_MAX_ELEMENTS, &options->sizes);
	case HALO:
		return take_list("--halo", 0, HALO_MAX, &options->halos);
	case CACHE:
		return parse_bytes(optarg, &options->cache_bytes)
			       ? -1
			       : complain("--cache", "a size from 64K to 64G, like 8M", optarg);
	case 'e':
		return parse_percent(optarg, &options->error)
			       ? -1
			       : complain("--error", "a percentage from 0.1 to 20", optarg);
	case 't':
		return parse_time(optarg, &options->time_s)
			       ? -1
			       : complain("--time", "a number of seconds from 1 to 3600", optarg);
	case 'k':
		return take_kernel(options);
	case 'o':
		options->output_path = optarg;
		return -1;
	default:
		options->socket_path = optarg;
		return -1;
	}
}

static int take_option(int letter, struct validate_options *options)
{
	switch (letter) {
	case 'q':
		options->quick = true;
		return -1;
	case 'j':
		options->json = true;
		return -1;
	case HOST_NAME:
		options->host_name = true;
		return -1;
	case KEEP:
		options->keep = true;
		return -1;
	case CSV:
		options->csv = true;
		return -1;
	case 'h':
		write_help();
		return 0;
	case '?':
		fprintf(stderr, "See `uncore validate --help`.\n");
		return EXIT_USAGE;
	default:
		return take_value(letter, options);
	}
}

static bool is_too_large(const struct validate_options *options)
{
	bool is_edge =
		options->kernel && strcmp(kernel_find(options->kernel)->measure, "elements") != 0;
	bool found = false;

	for (unsigned i = 0; i < options->sizes.n; i++)
		found |= is_edge && options->sizes.number[i] > EDGE_MAX;
	return found;
}

/* Which options go together. */
static int check(const struct validate_options *options)
{
	const char *complaint = NULL;

	if (!options->kernel &&
		(options->threads.n || options->sizes.n || options->halos.n || options->csv))
		complaint = "--threads, --size, --halo and --csv need --kernel NAME";
	else if (options->kernel && (options->keep || options->json || options->quick))
		complaint = "--kernel gives no verdict: it takes no --json, --keep and --quick";
	else if (options->keep && options->nodes.n)
		complaint = "--keep is for all nodes: it takes no --node";
	else if (options->host_name && !options->json)
		complaint = "--host-name belongs to --json";
	else if (is_too_large(options))
		complaint = "--size is at most 65536 for this kernel";
	if (!complaint)
		return -1;
	fprintf(stderr, "uncore validate: %s. See `uncore validate --help`.\n", complaint);
	return EXIT_USAGE;
}

int validate_options_parse(int argc, char **argv, struct validate_options *ret)
{
	int letter, status;

	*ret = (struct validate_options){ .error = 1, .time_s = 10 };
	while ((letter = getopt_long(argc, argv, "qe:t:jo:k:h", names, NULL)) != -1) {
		status = take_option(letter, ret);
		if (status >= 0)
			return status;
	}
	ret->error /= 100;
	if (optind == argc)
		return check(ret);
	fprintf(stderr, "uncore validate: takes no argument %s; see `uncore validate --help`.\n",
		argv[optind]);
	return EXIT_USAGE;
}
