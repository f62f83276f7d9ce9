/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/scale.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/number.h"

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int scale_parse(const char *text, struct scale *ret)
{
	uint64_t n, d = 1, divisor;

	text = number_parse(text, 10, UINT64_MAX, &n);
	if (text && *text == '/')
		text = number_parse(text + 1, 10, UINT64_MAX, &d);
	if (!text || *text || !n || !d)
		return -EINVAL;
	divisor = greatest_divisor(n, d);
	if (n / divisor > UINT32_MAX || d / divisor > UINT32_MAX)
		return -ERANGE;
	*ret = (struct scale){ (uint32_t)(n / divisor), (uint32_t)(d / divisor) };
	return 0;
}

void scale_text(struct scale scale, char ret[SCALE_TEXT_MAX])
{
	if (scale_is_whole(scale))
		snprintf(ret, SCALE_TEXT_MAX, "%" PRIu32, scale.n);
	else
		snprintf(ret, SCALE_TEXT_MAX, "%" PRIu32 "/%" PRIu32, scale.n, scale.d);
}
