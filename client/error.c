/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentence on the last failure, one per thread. Only a failure touches the thread's memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "client/internal.h"

enum { SENTENCE_MAX = 1024 }; /* a path, the daemon's text and a hint */

static _Thread_local char sentence[SENTENCE_MAX];

int error_say(int error, const char *format, ...)
{
	va_list args;

	errno = -error; /* for %m */
	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	return error;
}

_public_ const char *uncore_error_text(void)
{
	return sentence;
}
