/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/top/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/blocks.h"
#include "common/macro.h"
#include "common/unit.h"

/* Of lines in a wide window, and in a narrow one. */
static const struct columns {
	int label, rate, digits;
	bool has_both;
} wide = { 13, 10, 3, true }, narrow = { 9, 7, 1, false };

enum {
	NARROW = 60,
	BAR_MIN = 6,
	SHARE = sizeof "  100 %v" - 1, /* what follows a bar */
	OF = sizeof " of 1234.5" - 1,  /* ... if there is room */
	OF_FROM = BAR_MIN + SHARE + OF + 10,
};

/* Shares of a peak from which on a bar has another colour. */
static const double BUSY = 0.5, FULL = 0.8;

void top_page_style(const struct top_page *page, enum output_style style)
{
	if (page->form->colours)
		fputs(output_code(style), page->out);
}

void top_page_write_line(const struct top_page *page, enum output_style style, const char *text)
{
	top_page_style(page, style);
	fputs(text, page->out);
	top_page_style(page, STYLE_PLAIN);
	fputc('\n', page->out);
}

static const struct columns *top_page_columns_of(const struct top_page *page)
{
	return page->form->width < NARROW ? &narrow : &wide;
}

/* --- a tier --- */

static void top_page_write_rate(const struct top_page *page, double rate)
{
	const struct columns *columns = top_page_columns_of(page);

	if (isnan(rate))
		fprintf(page->out, "%*s", columns->rate, "-");
	else
		fprintf(page->out, "%*.*f", columns->rate, columns->digits, rate);
}

/* A bar and what it says, in @room columns. */
static void top_page_write_share(const struct top_page *page, const struct tier *tier,
	const struct course_tier *course, int room)
{
	const double reads = tier_rate(tier->reads) / course->full;
	const double share = tier_rate(tier->both) / course->full;
	const bool has_of = room >= OF_FROM;
	const int bar = room - 1 - SHARE - (has_of ? OF : 0);

	if (isnan(share) || !(course->full > 0) || bar < BAR_MIN)
		return;
	fputc(' ', page->out);
	if (course->is_peak)
		top_page_style(page, share < BUSY   ? STYLE_GOOD
				     : share < FULL ? STYLE_DOUBT
						    : STYLE_BAD);
	/* What is not known to be a write counts as a read. */
	blocks_bar(page->out, isnan(reads) ? share : reads, isnan(reads) ? 0 : share - reads,
		(unsigned)(bar < COURSE_SECONDS ? bar : COURSE_SECONDS), page->form->utf8);
	top_page_style(page, STYLE_PLAIN);
	fprintf(page->out, " %4.0f %%%s", 100 * share, course->is_peak ? "v" : "");
	if (has_of)
		fprintf(page->out, " of %.1f", course->full);
}

static const char *top_page_why_absent(const struct tier *tier)
{
	const struct format_value *value = tier->reads ? tier->reads : tier->writes;

	value = value ? value : tier->both;
	return value->why ? value->why : "";
}

static bool top_page_is_known(const struct tier *tier)
{
	return !isnan(tier_rate(tier->reads)) || !isnan(tier_rate(tier->writes)) ||
	       !isnan(tier_rate(tier->both));
}

static void top_page_write_tier(const struct top_page *page, const char *label,
	const struct tier *tier, const struct course_tier *course)
{
	const struct columns *columns = top_page_columns_of(page);
	const int used = columns->label + columns->rate * (columns->has_both ? 3 : 2);

	fprintf(page->out, "%-*.*s", columns->label, columns->label, label);
	if (!top_page_is_known(tier)) {
		fprintf(page->out, " absent: %s\n", top_page_why_absent(tier));
		return;
	}
	top_page_write_rate(page, tier_rate(tier->reads));
	top_page_write_rate(page, tier_rate(tier->writes));
	if (columns->has_both)
		top_page_write_rate(page, tier_rate(tier->both));
	top_page_write_share(page, tier, course, (int)page->form->width - used);
	fputc('\n', page->out);
}

static void write_minute(const struct top_page *page, const struct course_tier *course)
{
	const unsigned used = sizeof "   last 60 s  " - 1, width = page->form->width;
	const unsigned n = width < used + COURSE_SECONDS ? width - used : COURSE_SECONDS;

	if (page->detail < PAGE_MINUTE || width <= used)
		return;
	fprintf(page->out, "   last %2u s  ", n);
	blocks_course(
		page->out, course->minute + COURSE_SECONDS - n, n, course->full, page->form->utf8);
	fputc('\n', page->out);
}

/* A tier that no socket has is not worth a line; but what one of them lacks is. */
static bool is_worth_a_line(const struct top_page *page, unsigned number)
{
	struct tier tier;

	for (uint32_t i = 0; i < page->screen->n_sockets; i++)
		if (tier_find(&page->screen->shown[i], number, &tier) && top_page_is_known(&tier))
			return true;
	return !number;
}

/* --- a socket, or a part of one --- */

static void top_page_write_label(const struct top_page *page, const struct format_socket *socket,
	const struct tier *tier, char ret[UNCORE_NAME_MAX])
{
	const char *name = tier->name;

	if (socket->part)
		snprintf(ret, UNCORE_NAME_MAX, "   %.16s %s", socket->part,
			strcmp(name, "dram") == 0 ? "" : name);
	else if (page->detail >= PAGE_HEADINGS)
		snprintf(ret, UNCORE_NAME_MAX, "   %s", name);
	else
		snprintf(ret, UNCORE_NAME_MAX, "%" PRIu32 " %s", socket->socket, name);
}

static void write_tiers(const struct top_page *page, uint32_t i)
{
	const struct format_socket *socket = &page->screen->shown[i];
	char label[UNCORE_NAME_MAX];
	struct tier tier;

	for (unsigned k = 0; k < COURSE_TIERS; k++) {
		if (!tier_find(socket, k, &tier) || !is_worth_a_line(page, k))
			continue;
		top_page_write_label(page, socket, &tier, label);
		top_page_write_tier(page, label, &tier, &page->screen->courses[i].tiers[k]);
		if (!socket->part && top_page_is_known(&tier))
			write_minute(page, &page->screen->courses[i].tiers[k]);
	}
	if (socket->part && !socket->n_values)
		fprintf(page->out, "   %-10.10s absent: it is not known which channels it has\n",
			socket->part);
}

static uint32_t flags_of(const struct format_socket *socket)
{
	uint32_t flags = 0;

	for (uint32_t i = 0; i < socket->n_values; i++)
		if (!(socket->values[i].quality & UNCORE_ABSENT) &&
			!format_is_check(socket->values[i].name))
			flags |= socket->values[i].quality;
	return flags;
}

static void top_page_write_flags(const struct top_page *page, uint32_t flags)
{
	char words[FORMAT_QUALITY_MAX];

	uncore_quality_words(flags, words, sizeof words);
	top_page_style(page, flags ? STYLE_DOUBT : STYLE_GOOD);
	fputs(flags ? words : "good", page->out);
	top_page_style(page, STYLE_PLAIN);
}

/* @socket NULL: of all. */
static void top_page_write_heading(const struct top_page *page, const struct format_socket *socket)
{
	const struct columns *columns = top_page_columns_of(page);
	char label[32] = "socket";

	if (socket)
		snprintf(label, sizeof label, "socket %" PRIu32, socket->socket);
	top_page_style(page, STYLE_HEADING);
	fprintf(page->out, "%-*s%*s%*s%*s GB/s", columns->label, label, columns->rate, "read",
		columns->rate, "write", columns->has_both ? columns->rate : 0,
		columns->has_both ? "total" : "");
	top_page_style(page, STYLE_PLAIN);
	if (socket) {
		fputs("  ", page->out);
		top_page_write_flags(page, flags_of(socket));
	}
	if (socket && socket->window_ns) {
		fputc(' ', page->out);
		format_bound(page->out, socket, 2);
	}
	fputc('\n', page->out);
}

static bool is_of_a_tier(const struct format_socket *socket, const struct format_value *value)
{
	struct tier tier;

	for (unsigned k = 0; k < COURSE_TIERS; k++)
		if (tier_find(socket, k, &tier) &&
			(value == tier.reads || value == tier.writes || value == tier.both))
			return true;
	return false;
}

static void top_page_write_notes(const struct top_page *page, const struct format_socket *socket)
{
	const char *before = "   also ";

	for (uint32_t i = 0; i < socket->n_values; i++) {
		const struct format_value *value = &socket->values[i];

		if (value->quality & UNCORE_ABSENT || is_of_a_tier(socket, value) ||
			format_is_check(value->name))
			continue;
		fprintf(page->out, "%s%s %.3f %s", before, value->name, value->rate,
			unit_of(value->unit)->per_ns);
		before = ", ";
	}
	fputs(*before == ',' ? "\n" : "", page->out);
	format_absent(page->out, socket, socket->socket ? &page->screen->shown[0] : NULL);
}

static void top_page_write_socket(const struct top_page *page, uint32_t number)
{
	const struct screen *screen = page->screen;

	if (page->detail >= PAGE_GAPS)
		fputc('\n', page->out);
	if (page->detail >= PAGE_HEADINGS)
		top_page_write_heading(page, &screen->shown[number]);
	write_tiers(page, number);
	if (page->detail >= PAGE_NOTES)
		top_page_write_notes(page, &screen->shown[number]);
	for (uint32_t i = screen->n_sockets; i < screen->n; i++)
		if (screen->shown[i].socket == number)
			write_tiers(page, i);
}

/* --- all sockets --- */

static double busyness(const struct screen *screen, uint32_t i)
{
	struct tier tier;
	double sum = 0;

	for (unsigned k = 0; k < COURSE_TIERS; k++)
		if (tier_find(&screen->shown[i], k, &tier) && !isnan(tier_rate(tier.both)))
			sum += tier_rate(tier.both);
	return sum;
}

static void put_in_order(const struct screen *screen, uint32_t order[])
{
	for (uint32_t i = 0, k; i < screen->n_sockets; i++) {
		for (k = i; screen->by_rate && k &&
			    busyness(screen, order[k - 1]) < busyness(screen, i);
			k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

/* What bars are made of, and what a full one is; without headings the quality, too. */
static void write_legend(const struct top_page *page)
{
	const bool utf8 = page->form->utf8;
	uint32_t flags = 0;
	bool has_peak = false, has_highest = false;

	for (uint32_t i = 0; i < page->screen->n; i++) {
		flags |= flags_of(&page->screen->shown[i]);
		for (unsigned k = 0; k < COURSE_TIERS; k++) {
			const struct course_tier *tier = &page->screen->courses[i].tiers[k];

			has_peak |= tier->is_peak;
			has_highest |= !tier->is_peak && tier->full > 0;
		}
	}
	if (page->detail < PAGE_HEADINGS) {
		top_page_write_flags(page, flags);
		fputs("; ", page->out);
	}
	fprintf(page->out, "%s read %s write%s%s\n", utf8 ? "█" : "#", utf8 ? "▒" : "=",
		has_peak ? "; v: of validated peak" : "",
		has_highest && has_peak ? ", else of the highest yet"
		: has_highest           ? "; %: of the highest yet"
					: "");
}

void top_page_write_sockets(const struct top_page *page)
{
	const struct screen *screen = page->screen;
	_cleanup_free_ uint32_t *order = calloc(screen->n_sockets + 1, sizeof *order);

	if (!order)
		return;
	put_in_order(screen, order);
	if (page->detail < PAGE_HEADINGS)
		top_page_write_heading(page, NULL);
	for (uint32_t i = 0; i < screen->n_sockets; i++)
		top_page_write_socket(page, order[i]);
	if (page->detail >= PAGE_GAPS)
		fputc('\n', page->out);
	write_legend(page);
}
