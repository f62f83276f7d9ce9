/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/validate/kernels/kernel.h"
#include "common/text.h"

enum { EDGE_MAX = 65536 }; /* of a matrix or a cube */

static int list_kernels(void)
{
	const struct kernel *kernel;

	for (size_t i = 0; (kernel = kernel_nth(i)); i++)
		printf("%-9s %s; --size: %s%s%s\n", kernel->name, kernel->what, kernel->measure,
			kernel->absent ? ". Not here: " : "", kernel->absent ? kernel->absent : "");
	return 0;
}

static int take_kernel(const struct option_row *row, const char *text, void *ret)
{
	struct validate_options *options = ret;

	(void)row;
	if (kernel_find(text)) {
		options->kernel = text;
		return -1;
	}
	if (strcmp(text, "list") == 0)
		return list_kernels();
	return option_complain(&validate_table,
		"--kernel takes one of the names that `--kernel list` prints, and got \"%s\"",
		text);
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
static int validate_check_options(const struct validate_options *options)
{
	const char *complaint = NULL;

	if (!options->kernel &&
		(options->threads.n || options->sizes.n || options->halos.n || options->csv))
		complaint = "--threads, --size, --halo and --csv need --kernel NAME";
	else if (options->kernel && (options->keep || options->json || options->html ||
					    options->report || options->quick))
		complaint = "--kernel gives no verdict: it takes no --json, --html, --report, "
			    "--keep and --quick";
	else if (options->keep && options->nodes.n)
		complaint = "--keep is for all nodes: it takes no --node";
	else if (options->report && options->nodes.n)
		complaint = "--report is of all nodes: it takes no --node";
	else if (options->host_name && options->report)
		complaint = "--report names no host: it takes no --host-name";
	else if (options->host_name && !options->json && !options->html)
		complaint = "--host-name belongs to --json and --html";
	else if (is_too_large(options))
		complaint = "--size takes at most 65536 for this kernel";
	if (!complaint)
		return -1;
	return option_complain(&validate_table, "%s", complaint);
}

void validate_options_text(
	const struct validate_options *options, char ret[static VALIDATE_COMMAND_MAX])
{
	snprintf(ret, VALIDATE_COMMAND_MAX, "uncore validate%s --error %g --time %" PRIu64,
		options->quick ? " --quick" : "", 100 * options->error, options->time_s);
	if (options->cache_bytes)
		text_append(ret, VALIDATE_COMMAND_MAX, " --cache %" PRIu64, options->cache_bytes);
	for (unsigned i = 0; i < options->nodes.n; i++)
		text_append(ret, VALIDATE_COMMAND_MAX, "%s%" PRIu64, i ? "," : " --node ",
			options->nodes.number[i]);
}

int validate_options_parse(int argc, char **argv, struct validate_options *ret)
{
	int status;

	*ret = (struct validate_options){ .error = 1, .time_s = 10 };
	status = option_parse(&validate_table, argc, argv, ret, take_kernel);
	if (status >= 0)
		return status;
	ret->error /= 100;
	status = option_no_argument(&validate_table, argc, argv);
	return status < 0 ? validate_check_options(ret) : status;
}
