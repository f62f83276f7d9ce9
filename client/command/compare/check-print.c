/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/compare/compare.h"

#include <stdint.h>

#include "client/report/format.h"
#include "client/report/quantity.h"
#include "common/text.h"

enum { CELL_MAX = 48 };

/* What differs between a terminal and a merge request. */
static const struct form {
	const char *heading, *row, *unlike, *after;
} forms[] = {
	{ " %-16s %10s %10s %9s  %-17s %s\n", " %-16s %10s %10s %9s  %-17s %s\n", " %-16s %s\n",
		"" },
	{ "| %s | %s | %s | %s | %s | %s |\n|---|--:|--:|--:|--:|---|\n",
		"| `%s` | %s | %s | %s | %s | %s |\n", "| `%s` | | | | | %s |\n", "\n" },
};

/* By what compare_limit() and compare_limits() say, from -1 on. */
static const char *const verdicts[] = { "fits", "cannot tell", "MORE" };
static const char *const sentences[] = {
	"Fits: no metric grew by more than that.",
	"Cannot tell: the runs scatter too much. Give it more `--time`, or a baseline of more "
	"runs.",
	"More: at least one metric grew by more than that.",
};

static void check_print_row(
	FILE *out, const struct form *form, const struct compare_pair *pair, double max_growth)
{
	char before[QUANTITY_MAX], now[QUANTITY_MAX], change[CELL_MAX], interval[CELL_MAX];

	if (pair->why) {
		fprintf(out, form->unlike, pair->name,
			pair->both_zero ? "fits: both are 0" : pair->why);
		return;
	}
	quantity_bytes(compare_mean(&pair->a), before);
	quantity_bytes(compare_mean(&pair->b), now);
	snprintf(change, sizeof change, "%+.2f %%", 100 * (pair->ratio - 1));
	snprintf(interval, sizeof interval, "%+.2f to %+.2f", 100 * (pair->low - 1),
		100 * (pair->high - 1));
	fprintf(out, form->row, pair->name, before, now, change, interval,
		verdicts[1 + compare_limit(pair, max_growth)]);
}

static void print_title(FILE *out, const struct check_result *result, bool markdown)
{
	const struct compare_pair *first = result->all->n ? &result->all->pairs[0] : NULL;

	fputs(markdown ? "### Memory traffic of `" : " Memory traffic of '", out);
	for (char **word = result->options->command; *word; word++) {
		fputs(word == result->options->command ? "" : " ", out);
		text_print_plain(out, *word);
	}
	fputs(markdown ? "`\n\n" : "'\n ", out);
	if (first)
		fprintf(out, "%zu runs against %zu of ", first->b.n, first->a.n);
	text_print_plain(out, result->options->against);
	fprintf(out, "; it may grow by %g %%.\n\n", result->options->max_growth);
}

void check_print(FILE *out, const struct check_result *result, bool markdown)
{
	const struct form *form = &forms[markdown];

	print_title(out, result, markdown);
	fprintf(out, form->heading, "metric", "baseline", "now", "change", "interval, %", "");
	for (size_t i = 0; i < result->all->n; i++)
		check_print_row(out, form, &result->all->pairs[i], result->options->max_growth);
	fputs(form->after, out);
	if (*result->left_out)
		fprintf(out, " Below 1 %% of the largest, and not judged:%s.%s\n", result->left_out,
			form->after);
	fputs(" ", out);
	text_fold_to(out, sentences[1 + result->side], 1, 3, text_line(out, SIZE_MAX));
	fputs(form->after, out);
	format_caveats(out, result->platform, "this command");
}
