/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets on a screen of `uncore top`, with more or less of each of them. */
#pragma once

#include <stdio.h>

#include "client/command/frame/output.h"
#include "client/command/top/shown.h"

/* Each has what those before it have, too. */
enum top_detail {
	PAGE_LINES,    /* a line for each tier, with the number of its socket */
	PAGE_HEADINGS, /* ... below a heading for each socket, with its quality */
	PAGE_MINUTE,   /* the courses of the tiers */
	PAGE_NOTES,    /* other metrics, and why some are absent */
	PAGE_GAPS,     /* blank lines */
	PAGE_USERS,
};

struct top_page {
	FILE *out;
	const struct screen *screen;
	const struct screen_form *form;
	enum top_detail detail;
};

/* What follows has this style, if there are colours. */
void top_page_style(const struct top_page *page, enum output_style style);

/* A line of this style. */
void top_page_write_line(const struct top_page *page, enum output_style style, const char *text);

/* The lines of all sockets, and what a full bar is. */
void top_page_write_sockets(const struct top_page *page);
