/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/contexts.h"

#include <stdlib.h>
#include <string.h>

static bool *noted; /* by context: pmcd counts them from 0 and gives numbers again */
static int n_contexts;

static bool make_room(int context)
{
	int n = context + 1;
	bool *more = realloc(noted, (size_t)n * sizeof *more);

	if (!more)
		return false;
	memset(&more[n_contexts], 0, (size_t)(n - n_contexts) * sizeof *more);
	noted = more;
	n_contexts = n;
	return true;
}

void contexts_note(int context)
{
	if (context >= 0 && (context < n_contexts || make_room(context)))
		noted[context] = true;
}

bool contexts_is_noted(int context)
{
	return context >= 0 && context < n_contexts && noted[context];
}

void contexts_end(int context)
{
	if (contexts_is_noted(context))
		noted[context] = false;
}

void contexts_done(void)
{
	free(noted);
	noted = NULL;
	n_contexts = 0;
}
