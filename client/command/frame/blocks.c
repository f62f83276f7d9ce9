/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/blocks.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* The blocks of reads, writes and nothing, and eight heights. */
static const struct {
	const char *reads, *writes, *rest, *heights[8];
} sets[] = {
	{ "#", "=", " ", { "_", ".", ",", "-", "~", "=", "*", "#" } },
	{ "█", "▒", " ", { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" } },
};

bool blocks_are_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static unsigned blocks_columns_of(double share, unsigned width)
{
	return (unsigned)lround(fmin(fmax(share, 0), 1) * width);
}

void blocks_bar(FILE *out, double reads, double writes, unsigned width, bool utf8)
{
	const unsigned inside = width > 2 ? width - 2 : 0;
	const unsigned n_both = blocks_columns_of(reads + writes, inside);
	const unsigned n_reads = blocks_columns_of(reads, inside);

	fputc('[', out);
	for (unsigned i = 0; i < inside; i++)
		fputs(i < n_reads    ? sets[utf8].reads
			: i < n_both ? sets[utf8].writes
				     : sets[utf8].rest,
			out);
	fputc(']', out);
}

void blocks_course(FILE *out, const float values[], unsigned n, double most, bool utf8)
{
	for (unsigned i = 0; i < n; i++)
		fputs(isnan(values[i])
				? " "
				: sets[utf8]
					  .heights[most > 0 ? blocks_columns_of(values[i] / most, 7)
							    : 0],
			out);
}
