/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
	LENGTH_MAX = 64, /* longer names are ignored */
	DISTANCE_MAX = 2,
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool nearest_is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The Levenshtein distance: the number of letters to insert, delete or replace. A capital letter is
 * the same as a small one. */
static unsigned nearest_distance(const char *a, const char *b)
{
	const size_t n = strlen(b);
	unsigned row[LENGTH_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned replaced = diagonal + !nearest_is_same(a[i], b[j]);

			diagonal = row[j + 1];
			row[j + 1] = least(replaced, 1 + least(row[j], diagonal));
		}
	}
	return row[n];
}

void nearest_init(struct nearest *nearest, const char *word)
{
	/* If more than half of the letters could differ, a short word would resemble any name. */
	*nearest = (struct nearest){
		.word = word,
		.distance = least((unsigned)strlen(word) / 2, DISTANCE_MAX) + 1,
	};
}

void nearest_try(struct nearest *nearest, const char *name)
{
	unsigned d;

	if (strlen(name) > LENGTH_MAX || strlen(nearest->word) > LENGTH_MAX)
		return;
	d = nearest_distance(nearest->word, name);
	if (d < nearest->distance) {
		nearest->distance = d;
		nearest->name = name;
	}
}
