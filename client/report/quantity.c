/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/unit.h"

/* "1.23", "12.3", "123": the limits allow for rounding up. */
static int decimals_of(double number)
{
	if (number < 9.995 || number >= 99999.5)
		return 2;
	return number < 99.95;
}

void quantity_of(const char *unit, double value, char ret_text[QUANTITY_MAX])
{
	const char *const *step = unit_of(unit)->steps, *const *last = step + UNIT_STEPS - 1;
	double number = fabs(value);
	bool is_whole = number == floor(number) && number < 999.5;

	if (!isfinite(value)) {
		strcpy(ret_text, "?");
		return;
	}
	for (; number >= 999.5 && step < last && step[1]; step++)
		number /= 1000;
	snprintf(ret_text, QUANTITY_MAX, number < 99999.5 ? "%s%.*f%s%s" : "%s%.*e%s%s",
		value < 0 ? "-" : "", is_whole ? 0 : decimals_of(number), number, **step ? " " : "",
		*step);
}

void quantity_bytes(double bytes, char ret_text[QUANTITY_MAX])
{
	quantity_of(UNIT_BYTES, bytes, ret_text);
}

void quantity_rate(double bytes_per_ns, char ret_text[QUANTITY_MAX])
{
	quantity_bytes(1e9 * bytes_per_ns, ret_text);
	if (*ret_text != '?')
		strcat(ret_text, "/s"); /* at most "-1.23e+308 EB" so far */
}

void quantity_time(double time_ns, char ret_text[QUANTITY_MAX])
{
	quantity_of("ns", time_ns, ret_text);
}

void quantity_share(double share, char ret_text[QUANTITY_MAX])
{
	double percent = 100 * share;

	if (!isfinite(share))
		strcpy(ret_text, "?");
	else if (percent > 0 && percent < 0.01)
		strcpy(ret_text, "< 0.01 %");
	else if (percent >= 99999.5)
		snprintf(ret_text, QUANTITY_MAX, "%.2e %%", percent);
	else
		snprintf(ret_text, QUANTITY_MAX, percent < 9.995 ? "%.2f %%" : "%.0f %%", percent);
}
