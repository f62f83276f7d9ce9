/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentence on the last failure, one per thread. Only a failure writes to it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/libuncore/internal.h"

static _Thread_local char sentence[ERROR_TEXT_MAX];

int error_say(int error, const char *format, ...)
{
	va_list args;

	errno = -error; /* for %m */
	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	return error;
}

void failure_keep(struct failure *failure, int error)
{
	failure->error = error;
	if (error < 0)
		strcpy(failure->text, sentence);
}

int failure_say(const struct failure *failure)
{
	return failure->error < 0 ? error_say(failure->error, "%s", failure->text) : 0;
}

_public_ const char *uncore_error_text(void)
{
	return sentence;
}
