/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/page/still.h"

#include <math.h>
#include <string.h>

#include "client/command/page/page.h"
#include "client/report/quantity.h"

enum { HEIGHT = 24 };

void still_begin(struct still *still)
{
	fprintf(still->out,
		"<div class=\"wide\" tabindex=\"0\"><table><caption>%s</caption><thead><tr>",
		still->caption);
	for (int i = 0; i < 4; i++)
		fprintf(still->out, "<th scope=\"col\">%s</th>", still->columns[i]);
	fputs("</tr></thead><tbody>\n", still->out);
}

static double pixels(double part, double most, int size)
{
	return part > 0 && most > 0 ? fmin(part / most, 1) * size : 0;
}

static void write_bar(const struct still *still, const double figures[2])
{
	fprintf(still->out,
		"<rect class=\"read\" y=\"2\" width=\"%.1f\" height=\"20\"/>"
		"<rect class=\"write\" y=\"8\" width=\"%.1f\" height=\"8\"/>",
		pixels(figures[0], still->most, STILL_WIDTH),
		pixels(figures[1], still->most, STILL_WIDTH));
}

/* A line from the least to the most of each band. */
static void still_write_course(const struct still *still, const struct still_band *course)
{
	fputs("<path class=\"course\" d=\"", still->out);
	for (int x = 0; x < STILL_WIDTH; x++)
		if (!isnan(course[x].most))
			fprintf(still->out, "M%d.5 %.1fV%.1f", x,
				HEIGHT - pixels(course[x].least, still->most, HEIGHT - 1),
				HEIGHT - 1 - pixels(course[x].most, still->most, HEIGHT - 1));
	fputs("\"/>", still->out);
}

static void still_write_figures(const struct still *still, const double figures[2])
{
	for (int i = 0; i < 2; i++) {
		char text[QUANTITY_MAX] = "absent";

		if (!isnan(figures[i]))
			still->write(figures[i], text);
		fprintf(still->out, "<td class=\"number\">%s</td>", text);
	}
}

static void write_strip(const struct still *still, const struct still_strip *strip)
{
	const double lower = pixels(strip->lower, strip->most, STILL_WIDTH);
	const double upper = pixels(strip->upper, strip->most, STILL_WIDTH);

	fputs("<path class=\"course\" d=\"", still->out);
	for (int x = 0; x <= STILL_WIDTH; x++)
		if (strip->marks[x])
			fprintf(still->out, "M%d.5 4V20", x < STILL_WIDTH ? x : STILL_WIDTH - 1);
	fprintf(still->out,
		"\"/><rect class=\"box\" x=\"%.1f\" y=\"8\" width=\"%.1f\" height=\"8\"/>"
		"<path class=\"median\" d=\"M%.1f 2V22\"/>",
		lower, fmax(upper - lower, 1),
		fmin(pixels(strip->median, strip->most, STILL_WIDTH), STILL_WIDTH - 1));
}

/* False: there are too many rows. */
static bool begin_row(struct still *still, const char *name)
{
	if (still->n++ >= STILL_ROWS_MOST)
		return false;
	fputs("<tr><th scope=\"row\">", still->out);
	page_text(still->out, name);
	fprintf(still->out,
		"</th><td><svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">",
		STILL_WIDTH, HEIGHT, still->columns[1]);
	return true;
}

static void end_row(const struct still *still, const double figures[2])
{
	fputs("</svg></td>", still->out);
	still_write_figures(still, figures);
	fputs("</tr>\n", still->out);
}

void still_row(struct still *still, const char *name, const double figures[2],
	const struct still_band *course)
{
	if (!begin_row(still, name))
		return;
	if (course)
		still_write_course(still, course);
	else
		write_bar(still, figures);
	end_row(still, figures);
}

void still_strip(struct still *still, const char *name, const struct still_strip *strip)
{
	if (!begin_row(still, name))
		return;
	write_strip(still, strip);
	end_row(still, (double[2]){ strip->median, strip->most });
}

void still_end(struct still *still)
{
	fputs("</tbody></table></div>\n", still->out);
	if (still->n > STILL_ROWS_MOST)
		fprintf(still->out, "<p>Here are the first %d of %zu rows.</p>\n", STILL_ROWS_MOST,
			still->n);
}
