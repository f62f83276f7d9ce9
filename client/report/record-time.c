/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/record-time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/jsonwriter.h"

void record_time(int64_t seconds, char ret_text[RECORD_TIME_MAX])
{
	time_t time = (time_t)seconds;
	struct tm parts;

	if (!seconds || !gmtime_r(&time, &parts) ||
		!strftime(ret_text, RECORD_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &parts))
		*ret_text = '\0';
}

void record_time_ms(int64_t real_ns, char ret_text[RECORD_TIME_MAX])
{
	size_t n;

	*ret_text = '\0';
	if (real_ns > 0)
		record_time(real_ns / 1000000000, ret_text);
	n = strcspn(ret_text, "Z");
	if (n)
		snprintf(ret_text + n, RECORD_TIME_MAX - n, ".%03dZ",
			(int)(real_ns / 1000000 % 1000));
}

void record_time_in_name(int64_t real_ns, char ret_text[RECORD_TIME_MAX])
{
	char text[RECORD_TIME_MAX], *end = ret_text;

	record_time_ms(real_ns, text);
	for (const char *c = *text ? text : "0"; *c; c++)
		if (!strchr("-:", *c))
			*end++ = *c;
	*end = '\0';
}

void record_json_time(struct jsonwriter *json, const char *key, int64_t real_ns)
{
	const int64_t seconds = real_ns / 1000000000;
	char text[RECORD_TIME_MAX], in_s[16], in_ns[16];

	record_time(seconds, text);
	snprintf(in_s, sizeof in_s, "%s_s", key);
	snprintf(in_ns, sizeof in_ns, "%s_ns", key);
	jsonwriter_text_or_null(json, key, text);
	jsonwriter_known(json, in_s, *text, seconds);
	jsonwriter_known(json, in_ns, *text, real_ns);
}
