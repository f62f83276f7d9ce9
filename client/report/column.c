/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/column.h"

unsigned column_text_width(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80; /* not a continuation byte of UTF-8 */
	return n;
}
