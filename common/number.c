/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static bool is_digit(char c, int base)
{
	return base == 16 ? isxdigit((unsigned char)c) : isdigit((unsigned char)c);
}

const char *number_parse(const char *text, int base, uint64_t most, uint64_t *ret)
{
	unsigned long long number;
	char *end;

	if (!is_digit(*text, base))
		return NULL;
	errno = 0;
	number = strtoull(text, &end, base);
	if (errno || end == text || number > most)
		return NULL;
	*ret = number;
	return end;
}

const char *number_parse_range(
	const char *text, uint64_t most, uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t first = 0, last;

	text = number_parse(text, 10, most, &first);
	last = first;
	if (text && *text == '-')
		text = number_parse(text + 1, 10, most, &last);
	if (!text || last < first)
		return NULL;
	*ret_first = first;
	*ret_last = last;
	return text;
}

bool number_parse_decimal(const char *text, uint64_t most, double *ret)
{
	uint64_t whole, part = 0;
	const char *rest = number_parse(text, 10, most, &whole), *begin;
	double scale = 1;

	if (rest && *rest == '.') {
		begin = rest + 1;
		rest = number_parse(begin, 10, 999999, &part);
		for (; rest && begin < rest; begin++)
			scale /= 10;
	}
	if (!rest || *rest)
		return false;
	*ret = (double)whole + (double)part * scale;
	return true;
}

bool number_parse_whole(const char *text, int base, uint64_t most, uint64_t *ret)
{
	uint64_t number;
	const char *end = number_parse(text, base, most, &number);

	if (!end || *end)
		return false;
	*ret = number;
	return true;
}
