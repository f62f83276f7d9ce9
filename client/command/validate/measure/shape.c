/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/text.h"
#include "common/tiers.h"

/* Sums of the normal equations of: share read x reads + share written x writes = share shown. */
struct sums {
	double rr, rw, ww, rs, ws;
};

/* Gives every kernel the same weight, however many bytes it moves. */
static void shape_add_sample(struct sums *sums, const struct measured *kernel, double bytes)
{
	const double total = measured_total(kernel), shown = bytes / total;
	const double read = kernel->predicted.read / total;
	const double written = kernel->predicted.written / total;

	sums->rr += read * read;
	sums->rw += read * written;
	sums->ww += written * written;
	sums->rs += read * shown;
	sums->ws += written * shown;
}

/* The error is for an error of 1 at each kernel: the larger of the two variances. */
static struct fit solve(const struct sums *sums)
{
	double determinant = sums->rr * sums->ww - sums->rw * sums->rw;

	if (determinant < 1e-6)
		return (struct fit){ 0 };
	return (struct fit){
		.reads = (sums->rs * sums->ww - sums->ws * sums->rw) / determinant,
		.writes = (sums->ws * sums->rr - sums->rs * sums->rw) / determinant,
		.error = sqrt(fmax(sums->rr, sums->ww) / determinant),
	};
}

struct fit fit_series(
	const struct measured *const kernels[], unsigned n, uint32_t series, bool with_others)
{
	struct sums sums = { 0 };
	struct fit fit;
	double error = 0;

	for (unsigned i = 0; series != PROBE_NONE && i < n; i++) {
		const struct measured *kernel = kernels[i];
		const double others = with_others ? kernel->others[series] : 0;

		shape_add_sample(&sums, kernel, kernel->bytes[series] + others);
		error = fmax(error, kernel->errors[series] / measured_total(kernel));
	}
	fit = solve(&sums);
	fit.error *= error;
	return fit;
}

/* --- the shape --- */

/*
 * How far off a right counter may be. Kernels move some lines at the ends of their arrays, and page
 * tables, that no model counts. They also evict lines of others. That shows where nothing else
 * does: as different shares of reads and writes, of up to 0.6 % on a simulated machine. So a
 * mixture means something only from NO_MIXTURE on. A pure shape means something from SHAPE_LEAST
 * on.
 */
static const double TOLERANCE = 0.03, NO_MIXTURE = 0.02;

bool shape_is_near(double value, double wanted, double tolerance)
{
	return fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted));
}

struct shown shape_of(const struct fit *fit)
{
	struct shown shown = { .fit = *fit };
	double larger = fmax(fabs(fit->reads), fabs(fit->writes)), reads, writes, tolerance;

	shown.scale = larger;
	shown.tolerance = TOLERANCE + SHAPE_ERRORS * fit->error;
	if (larger < SHAPE_LEAST + SHAPE_ERRORS * fit->error)
		return shown;
	reads = fit->reads / larger;
	writes = fit->writes / larger;
	tolerance = TOLERANCE + SHAPE_ERRORS * fit->error / larger;
	if (shape_is_near(reads, 1, tolerance) && shape_is_near(writes, 0, tolerance))
		shown.shape = SHAPE_READS;
	else if (shape_is_near(reads, 0, tolerance) && shape_is_near(writes, 1, tolerance))
		shown.shape = SHAPE_WRITES;
	else if (shape_is_near(reads, 1, tolerance) && shape_is_near(writes, 1, tolerance))
		shown.shape = SHAPE_BOTH;
	else if (larger >= NO_MIXTURE)
		shown.shape = SHAPE_MIXED;
	return shown;
}

double shape_predicted(enum shape wanted, const struct kernel_traffic *traffic)
{
	bool reads = wanted == SHAPE_READS || wanted == SHAPE_BOTH;
	bool writes = wanted == SHAPE_WRITES || wanted == SHAPE_BOTH;

	return (reads ? traffic->read + traffic->allocated : 0) + (writes ? traffic->written : 0);
}

double shape_share(enum shape wanted, const struct fit *fit)
{
	return wanted == SHAPE_READS    ? fit->reads
	       : wanted == SHAPE_WRITES ? fit->writes
					: (fit->reads + fit->writes) / 2;
}

double shape_power_of_two(double factor, double tolerance)
{
	const double power = exp2(round(log2(factor)));

	return fabs(factor / power - 1) <= tolerance ? power : 0;
}

double shape_rounded(double share)
{
	return round(100 * share) / 100 + 0.0;
}

/* --- kinds of memory --- */

#define MAY_BE_A_NODE(tier)                                                                        \
	{                                                                                          \
		2, { { tier ".read", SHAPE_READS }, { tier ".write", SHAPE_WRITES } }, true        \
	}

const struct tier *tier_nth(size_t i)
{
	static const struct tier tiers[] = {
		{ 2, { { "dram.read", SHAPE_READS }, { "dram.write", SHAPE_WRITES } }, false },
		{ 1, { { "dram.total", SHAPE_BOTH } }, false },
		TIERS_BESIDE_DRAM(MAY_BE_A_NODE),
	};

	return i < ARRAY_SIZE(tiers) ? &tiers[i] : NULL;
}

void tier_names(const struct tier *tier, char ret[TIER_NAMES_BYTES])
{
	*ret = '\0';
	for (unsigned i = 0; i < tier->n; i++)
		text_append(ret, TIER_NAMES_BYTES, "%s%s", i ? " and " : "", tier->metric[i].name);
}

bool tier_has(const struct tier *tier, const char *name)
{
	for (unsigned i = 0; i < tier->n; i++)
		if (strcmp(tier->metric[i].name, name) == 0)
			return true;
	return false;
}
