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

/* --- limits --- */

static const uint64_t MINUTE_NS = 60000000000U;

static bool is_over(const struct log_limit *limit, uint64_t every_ns, uint64_t now_ns)
{
	return !limit->logged_ns || now_ns - limit->logged_ns >= every_ns;
}

static bool permits(
	struct log_limit *limit, uint64_t every_ns, uint64_t now_ns, uint64_t *ret_n_silent)
{
	if (!is_over(limit, every_ns, now_ns)) {
		limit->n_silent++;
		return false;
	}
	*ret_n_silent = limit->n_silent;
	*limit = (struct log_limit){ .logged_ns = now_ns };
	return true;
}

bool log_limit_permits(struct log_limit *limit, uint64_t now_ns, uint64_t *ret_n_silent)
{
	return permits(limit, MINUTE_NS, now_ns, ret_n_silent);
}

/* The limit of @user; else a limit whose time is over; else the shared limit. */
static struct log_limit *find_limit(
	struct log_limits *limits, uint64_t every_ns, uint64_t user, uint64_t now_ns)
{
	unsigned place = LOG_USERS;

	for (unsigned i = 0; i < LOG_USERS; i++) {
		if (limits->limits[i].logged_ns && limits->users[i] == user)
			return &limits->limits[i];
		if (place == LOG_USERS && is_over(&limits->limits[i], every_ns, now_ns))
			place = i;
	}
	if (place < LOG_USERS) {
		limits->users[place] = user;
		limits->limits[place] = (struct log_limit){};
	}
	return &limits->limits[place];
}

bool log_limits_permit(struct log_limits *limits, uint64_t every_ns, uint64_t user, uint64_t now_ns,
	uint64_t *ret_n_silent)
{
	return permits(find_limit(limits, every_ns, user, now_ns), every_ns, now_ns, ret_n_silent);
}
