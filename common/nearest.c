/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/nearest.h"

#include <stddef.h>
#include <string.h>

enum {
	LENGTH_MAX = 64, /* no name is longer */
	DISTANCE_MAX = 2,
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The edit distance of Levenshtein: how many letters to insert, to delete or to replace. */
static unsigned distance(const char *a, const char *b)
{
	const size_t n = strlen(b);
	unsigned row[LENGTH_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned replaced = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = least(replaced, 1 + least(row[j], diagonal));
		}
	}
	return row[n];
}

void nearest_init(struct nearest *nearest, const char *word)
{
	/* With more than half of its letters wrong, a short word resembles everything. */
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
	d = distance(nearest->word, name);
	if (d < nearest->distance) {
		nearest->distance = d;
		nearest->name = name;
	}
}
