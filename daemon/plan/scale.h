/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one count of an event is worth, in the unit of its metric: a fraction in lowest terms, such
 * as 64/1 bytes, 64/9 bytes of a flit, or 1953125/8388608 nJ for RAPL's 2^-32 J.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SCALE_TEXT_MAX = 24 };

struct scale {
	uint32_t n, d; /* both at least 1 */
};

/* What a count of an event is worth. */
struct worth {
	struct scale scale;
	const char *unit; /* borrowed */
};

/*
 * Parses "N" or "N/M" and reduces it. -EINVAL: @text is something else, or a part is 0; -ERANGE: a
 * part of the reduced fraction has more than 32 bits. *@ret is then untouched.
 */
int scale_parse(const char *text, struct scale *ret);

/* "64", or "64/9". */
void scale_text(struct scale scale, char ret[SCALE_TEXT_MAX]);

static inline bool scale_is_whole(struct scale scale)
{
	return scale.d == 1;
}

static inline bool scale_is_same(struct scale a, struct scale b)
{
	return a.n == b.n && a.d == b.d;
}

/* What one count is worth, rounded up. */
static inline uint64_t scale_round_up(struct scale scale)
{
	return ((uint64_t)scale.n + scale.d - 1) / scale.d;
}

/*
 * What @count counts are worth, rounded down. @count must be the total of the event, because each
 * call rounds anew: a sum of rounded differences would fall behind. The product has up to 96 bits.
 * A quotient of more than 64 bits wraps, as the totals of the page do.
 */
static inline uint64_t scale_apply(struct scale scale, uint64_t count)
{
	if (scale_is_whole(scale))
		return count * scale.n;
	return (uint64_t)((unsigned __int128)count * scale.n / scale.d);
}
