/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/quantity.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"

static const char *const bytes_units[] = { "B", "KB", "MB", "GB", "TB", "PB", "EB" };
static const char *const time_units[] = { "ns", "us", "ms", "s" };

/* "1.23", "12.3", "123": the limits allow for rounding up. Whole numbers get no decimals. */
static void write_digits(double number, const char *unit, char ret_text[QUANTITY_MAX])
{
	int n_decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;

	if (number >= 99999.5)
		snprintf(ret_text, QUANTITY_MAX, "%.2e %s", number, unit);
	else
		snprintf(ret_text, QUANTITY_MAX, "%.*f %s", n_decimals, number, unit);
}

/* Chooses the unit in which @number, given in the first unit, has one to three digits. */
static void write_scaled(
	double number, const char *const units[], size_t n_units, char ret_text[QUANTITY_MAX])
{
	size_t unit = 0;

	if (!isfinite(number) || number < 0) {
		strcpy(ret_text, "?");
		return;
	}
	if (number < 999.5 && number == floor(number)) {
		snprintf(ret_text, QUANTITY_MAX, "%.0f %s", number, units[0]);
		return;
	}
	while (number >= 999.5 && unit + 1 < n_units) {
		number /= 1000;
		unit++;
	}
	write_digits(number, units[unit], ret_text);
}

void quantity_bytes(double bytes, char ret_text[QUANTITY_MAX])
{
	write_scaled(bytes, bytes_units, ARRAY_SIZE(bytes_units), ret_text);
}

void quantity_rate(double bytes_per_ns, char ret_text[QUANTITY_MAX])
{
	write_scaled(1e9 * bytes_per_ns, bytes_units, ARRAY_SIZE(bytes_units), ret_text);
	if (*ret_text != '?')
		strcat(ret_text, "/s"); /* at most "1.23e+308 EB" so far */
}

void quantity_time(double time_ns, char ret_text[QUANTITY_MAX])
{
	write_scaled(time_ns, time_units, ARRAY_SIZE(time_units), ret_text);
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

void quantity_plain(double number, char ret_text[QUANTITY_MAX])
{
	if (isfinite(number))
		snprintf(ret_text, QUANTITY_MAX, "%.6g", number);
	else
		strcpy(ret_text, "?");
}
