/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/report/json.h"
#include "common/number.h"

enum { SECOND_NS = 1000000000, MILLISECOND_NS = 1000000 };

static const int64_t SECONDS_MOST = 9000000000; /* in the year 2255; still fits in ns */

int64_t job_time_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

void job_time(int64_t real_ns, char ret_text[JOB_TIME_MAX])
{
	char seconds[RECORD_TIME_MAX] = "";

	if (real_ns > 0)
		record_time(real_ns / SECOND_NS, seconds);
	*ret_text = '\0';
	if (*seconds)
		snprintf(ret_text, JOB_TIME_MAX, "%.*s.%03dZ", (int)strcspn(seconds, "Z"), seconds,
			(int)(real_ns % SECOND_NS / MILLISECOND_NS));
}

void job_time_in_name(int64_t real_ns, char ret_text[JOB_TIME_MAX])
{
	char text[JOB_TIME_MAX], *end = ret_text;

	job_time(real_ns, text);
	for (const char *c = *text ? text : "0"; *c; c++)
		if (!strchr("-:", *c))
			*end++ = *c;
	*end = '\0';
}

int job_time_parse(const char *text, int64_t *ret_real_ns)
{
	struct tm parts = { .tm_sec = 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S.", &parts);
	uint64_t milliseconds;
	int64_t seconds;

	if (!rest || strlen(rest) != strlen("123Z"))
		return -EINVAL;
	rest = number_parse(rest, 10, 999, &milliseconds);
	seconds = timegm(&parts);
	if (!rest || strcmp(rest, "Z") != 0 || seconds < 0 || seconds > SECONDS_MOST)
		return -EINVAL;
	*ret_real_ns = seconds * SECOND_NS + (int64_t)milliseconds * MILLISECOND_NS;
	return 0;
}
