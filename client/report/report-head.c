/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/report-head.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- members --- */

/* The value of a top member; "": there is none. */
static const char *head_find(const char *text, const char *key)
{
	char line[32];
	const char *at;

	snprintf(line, sizeof line, "\n  \"%s\":", key);
	at = strstr(text, line);
	return at ? at + strlen(line) : "";
}

/* 0, too: it is not a number. */
static uint64_t head_number(const char *text, const char *key)
{
	const char *value = head_find(text, key);

	return isdigit((unsigned char)*value) ? strtoull(value, NULL, 10) : 0;
}

/* "" also if it is not a text, or too long. */
static void head_text(const char *text, const char *key, char *ret, size_t size_bytes)
{
	const char *value = head_find(text, key);
	size_t n = strcspn(value, "\n");

	n -= n && value[n - 1] == ',';
	if (*value == '"' && n > 1 && n - 2 < size_bytes)
		snprintf(ret, size_bytes, "%.*s", (int)n - 2, value + 1);
}

bool report_head_read(const char *text, struct report_head *ret)
{
	*ret = (struct report_head){
		.run = head_number(text, "run"),
		.pid = head_number(text, "pid"),
		.begun_ns = head_number(text, "begun_ns"),
		.ended_ns = head_number(text, "ended_ns"),
	};
	head_text(text, "host", ret->host, sizeof ret->host);
	head_text(text, "step", ret->step, sizeof ret->step);
	return *text == '{' && head_number(text, "schema") && !*head_find(text, "uid");
}

/* --- which replaces which --- */

/* Are both of one table: that of a run of a team, or of a process alone? */
static bool is_same_table(const struct report_head *a, const struct report_head *b)
{
	return a->begun_ns == b->begun_ns && a->run == b->run && a->pid == b->pid &&
	       strcmp(a->host, b->host) == 0 && strcmp(a->step, b->step) == 0;
}

/* Did `uncore run` make up the name? It gives each run a different one if the user gives none. */
static bool is_unnamed(const char *step)
{
	const char *start = "own/" REPORT_HEAD_UNNAMED;

	return strncmp(step, start, strlen(start)) == 0;
}

static bool is_same_step(const char *a, const char *b)
{
	return strcmp(a, b) == 0 || (is_unnamed(a) && is_unnamed(b));
}

bool report_head_replaces(
	const struct report_head *ours, uint64_t since_ns, const struct report_head *other)
{
	if (is_same_table(ours, other))
		return true;
	if (*other->host && strcmp(other->host, ours->host) != 0)
		return false;
	if (!other->ended_ns || other->ended_ns >= since_ns)
		return false;
	return !*other->step || is_same_step(other->step, ours->step);
}
