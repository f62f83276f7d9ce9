/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/measured.h"

#include <math.h>
#include <stdlib.h>

/* As a share of what is predicted. A counter that shows less shows a fraction, or next to nothing,
 * and its value need not be known as well. */
static const double SHOWN_LEAST = 0.1;
/* Others are noticed from this share of what the kernel moves. */
static const double OTHERS_LEAST = 0.05;

double measured_total(const struct measured *measured)
{
	return measured->predicted.read + measured->predicted.written;
}

bool measured_notices_others(const struct measured *measured)
{
	return fabs(measured->background) > OTHERS_LEAST;
}

double measured_whole(const struct measured *measured, double shown)
{
	return fmax(shown, SHOWN_LEAST * measured_total(measured));
}

void measured_done(struct measured *measured)
{
	free(measured->bytes);
	measured->bytes = NULL;
}
