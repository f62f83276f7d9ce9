/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/shape.h"

#include <math.h>

/*
 * How far off a right counter may be. Kernels move some lines at the ends of their arrays, and page
 * tables, that no model counts. They also evict lines of others. That shows where nothing else
 * does: as different shares of reads and writes, of up to 0.6 % on a simulated machine. So a
 * mixture means something only from NO_MIXTURE on. A pure shape means something from NOTHING on,
 * since the smallest known wrong scale is 1/128 (counts taken for bytes).
 */
static const double TOLERANCE = 0.03, NOTHING = 0.007, NO_MIXTURE = 0.02;
enum { ERRORS = 3 }; /* standard errors that chance may add */

bool shape_is_near(double value, double wanted, double tolerance)
{
	return fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted));
}

struct shown shape_of(const struct fit *fit)
{
	struct shown shown = { .fit = *fit };
	double larger = fmax(fabs(fit->reads), fabs(fit->writes)), reads, writes, tolerance;

	shown.scale = larger;
	shown.tolerance = TOLERANCE + ERRORS * fit->error;
	if (larger < NOTHING + ERRORS * fit->error)
		return shown;
	reads = fit->reads / larger;
	writes = fit->writes / larger;
	tolerance = TOLERANCE + ERRORS * fit->error / larger;
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

const char *shape_words(enum shape shape)
{
	static const char *const words[] = {
		[SHAPE_NOTHING] = "nothing",
		[SHAPE_READS] = "the reads",
		[SHAPE_WRITES] = "the writes",
		[SHAPE_BOTH] = "reads and writes together",
		[SHAPE_MIXED] = "different shares of reads and writes",
	};

	return words[shape];
}

bool shape_is_right(const struct shown *shown, enum shape wanted)
{
	return shown->shape == wanted && shape_is_near(shown->scale, 1, shown->tolerance);
}

double shape_predicted(enum shape wanted, const struct kernel_traffic *traffic)
{
	bool reads = wanted == SHAPE_READS || wanted == SHAPE_BOTH;
	bool writes = wanted == SHAPE_WRITES || wanted == SHAPE_BOTH;

	return (reads ? traffic->read + traffic->allocated : 0) + (writes ? traffic->written : 0);
}

double shape_rounded(double share)
{
	return round(100 * share) / 100 + 0.0;
}
