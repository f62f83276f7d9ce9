/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which of several names a misspelt word may mean, for "did you mean". */
#pragma once

struct nearest {
	const char *word;
	const char *name; /* the best so far, or NULL */
	unsigned distance;
};

void nearest_init(struct nearest *nearest, const char *word);

/* Takes @name if it is closer to the word than all names before. */
void nearest_try(struct nearest *nearest, const char *name);
