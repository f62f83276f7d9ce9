/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/fold.h"

#include <string.h>

#include "client/report/columns.h"
#include "common/macro.h"
#include "common/text.h"

void record_print_folded(
	FILE *out, const struct record *record, void (*print)(FILE *, const struct record *))
{
	const unsigned width = columns_line(record, out);
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0;
	FILE *whole = width < COLUMNS_LINE_MAX ? open_memstream(&text, &size_bytes) : NULL;
	char *line, *rest;

	if (!whole) {
		print(out, record);
		return;
	}
	print(whole, record);
	if (fclose(whole) == EOF)
		return;
	rest = text;
	while ((line = strsep(&rest, "\n")) && rest) {
		const size_t indent = strspn(line, " ");

		fprintf(out, "%*s", (int)indent, "");
		text_fold_to(out, line + indent, indent, indent + 2, width);
	}
}
