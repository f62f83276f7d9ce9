/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/report-head.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

/* --- JSON --- */

static const char *head_skip_blanks(const char *c)
{
	return c + strspn(c, " \t\r\n");
}

/* Skips from the opening quote past the closing one, or to the end of a cut text. */
static const char *skip_text(const char *c)
{
	for (c++; *c && *c != '"'; c++)
		c += *c == '\\' && c[1];
	return c + (*c == '"');
}

/* Skips to the comma or bracket after a value. */
static const char *skip_value(const char *c)
{
	unsigned depth = 0;

	while (*c && (depth || !strchr(",]}", *c))) {
		if (*c == '"') {
			c = skip_text(c);
			continue;
		}
		depth += *c == '{' || *c == '[';
		depth -= *c == '}' || *c == ']';
		c++;
	}
	return c;
}

/* --- members --- */

struct found_head {
	struct report_head *head;
	uint64_t schema;
	bool is_job;
};

static void head_take_text(const char *value, char *ret, size_t size_bytes)
{
	const size_t n = *value == '"' ? (size_t)(skip_text(value) - value) : 0;

	if (n < 2 || n - 2 >= size_bytes)
		return;
	memcpy(ret, value + 1, n - 2);
	ret[n - 2] = '\0';
}

static void head_take_key(struct found_head *found, const char *key, const char *value)
{
	struct report_head *head = found->head;
	const struct {
		const char *key; /* with both quotes, as in the file */
		uint64_t *number;
	} numbers[] = {
		{ "\"schema\"", &found->schema },
		{ "\"begun_ns\"", &head->begun_ns },
		{ "\"ended_ns\"", &head->ended_ns },
		{ "\"run\"", &head->run },
		{ "\"pid\"", &head->pid },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strncmp(key, numbers[i].key, strlen(numbers[i].key)) == 0 &&
			isdigit((unsigned char)*value))
			*numbers[i].number = strtoull(value, NULL, 10);
	found->is_job |= strncmp(key, "\"uid\"", strlen("\"uid\"")) == 0;
	if (strncmp(key, "\"host\"", strlen("\"host\"")) == 0)
		head_take_text(value, head->host, sizeof head->host);
	if (strncmp(key, "\"team\"", strlen("\"team\"")) == 0 ||
		strncmp(key, "\"step\"", strlen("\"step\"")) == 0)
		head_take_text(value, head->step, sizeof head->step);
}

static void take_members(struct found_head *found, const char *c)
{
	do {
		const char *key = head_skip_blanks(c + 1), *value;

		if (*key != '"')
			return;
		value = head_skip_blanks(skip_text(key));
		if (*value != ':')
			return;
		value = head_skip_blanks(value + 1);
		head_take_key(found, key, value);
		c = skip_value(value);
	} while (*c == ',');
}

bool report_head_read(const char *text, struct report_head *ret)
{
	struct found_head found = { .head = ret };

	*ret = (struct report_head){ .run = 0 };
	text = head_skip_blanks(text);
	if (*text != '{')
		return false;
	take_members(&found, text);
	return found.schema && !found.is_job;
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
