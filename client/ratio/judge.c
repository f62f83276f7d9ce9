/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ratio/judge.h"

static const double ALPHA = 0.05;

double compare_mean(const struct compare_side *side)
{
	double sum = 0;

	for (size_t i = 0; i < side->n; i++)
		sum += side->runs[i];
	return sum / (double)side->n;
}

static void set_interval(struct compare_pair *pair, double margin)
{
	pair->low = pair->ratio * exp(-margin);
	pair->high = pair->ratio * exp(margin);
}

/* The ratio, and the interval of the windows, which says nothing about the scatter of runs. */
static void judge_begin_pair(struct compare_pair *pair)
{
	const size_t least = pair->a.n < pair->b.n ? pair->a.n : pair->b.n;

	pair->has_scatter = least >= COMPARE_RUNS_MIN;
	if (pair->has_scatter)
		pair->welch = welch_test(pair->a.runs, pair->a.n, pair->b.runs, pair->b.n);
	pair->ratio = pair->has_scatter ? exp(pair->welch.difference)
					: compare_mean(&pair->b) / compare_mean(&pair->a);
	set_interval(pair, pair->a.bound + pair->b.bound);
}

static int by_p(const void *a, const void *b)
{
	const struct compare_pair *const *x = a, *const *y = b;

	return ((*x)->welch.p > (*y)->welch.p) - ((*x)->welch.p < (*y)->welch.p);
}

/*
 * Holm's order: the least p is held against ALPHA / n, the next one against ALPHA / (n - 1), until
 * one is above. So the chance of any false difference is ALPHA at most. An interval has the level
 * that its metric was held against, and so excludes 1 when there is a difference.
 */
static void judge_in_order(struct compare_pair *sorted[], size_t n)
{
	bool rejects = true;
	double alpha = ALPHA;

	qsort(sorted, n, sizeof *sorted, by_p);
	for (size_t i = 0; i < n; i++) {
		struct compare_pair *pair = sorted[i];

		if (rejects)
			alpha = ALPHA / (double)(n - i);
		rejects &= pair->welch.p < alpha;
		pair->is_different = rejects;
		if (pair->welch.error > 0)
			set_interval(pair, welch_margin(&pair->welch, alpha));
	}
}

void compare_judge(struct compare_pair pairs[], size_t n)
{
	struct compare_pair *sorted[COMPARE_METRICS_MAX] = {};
	size_t n_sorted = 0;

	for (size_t i = 0; i < n; i++) {
		if (pairs[i].why)
			continue;
		judge_begin_pair(&pairs[i]);
		if (pairs[i].has_scatter)
			sorted[n_sorted++] = &pairs[i];
	}
	judge_in_order(sorted, n_sorted);
}

int compare_limit(const struct compare_pair *pair, double percent)
{
	const double limit = 1 + percent / 100;

	if (pair->both_zero)
		return -1;
	if (pair->why || !pair->has_scatter)
		return 0;
	return pair->low > limit ? 1 : pair->high <= limit ? -1 : 0;
}

int compare_limits(const struct compare *all, double percent)
{
	int side = all->n ? -1 : 0;

	for (size_t i = 0; i < all->n && side <= 0; i++) {
		const int one = compare_limit(&all->pairs[i], percent);

		side = one < 0 ? side : one;
	}
	return side;
}

double compare_runs_needed(const struct compare_pair *pair, double percent)
{
	const double n = (double)(pair->a.n > pair->b.n ? pair->a.n : pair->b.n);
	const double half = log(pair->high / pair->low) / 2, wanted = log1p(percent / 100) / 2;

	return fmax(ceil(n * pow(half / wanted, 2)), n + 1);
}

void compare_verdict(
	const struct compare_pair *pair, double percent, char ret_text[COMPARE_VERDICT_MAX])
{
	const double more = 1 + percent / 100;

	if (!pair->has_scatter)
		snprintf(ret_text, COMPARE_VERDICT_MAX, "cannot tell (needs %d runs of each)",
			COMPARE_RUNS_MIN);
	else if (pair->low > 1 / more && pair->high < more)
		snprintf(ret_text, COMPARE_VERDICT_MAX, "within %g %%", percent);
	else if (pair->is_different)
		strcpy(ret_text, pair->ratio > 1 ? "more" : "less");
	else
		snprintf(ret_text, COMPARE_VERDICT_MAX, "cannot tell (needs about %.0f runs)",
			compare_runs_needed(pair, percent));
}
