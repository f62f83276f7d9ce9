/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>

static void log_line(const char *priority, const char *format, va_list args)
{
	int saved = errno;
	char text[1024];

	vsnprintf(text, sizeof text, format, args);
	/* JOURNAL_STREAM: systemd.exec(5). Without it a person reads the line, and the name helps
	 * more. */
	fprintf(stderr, "%s%s\n", getenv("JOURNAL_STREAM") ? priority : "uncored: ", text);
	errno = saved;
}

#define DEFINE_LOG(name, priority)                                                                 \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		log_line(priority, format, args);                                                  \
		va_end(args);                                                                      \
	}

DEFINE_LOG(log_error, SD_ERR)
DEFINE_LOG(log_warning, SD_WARNING)
DEFINE_LOG(log_info, SD_INFO)
