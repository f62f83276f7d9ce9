/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore compare: two outputs of `uncore stat --json`. */
#include "client/command/compare/compare.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/ratio/pairs.h"
#include "common/macro.h"
#include "common/text.h"

/* --- telling --- */

static void print_verdict(const struct compare_pair *pair, double percent, int at)
{
	char text[COMPARE_VERDICT_MAX];

	compare_verdict(pair, percent, text);
	output_style(stdout, strcmp(text, "more") == 0   ? STYLE_BAD
			     : strcmp(text, "less") == 0 ? STYLE_GOOD
							 : STYLE_PLAIN);
	output_rest((size_t)at, 5, "%s", text);
	output_style(stdout, STYLE_PLAIN);
}

static void print_pair(const struct compare_pair *pair, double percent)
{
	int at = printf(" %-14s ", pair->name);

	if (pair->why) {
		output_rest((size_t)at, 5, "not comparable: %s", pair->why);
		return;
	}
	at += printf("%8.4f %8.4f to %8.4f ", pair->ratio, pair->low, pair->high);
	print_verdict(pair, percent, at);
}

static void compare_print_all(const struct compare_pair pairs[], size_t n, double percent)
{
	bool has_scatter = true, is_any = false;

	printf(" %-14s %8s %20s\n", "metric", "B / A", "interval");
	for (size_t i = 0; i < n; i++) {
		if (pairs[i].region && (!i || pairs[i].region != pairs[i - 1].region)) {
			printf(" region ");
			text_print_plain(stdout, pairs[i].region);
			printf("\n");
		}
		print_pair(&pairs[i], percent);
		has_scatter &= pairs[i].why || pairs[i].has_scatter;
		is_any |= !pairs[i].why;
	}
	if (is_any)
		fputs(has_scatter ? " The intervals hold together in 95 % of cases.\n"
				  : " Fewer than 3 runs: these intervals hold only the error "
				    "bound of the windows,\n and no scatter of runs.\n",
			stdout);
}

static int compare_documents(const struct json_value *a, const struct json_value *b,
	const struct compare_options *options)
{
	_cleanup_(pairs_done) struct compare all = { .n = 0 };

	pairs_take(a, b, &all);
	compare_judge(all.pairs, all.n);
	compare_print_all(all.pairs, all.n, options->within);
	return options->fail_above > 0 ? limit_status(compare_limits(&all, options->fail_above))
				       : 0;
}

int command_compare(int argc, char **argv)
{
	struct compare_options options = { .within = COMPARE_WITHIN };
	_cleanup_(json_document_done) struct json_document first = { .text = NULL };
	_cleanup_(json_document_done) struct json_document second = { .text = NULL };
	const struct json_value *a, *b;
	int status = option_parse(&compare_table, argc, argv, &options, NULL);

	if (status >= 0)
		return status;
	if (argc - optind != 2)
		return option_complain(&compare_table, "it takes two FILEs: outputs of `uncore "
						       "stat -r 5 --json -o A.json -- ./app`, or "
						       "of `uncore report --json`");
	a = pairs_read("uncore compare", argv[optind], &first);
	b = a ? pairs_read("uncore compare", argv[optind + 1], &second) : NULL;
	return b ? compare_documents(a, b, &options) : EXIT_USAGE;
}
