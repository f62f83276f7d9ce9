/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a page shows without scripts: a table with a picture in each row, and two figures. The
 * picture is a bar of the first figure with one of the second inside, a course, or a strip.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { STILL_WIDTH = 240, STILL_ROWS_MOST = 200 };

/* Least and most in one of STILL_WIDTH parts of the time; NAN: not known. */
struct still_band {
	double least, most;
};

struct still {
	FILE *out;
	const char *caption, *columns[4];             /* HTML; name, picture, and the figures */
	void (*write)(double figure, char *ret_text); /* as in client/report/quantity.h */
	double most;                                  /* of all pictures, which have one scale */
	size_t n; /* rows so far; those past STILL_ROWS_MOST are only counted */
};

void still_begin(struct still *still);

/* @course: STILL_WIDTH bands, or NULL. NAN in @figures: absent. */
void still_row(struct still *still, const char *name, const double figures[2],
	const struct still_band *course);

/* A mark for each rank, or whatever else is compared, between 0 and the most of this strip; a box
 * from 25 % to 75 %, and the median. */
struct still_strip {
	double lower, median, upper, most;
	bool marks[STILL_WIDTH + 1];
};

/* The figures are the median and the most. */
void still_strip(struct still *still, const char *name, const struct still_strip *strip);

void still_end(struct still *still);
