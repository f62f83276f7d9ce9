/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/owners.h"

#include <stdlib.h>
#include <string.h>

#include "common/number.h"

enum { LINE_MAX_BYTES = 512 };

static bool parse_number(const char *text, uint64_t *ret)
{
	const char *end = number_parse(text, 10, UINT64_MAX, ret);

	return end && (!*end || *end == '\n');
}

/* Reads the next line that fits into @line. Skips longer lines as a whole. */
static bool read_line(FILE *file, char line[LINE_MAX_BYTES])
{
	bool is_part, is_rest = false;

	while (fgets(line, LINE_MAX_BYTES, file)) {
		is_part = !strchr(line, '\n') && !feof(file);
		if (!is_part && !is_rest)
			return true;
		is_rest = is_part;
	}
	return false;
}

/* Splits @line; *@ret_owner points into it. */
static bool parse_line(char *line, const char **ret_owner, uint64_t *ret_first, uint64_t *ret_n)
{
	char *rest, *owner = strtok_r(line, ":", &rest);
	const char *first = strtok_r(NULL, ":", &rest), *n = strtok_r(NULL, "", &rest);

	*ret_owner = owner;
	return owner && first && n && parse_number(first, ret_first) && parse_number(n, ret_n);
}

static bool holds(uint64_t first, uint64_t n, uint32_t uid)
{
	return uid >= first && uid - first < n;
}

static bool find_owner(
	const char *name, bool (*find_uid)(const char *name, uint32_t *ret), uint32_t *ret)
{
	uint64_t number;

	if (!parse_number(name, &number))
		return find_uid(name, ret);
	*ret = (uint32_t)number;
	return number < UINT32_MAX;
}

enum subids_answer subids_owner_of(FILE *file, uint32_t uid,
	bool (*find_uid)(const char *name, uint32_t *ret), uint32_t *ret_owner)
{
	enum subids_answer answer = SUBIDS_NOBODY;
	char line[LINE_MAX_BYTES];
	const char *name;
	uint64_t first, n;
	uint32_t owner;

	while (read_line(file, line)) {
		if (!parse_line(line, &name, &first, &n) || !holds(first, n, uid))
			continue;
		if (!find_owner(name, find_uid, &owner) ||
			(answer == SUBIDS_ONE && owner != *ret_owner))
			return SUBIDS_SEVERAL;
		*ret_owner = owner;
		answer = SUBIDS_ONE;
	}
	return answer;
}
